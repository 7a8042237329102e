#include "onnx_import/random_network.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace sightline::test {
namespace {

using Count = std::int64_t;

class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed) {}

  OnnxBuilder make() {
    last_ = {"x", one_of({3, 4, 16}), 5 + below(9), 6 + below(14)};
    if (happens(0.8)) {
      builder_.input("x", {1, last_.channels, last_.height, last_.width});
    } else {
      builder_.input("pixels", {1, last_.height, last_.width, last_.channels});
      builder_.node("Transpose", {"pixels"}, {"x"}, {{"perm", {0, 3, 1, 2}}});
    }
    convolve(last_);
    using Adder = void (RandomNetwork::*)(const Map&);
    // Those that stand several times are chosen more often.
    constexpr Adder kAdders[] = {&RandomNetwork::convolve,      &RandomNetwork::convolve,
                                 &RandomNetwork::deepen,        &RandomNetwork::deepen,
                                 &RandomNetwork::group,         &RandomNetwork::activate,
                                 &RandomNetwork::pool,          &RandomNetwork::average,
                                 &RandomNetwork::resize,        &RandomNetwork::join,
                                 &RandomNetwork::join,          &RandomNetwork::join,
                                 &RandomNetwork::divide,        &RandomNetwork::shuffle,
                                 &RandomNetwork::excite,        &RandomNetwork::excite,
                                 &RandomNetwork::add,           &RandomNetwork::add,
                                 &RandomNetwork::scale,         &RandomNetwork::take_every_second,
                                 &RandomNetwork::pad,           &RandomNetwork::attend,
                                 &RandomNetwork::branch,        &RandomNetwork::branch,
                                 &RandomNetwork::grow,          &RandomNetwork::average_along,
                                 &RandomNetwork::normalise,     &RandomNetwork::reshape,
                                 &RandomNetwork::take_channels, &RandomNetwork::find_places};
    const Count steps = 6 + below(10);
    for (Count i = 0; i < steps; ++i) (this->*kAdders[random_.below(std::size(kAdders))])(any());
    for (const Map& map : maps_) {
      if (!map.is_read) make_output(map.name);
    }
    return std::move(builder_);
  }

 private:
  struct Map {
    std::string name;
    Count channels = 0, height = 0, width = 0;
    bool is_read = false;

    bool has_size_of(const Map& other) const { return height == other.height && width == other.width; }
  };
  using Attributes = std::vector<OnnxAttribute>;

  // --- choices

  Count below(Count count) { return static_cast<Count>(random_.below(static_cast<std::uint64_t>(count))); }
  bool happens(double share) { return random_.unit() < share; }
  Count one_of(std::initializer_list<Count> all) { return all.begin()[random_.below(all.size())]; }
  Count channels() { return happens(0.6) ? one_of({16, 32, 48}) : one_of({3, 8, 20, 24, 33}); }
  std::string name() { return "v" + std::to_string(++names_); }
  std::string number(float value) { return builder_.reals(name(), {}, {value}); }

  // A map, mostly the last or one of the last.
  Map any() {
    const auto most = static_cast<Count>(maps_.size());
    const Count back = happens(0.4) ? 0 : happens(0.7) ? below(std::min<Count>(4, most)) : below(most);
    return maps_[static_cast<std::size_t>(most - 1 - back)];
  }

  // --- nodes

  void read(const std::string& name) {
    for (Map& map : maps_) map.is_read = map.is_read || map.name == name;
  }
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {}) {
    for (const std::string& input : inputs) read(input);
    const std::string made = name();
    builder_.node(op, inputs, {made}, attributes);
    return made;
  }
  void add_map(const std::string& made, Count channels, Count height, Count width) {
    last_ = {made, channels, height, width};
    maps_.push_back(last_);
  }
  void add_like(const Map& map, const std::string& made) {
    add_map(made, map.channels, map.height, map.width);
  }

  void add_convolution(const Map& map, Count outputs, Count kernel, Count stride, Count groups) {
    read(map.name);
    const std::string made =
        builder_.convolution(name(), map.name, map.channels, outputs, kernel, stride, groups);
    add_map(made, outputs, (map.height - 1) / stride + 1, (map.width - 1) / stride + 1);
    if (kernel > 1 && stride == 1 && happens(0.15)) dilate(kernel);
    if (happens(0.6)) activate(last_);
  }
  // Doubles the distances in the last convolution's kernel.
  void dilate(Count kernel) {
    onnx::NodeProto& node = *builder_.proto().mutable_graph()->mutable_node()->rbegin();
    *node.add_attribute() = OnnxAttribute("dilations", {2, 2}).proto;
    for (onnx::AttributeProto& one : *node.mutable_attribute()) {
      if (one.name() == "pads") one = OnnxAttribute("pads", std::vector<Count>(4, kernel - 1)).proto;
    }
  }
  Count stride_for(const Map& map) { return std::min(map.height, map.width) > 4 && happens(0.15) ? 2 : 1; }

  void convolve(const Map& map) {
    const Count outputs = channels(), kernel = map.channels > 64 ? 1 : one_of({1, 1, 1, 3, 3, 5});
    add_convolution(map, outputs, kernel, stride_for(map), 1);
  }
  void deepen(const Map& map) {
    const Count kernel = one_of({3, 3, 5});
    add_convolution(map, map.channels, kernel, stride_for(map), map.channels);
  }
  void group(const Map& map) {
    const Count groups = map.channels % 4 == 0 ? 4 : 1, outputs = groups * one_of({4, 8});
    add_convolution(map, outputs, one_of({1, 3}), 1, groups);
  }

  void activate(const Map& map) {
    const std::string& x = map.name;
    switch (below(12)) {
      case 0:
      case 1:
        return add_like(map, node("Relu", {x}));
      case 2:
        return add_like(map, node("LeakyRelu", {x}, {{"alpha", 0.1F}}));
      case 3:
        return add_like(map, node("Mul", {x, node("Sigmoid", {x})}));
      case 4:
        return add_like(map, node("HardSwish", {x}));
      case 5:
        return add_like(map, node("HardSigmoid", {x}, {{"alpha", 0.25F}}));
      case 6:  // limits may stand in the wrong order
        return add_like(map, node("Clip", {x, number(-0.5F), number(happens(0.8) ? 1.0F : -1.0F)}));
      case 7: {
        const std::string gate = node("Clip", {node("Add", {x, number(3)}), number(0), number(6)});
        return add_like(map, node("Div", {node("Mul", {x, gate}), number(6)}));
      }
      case 8:
        return add_like(map, node("Sigmoid", {x}));
      case 9:
        return add_like(map, node("PRelu", {x, builder_.weights(name(), {map.channels, 1, 1})}));
      default:
        return add_like(map, node(happens(0.5) ? "Tanh" : "Softplus", {x}));
    }
  }

  void pool(const Map& map) { add_pool(map, "MaxPool", {}); }
  void average(const Map& map) {
    add_pool(map, "AveragePool", {{"count_include_pad", happens(0.5) ? 1 : 0}});
  }
  void add_pool(const Map& map, const std::string& op, Attributes attributes) {
    const Count kernel = one_of({2, 3, 3, 5}), stride = stride_for(map), pad = kernel / 2;
    const auto side = [&](Count from) { return (from + 2 * pad - kernel) / stride + 1; };
    attributes.emplace_back("kernel_shape", std::vector<Count>{kernel, kernel});
    attributes.emplace_back("strides", std::vector<Count>{stride, stride});
    attributes.emplace_back("pads", std::vector<Count>(4, pad));
    add_map(node(op, {map.name}, attributes), map.channels, side(map.height), side(map.width));
  }

  void resize(const Map& map) {
    constexpr float kScales[] = {1, 1.03F, 1.5F, 2, 0.6F};
    const float y = kScales[random_.below(5)], x = kScales[random_.below(5)];
    const auto side = [](Count from, float scale) {
      return static_cast<Count>(std::floor(static_cast<float>(from) * scale));
    };
    constexpr const char* kCoordinates[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                            "align_corners"};
    const Count height = side(map.height, y), width = side(map.width, x);
    if (std::min(height, width) < 1 || height > 24 || width > 32) return;
    add_map(node("Resize", {map.name, "", builder_.reals(name(), {4}, {1, 1, y, x})},
                 {{"mode", happens(0.5) ? "nearest" : "linear"},
                  {"coordinate_transformation_mode", std::string(kCoordinates[random_.below(4)])}}),
            map.channels, height, width);
  }

  // Joins a map with others of its size, or with one that is made from it.
  void join(const Map& map) {
    std::vector<Map> parts{map};
    for (const Map& other : maps_) {
      if (parts.size() < 4 && other.has_size_of(map) && happens(0.4)) parts.push_back(other);
    }
    if (parts.size() == 1) {
      happens(0.5) ? add_convolution(map, channels(), 3, 1, 1)
                   : add_convolution(map, map.channels, 3, 1, map.channels);
      parts.push_back(last_);
    }
    if (happens(0.5)) std::swap(parts[0], parts[1]);
    std::vector<std::string> names;
    Count all = 0;
    for (const Map& part : parts) {
      names.push_back(part.name);
      all += part.channels;
    }
    if (all > 128) return;
    add_map(node("Concat", names, {{"axis", 1}}), all, map.height, map.width);
    if (happens(0.3)) excite(last_);
  }

  void divide(const Map& map) {
    if (map.channels < 2) return;
    const Count first = map.channels > 16 && happens(0.5) ? 16 : map.channels / 2,
                rest = map.channels - first;
    const std::string sizes = builder_.wholes(name(), {2}, {first, rest});
    read(map.name);
    const std::string a = name(), b = name();
    builder_.node("Split", {map.name, sizes}, {a, b}, {{"axis", 1}});
    add_map(a, first, map.height, map.width);
    add_map(b, rest, map.height, map.width);
  }
  void take_channels(const Map& map) {
    const Count first = below(map.channels), count = 1 + below(map.channels - first);
    const auto wholes = [&](Count one) { return builder_.wholes(name(), {1}, {one}); };
    add_map(node("Slice", {map.name, wholes(first), wholes(first + count), wholes(1)}), count, map.height,
            map.width);
  }
  void shuffle(const Map& map) {
    const Count groups = map.channels % 4 == 0 ? one_of({2, 4}) : map.channels % 2 == 0 ? 2 : 1;
    const std::string open =
        builder_.wholes(name(), {5}, {1, groups, map.channels / groups, map.height, map.width});
    const std::string close = builder_.wholes(name(), {4}, {1, -1, map.height, map.width});
    const std::string turned =
        node("Transpose", {node("Reshape", {map.name, open})}, {{"perm", {0, 2, 1, 3, 4}}});
    add_like(map, node("Reshape", {turned, close}));
  }

  // Squeeze and excitation, or a mean alone.
  void excite(const Map& map) {
    const std::string mean = node("GlobalAveragePool", {map.name});
    if (happens(0.3)) return add_map(mean, map.channels, 1, 1);
    const Count few = std::max<Count>(1, map.channels / 4);
    const std::string squeezed = node("Relu", {builder_.convolution(name(), mean, map.channels, few, 1)});
    const std::string gate = builder_.convolution(name(), squeezed, few, map.channels, 1);
    add_like(map, node("Mul", {map.name, node(happens(0.5) ? "Sigmoid" : "HardSigmoid", {gate})}));
  }

  // Adds or multiplies by another map of the same shape, which may have to be made.
  void add(const Map& map) {
    std::string other;
    for (const Map& one : maps_) {
      if (one.channels == map.channels && one.has_size_of(map) && one.name != map.name && happens(0.5))
        other = one.name;
    }
    if (other.empty()) {
      add_convolution(map, map.channels, 3, 1, happens(0.5) ? 1 : map.channels);
      other = last_.name;
    }
    constexpr const char* kOperators[] = {"Add", "Add", "Add", "Sub", "Mul", "Max", "Min", "Div"};
    const bool is_first = happens(0.5);
    add_like(map,
             node(kOperators[random_.below(8)], {is_first ? map.name : other, is_first ? other : map.name}));
    if (happens(0.3)) activate(last_);
  }
  void scale(const Map& map) {
    const std::string constant =
        happens(0.5) ? number(0.75F) : builder_.weights(name(), {1, map.channels, 1, 1}, 2);
    const bool is_first = happens(0.3);
    constexpr const char* kOperators[] = {"Mul", "Mul", "Add", "Sub", "Div", "Max", "Min"};
    add_like(map, node(kOperators[random_.below(7)],
                       {is_first ? constant : map.name, is_first ? map.name : constant}));
  }

  void take_every_second(const Map& map) {
    if (std::min(map.height, map.width) < 4 || map.channels > 32) return;
    const auto wholes = [&](const std::vector<Count>& all) {
      return builder_.wholes(name(), {static_cast<Count>(all.size())}, all);
    };
    std::vector<std::string> parts;
    const Count height = map.height / 2, width = map.width / 2;
    for (const Count y : {0, 1}) {
      for (const Count x : {0, 1})
        parts.push_back(node("Slice", {map.name, wholes({y, x}), wholes({2 * height, 2 * width}),
                                       wholes({2, 3}), wholes({2, 2})}));
    }
    add_map(node("Concat", parts, {{"axis", 1}}), 4 * map.channels, height, width);
  }
  void pad(const Map& map) {
    const Count top = below(3), left = below(3), bottom = below(3), right = below(3);
    const std::string pads = builder_.wholes(name(), {8}, {0, 0, top, left, 0, 0, bottom, right});
    add_map(node("Pad", {map.name, pads, number(happens(0.5) ? 0.0F : -1.5F)}), map.channels,
            map.height + top + bottom, map.width + left + right);
  }

  // Attention of each channel to the others.
  void attend(const Map& map) {
    if (map.channels > 48) return;
    const std::string rows = node("Reshape", {map.name, builder_.wholes(name(), {3}, {1, map.channels, -1})});
    const std::string columns = node("Transpose", {rows}, {{"perm", {0, 2, 1}}});
    const std::string product = node("Mul", {node("MatMul", {rows, columns}), number(0.02F)});
    const std::string mixed = node("MatMul", {node("Softmax", {product}, {{"axis", one_of({1, 2})}}), rows});
    add_like(map, node("Reshape",
                       {mixed, builder_.wholes(name(), {4}, {1, map.channels, map.height, map.width})}));
  }

  // Rows of a detector's output.
  void reshape(const Map& map) {
    const std::string turned = node("Transpose", {map.name}, {{"perm", {0, 2, 3, 1}}});
    std::string rows = node("Reshape", {turned, builder_.wholes(name(), {3}, {1, -1, map.channels})});
    if (happens(0.3)) rows = node("Sigmoid", {rows});
    if (happens(0.3)) rows = node("Softmax", {rows}, {{"axis", one_of({1, 2})}});
    make_output(rows);
  }
  void make_output(const std::string& made) { builder_.output(made); }

  // A map's positive numbers, whose places and count each frame decides.
  void find_places(const Map& map) {
    const std::string places = node("NonZero", {node("Relu", {map.name})});
    make_output(node("GatherND", {map.name, node("Transpose", {places}, {{"perm", {1, 0}}})}));
  }

  // Convolutions of one map with few outputs, which may share blocks, with others behind them.
  void branch(const Map& map) {
    const Count kernel = one_of({1, 1, 3}), count = 2 + below(2), deepened = below(3);
    std::vector<std::string> made;
    Count all = 0;
    for (Count i = 0; i < count; ++i) {
      const Count outputs = one_of({1, 2, 4, 10});
      read(map.name);
      made.push_back(builder_.convolution(name(), map.name, map.channels, outputs, kernel));
      if (deepened == 2 || (deepened == 1 && i == 0))
        made.back() = builder_.convolution(name(), made.back(), outputs, outputs, 3, 1, outputs);
      if (happens(0.4)) made.back() = node(happens(0.5) ? "Sigmoid" : "Relu", {made.back()});
      if (happens(0.3)) add_map(made.back(), outputs, map.height, map.width);
      all += outputs;
    }
    add_map(node("Concat", made, {{"axis", 1}}), all, map.height, map.width);
  }

  // A transposed convolution, or channels that become pixels.
  void grow(const Map& map) {
    if (std::max(map.height, map.width) > 12 || map.channels > 48) return;
    const Count outputs = map.channels % 4 == 0 && happens(0.5) ? map.channels / 4 : 0;
    const std::string made =
        outputs > 0 ? node("DepthToSpace", {map.name}, {{"blocksize", 2}})
                    : node("ConvTranspose", {map.name, builder_.weights(name(), {map.channels, 8, 2, 2})},
                           {{"strides", {2, 2}}});
    add_map(made, outputs > 0 ? outputs : 8, 2 * map.height, 2 * map.width);
  }

  // Means of rows, columns or channels.
  void average_along(const Map& map) {
    const Count axis = 1 + below(3);
    const std::string mean = node("ReduceMean", {map.name}, {{"axes", {axis}}});
    add_like(map, node(happens(0.5) ? "Sub" : "Mul", {map.name, mean}));
  }

  void normalise(const Map& map) {
    const auto numbers = [&] { return builder_.weights(name(), {map.channels}); };
    if (happens(0.5)) {
      const std::string scale = numbers(), bias = numbers();
      return add_like(map, node("InstanceNormalization", {map.name, scale, bias}));
    }
    const std::string scale = numbers(), bias = numbers(), mean = numbers();
    const std::string variance = builder_.reals(
        name(), {map.channels}, std::vector<float>(static_cast<std::size_t>(map.channels), 0.5F));
    add_like(map, node("BatchNormalization", {map.name, scale, bias, mean, variance}));
  }

  Random random_;
  OnnxBuilder builder_{17};
  std::vector<Map> maps_;
  Map last_;
  int names_ = 0;
};

}  // namespace

OnnxBuilder random_network(std::uint64_t seed) {
  return RandomNetwork(seed).make();
}

std::string text_of(const OnnxBuilder& network) {
  std::string text;
  for (const onnx::NodeProto& node : network.proto().graph().node()) {
    text += "  " + node.output(0) + " = " + node.op_type() + "(";
    for (const std::string& input : node.input()) text += (text.back() == '(' ? "" : ", ") + input;
    text += ")\n";
  }
  return text;
}

}  // namespace sightline::test
