#include "onnx_import/random_chain.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/random.hpp"

namespace sightline::test {
namespace {

using Count = std::int64_t;
using Counts = std::vector<Count>;
using Attributes = std::vector<OnnxAttribute>;

constexpr std::int64_t kMostElements = 1 << 14;

class RandomChain {
 public:
  explicit RandomChain(std::uint64_t seed) : random_(seed) {}

  OnnxBuilder make() {
    const Count rank = happens(0.6) ? 4 : 1 + below(5);
    for (Count axis = 0; axis < rank; ++axis) shape_.push_back(axis == 0 && happens(0.8) ? 1 : side());
    if (rank == 4) shape_[1] = one_of({1, 3, 15, 16, 17, 32, 33});
    value_ = builder_.input("x", shape_);
    const Count length = 1 + below(4);
    for (Count added = 0; added < length && !shape_.empty();) added += add_one() ? 1 : 0;
    builder_.output(value_);
    return std::move(builder_);
  }

 private:
  // --- choices

  Count below(Count count) { return static_cast<Count>(random_.below(static_cast<std::uint64_t>(count))); }
  bool happens(double share) { return random_.unit() < share; }
  template <typename T = Count>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[random_.below(all.size())];
  }
  Count side() { return one_of({1, 2, 3, 5, 7, 9, 14, 17}); }
  Count rank() const { return static_cast<Count>(shape_.size()); }
  Count axis() { return below(2 * rank()) - rank(); }
  Count size_of(Count axis) const {
    return shape_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  std::string name() { return "v" + std::to_string(++names_); }
  std::string text(std::initializer_list<const char*> all) { return one_of(all); }
  std::string wholes(const Counts& all) {
    return builder_.wholes(name(), {static_cast<Count>(all.size())}, all);
  }
  std::string whole(Count one) { return wholes({one}); }
  std::string weights(const Counts& shape) {
    const std::string made = name();
    return builder_.weights(made, shape, 2, static_cast<unsigned>(names_));
  }
  Counts pair(Count most) { return {1 + below(most), 1 + below(most)}; }
  Counts some_axes() {
    Counts axes;
    for (Count i = 0; i < rank(); ++i) {
      if (happens(0.4)) axes.push_back(happens(0.5) ? i : i - rank());
    }
    return axes;
  }
  // A shape that broadcasts to the value's.
  Counts operand_shape() {
    Counts shape(shape_.end() - below(rank() + 1), shape_.end());
    for (Count& one : shape) one = happens(0.5) ? 1 : one;
    return shape;
  }

  // --- nodes

  // Adds one operator, unless its attributes do not suit the value.
  bool add_one() {
    using Adder = void (RandomChain::*)();
    constexpr Adder kAdders[] = {
        &RandomChain::convolve, &RandomChain::convolve,  &RandomChain::grow,    &RandomChain::pool,
        &RandomChain::pool,     &RandomChain::resize,    &RandomChain::moved,   &RandomChain::unary,
        &RandomChain::unary,    &RandomChain::binary,    &RandomChain::binary,  &RandomChain::reduce,
        &RandomChain::reduce,   &RandomChain::softmax,   &RandomChain::turn,    &RandomChain::slice,
        &RandomChain::slice,    &RandomChain::join,      &RandomChain::split,   &RandomChain::pad,
        &RandomChain::reshape,  &RandomChain::repeat,    &RandomChain::gather,  &RandomChain::select,
        &RandomChain::multiply, &RandomChain::normalise, &RandomChain::compare, &RandomChain::scan};
    const OnnxBuilder before = builder_;
    made_.clear();
    (this->*kAdders[random_.below(std::size(kAdders))])();
    if (const auto shape = made_.empty() ? std::nullopt : shape_of(made_)) {
      shape_ = *shape;
      value_ = made_;
      return true;
    }
    builder_ = before;
    return false;
  }
  // Its shape; none where the network is refused, or is too large or empty.
  std::optional<Counts> shape_of(const std::string& value) const {
    OnnxBuilder network = builder_;
    network.output(value);
    try {
      const nn::Graph graph = network.imported(std::int64_t{1} << 26);
      const nn::Shape& shape = graph.shape(graph.outputs()[0]);
      const Count elements = nn::elements_of(shape);
      if (graph.nodes().empty() || elements == 0 || elements > kMostElements) return {};
      return shape;
    } catch (const nn::Problem&) {
    } catch (const Error&) {
    }
    return {};
  }
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {}) {
    made_ = name();
    builder_.node(op, inputs, {made_}, attributes);
    return made_;
  }

  // Pads of windows, by numbers or by rule.
  void add_pads(Attributes& attributes) {
    if (happens(0.25)) {
      attributes.emplace_back("auto_pad", text({"SAME_UPPER", "SAME_LOWER", "VALID"}));
    } else if (happens(0.8)) {
      attributes.emplace_back("pads", Counts{below(3), below(3), below(3), below(3)});
    }
  }
  void convolve() {
    if (rank() != 4) return;
    const Count channels = shape_[1], groups = one_of<Count>({1, 1, channels, std::gcd(channels, Count{4})});
    const Count outputs = groups == channels ? channels * (1 + below(2)) : groups * one_of({1, 4, 16, 17});
    const Counts kernel = pair(5);
    Attributes attributes{
        {"strides", pair(3)}, {"dilations", happens(0.7) ? Counts{1, 1} : pair(2)}, {"group", groups}};
    add_pads(attributes);
    std::vector<std::string> inputs{value_, weights({outputs, channels / groups, kernel[0], kernel[1]})};
    if (happens(0.5)) inputs.push_back(weights({outputs}));
    node("Conv", inputs, attributes);
  }
  void grow() {
    if (rank() != 4) return;
    const Count groups = std::gcd(shape_[1], one_of({1, 3, 4}));
    const Counts kernel = pair(4), strides = pair(3);
    Attributes attributes{{"strides", strides}, {"group", groups}};
    if (happens(0.3)) attributes.emplace_back("output_padding", Counts{strides[0] - 1, strides[1] - 1});
    if (happens(0.3)) attributes.emplace_back("dilations", pair(2));
    add_pads(attributes);
    node("ConvTranspose", {value_, weights({shape_[1], one_of({1, 4, 9}), kernel[0], kernel[1]})},
         attributes);
  }
  void pool() {
    if (rank() != 4) return;
    const bool is_max = happens(0.5);
    Attributes attributes{{"kernel_shape", pair(4)}, {"strides", pair(3)}, {"ceil_mode", below(2)}};
    if (is_max && happens(0.3)) attributes.emplace_back("dilations", pair(2));
    if (!is_max) attributes.emplace_back("count_include_pad", below(2));
    add_pads(attributes);
    node(is_max ? "MaxPool" : "AveragePool", {value_}, attributes);
  }
  void resize() {
    if (rank() != 4) return;
    const Attributes attributes{
        {"mode", text({"nearest", "linear", "cubic"})},
        {"coordinate_transformation_mode",
         text({"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"})},
        {"nearest_mode", text({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})}};
    node("Resize", {value_, "", "", wholes({shape_[0], shape_[1], side(), side()})}, attributes);
  }
  void moved() {
    if (rank() != 4) return;
    if (happens(0.5)) {
      node("SpaceToDepth", {value_}, {{"blocksize", 2}});
    } else {
      node("DepthToSpace", {value_}, {{"blocksize", one_of({2, 4})}, {"mode", text({"DCR", "CRD"})}});
    }
  }
  void unary() {
    const std::string op =
        text({"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Abs", "Neg", "Floor", "Round", "Erf", "Softplus",
              "HardSwish", "HardSigmoid", "Elu", "Selu", "Sign", "Reciprocal", "Mish", "Clip", "PRelu"});
    std::vector<std::string> inputs{value_};
    if (op == "PRelu") inputs.push_back(weights(operand_shape()));
    if (op == "Clip") {
      inputs.push_back(happens(0.5) ? weights({}) : "");
      inputs.push_back(weights({}));
    }
    node(op, inputs);
  }
  void binary() {
    const std::string other = happens(0.7)   ? weights(operand_shape())
                              : happens(0.5) ? node("Sigmoid", {value_})
                                             : node("ReduceMean", {value_}, {{"axes", some_axes()}});
    const std::string op = text({"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"});
    happens(0.5) ? node(op, {value_, other}) : node(op, {other, value_});
  }
  void compare() {
    const std::string is_less = node("Less", {value_, weights(operand_shape())});
    node("Where", {is_less, weights(operand_shape()), value_});
  }
  void reduce() {
    const std::string op = text({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1",
                                 "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare"});
    const Counts axes = some_axes();
    std::vector<std::string> inputs{value_};
    Attributes attributes{{"keepdims", below(2)}};
    if (!axes.empty() && happens(0.5)) {
      inputs.push_back(wholes(axes));
    } else if (!axes.empty()) {
      attributes.emplace_back("axes", axes);
    }
    node(op, inputs, attributes);
  }
  void softmax() { node(text({"Softmax", "LogSoftmax"}), {value_}, {{"axis", axis()}}); }
  void scan() {
    node("CumSum", {value_, builder_.wholes(name(), {}, {axis()})},
         {{"exclusive", below(2)}, {"reverse", below(2)}});
  }
  void turn() {
    Counts order(shape_.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    node("Transpose", {value_}, {{"perm", order}});
  }
  void slice() {
    const Count along = axis(), step = one_of({1, 1, 2, 3, -1, -2}), reach = size_of(along) + 2;
    node("Slice", {value_, whole(below(2 * reach) - reach),
                   whole(happens(0.3) ? 1'000'000 : below(2 * reach) - reach), whole(along), whole(step)});
  }
  void join() {
    const Count along = axis();
    const std::string part =
        happens(0.5) ? node("Slice", {value_, whole(0), whole(1 + below(size_of(along))), whole(along)})
                     : node("Relu", {value_});
    std::vector<std::string> parts{value_, part};
    if (happens(0.3)) parts.push_back(value_);
    if (happens(0.5)) std::swap(parts[0], parts[1]);
    node("Concat", parts, {{"axis", along}});
  }
  void split() {
    const Count along = axis(), all = size_of(along);
    if (all < 2) return;
    const Count first = 1 + below(all - 1);
    const std::string a = name(), b = name();
    builder_.node("Split", {value_, wholes({first, all - first})}, {a, b}, {{"axis", along}});
    const Count which = below(3);
    made_ = which == 0 ? a : which == 1 ? b : node("Concat", {b, a}, {{"axis", along}});
  }
  void pad() {
    Counts pads;
    for (Count i = 0; i < 2 * rank(); ++i) pads.push_back(happens(0.5) ? 0 : below(5) - 1);
    node("Pad", {value_, wholes(pads), weights({})},
         {{"mode", text({"constant", "edge", "reflect", "wrap"})}});
  }
  void reshape() {
    switch (below(5)) {
      case 0:
        node("Flatten", {value_}, {{"axis", below(rank() + 1)}});
        break;
      case 1:
        node("Unsqueeze", {value_, whole(below(rank() + 1))});
        break;
      case 2:
        node("Squeeze", {value_});
        break;
      case 3:
        node("Reshape", {value_, wholes({0, -1})});
        break;
      default: {  // one dimension in two
        Counts shape = shape_;
        const Count along = below(rank()), part = one_of({2, 3, 16, 17});
        shape[static_cast<std::size_t>(along)] = -1;
        shape.insert(shape.begin() + along, part);
        node("Reshape", {value_, wholes(shape)});
      }
    }
  }
  void repeat() {
    if (happens(0.5)) {
      Counts repeats;
      for (Count i = 0; i < rank(); ++i) repeats.push_back(1 + below(3));
      node("Tile", {value_, wholes(repeats)});
    } else {
      Counts shape = shape_;
      for (Count& one : shape) one = one == 1 ? 1 + below(4) : happens(0.5) ? 1 : one;
      if (happens(0.3)) shape.insert(shape.begin(), 2);
      node("Expand", {value_, wholes(shape)});
    }
  }
  void gather() {
    const Count along = axis(), all = size_of(along);
    Counts indices;
    for (Count i = below(4); i >= 0; --i) indices.push_back(below(2 * all) - all);
    const bool is_scalar = indices.size() == 1 && happens(0.5);
    node("Gather",
         {value_, builder_.wholes(name(), is_scalar ? Counts{} : Counts{static_cast<Count>(indices.size())},
                                  indices)},
         {{"axis", along}});
  }
  void select() {
    const Count along = axis();
    if (happens(0.5)) {
      const std::string values = name(), places = name();
      builder_.node("TopK", {value_, whole(1 + below(size_of(along)))}, {values, places},
                    {{"axis", along}, {"largest", below(2)}});
      made_ = happens(0.5) ? values : node("Cast", {places}, {{"to", 1}});
    } else {
      node(text({"ArgMax", "ArgMin"}), {value_},
           {{"axis", along}, {"keepdims", below(2)}, {"select_last_index", below(2)}});
      node("Cast", {made_}, {{"to", 1}});
    }
  }
  void multiply() {
    const Count columns = one_of({1, 3, 16, 17});
    Counts shape{shape_.back(), columns};
    if (rank() > 2 && happens(0.3)) shape.insert(shape.begin(), shape_[shape_.size() - 3]);
    node("MatMul", {value_, weights(shape)});
  }
  void normalise() {
    if (rank() < 2) return;
    const Counts channels{shape_[1]};
    if (happens(0.5)) {
      const Count along = below(rank());
      const Counts shape(shape_.begin() + along, shape_.end());
      node("LayerNormalization", {value_, weights(shape), weights(shape)},
           {{"axis", along - (happens(0.5) ? rank() : 0)}});
    } else {
      node("InstanceNormalization", {value_, weights(channels), weights(channels)});
    }
  }

  Random random_;
  OnnxBuilder builder_{17};
  std::string value_, made_;  ///< the chain's end, and that of what is added
  Counts shape_;              ///< of value_
  int names_ = 0;
};

}  // namespace

OnnxBuilder random_chain(std::uint64_t seed) {
  return RandomChain(seed).make();
}

}  // namespace sightline::test
