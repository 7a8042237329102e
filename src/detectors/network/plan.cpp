// Compiles graphs into plans.
#include "detectors/network/plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "detectors/network/plan_builder.hpp"

namespace sightline::network {
namespace {

constexpr std::size_t kMostSteps = 4000;  // laying out memory compares all storages with each other

class Compiler : private PlanBuilder {
 public:
  Compiler(const Graph& graph, Plan& plan)
      : PlanBuilder(plan, graph.values.size()),
        graph_(graph),
        plan_(plan),
        maps_(graph.values.size()),
        placed_(graph.values.size()),
        has_tensor_(graph.values.size(), false),
        tensor_storage_(graph.values.size(), kNone),
        readers_(graph.values.size()),
        is_output_(graph.values.size(), false),
        is_done_(graph.nodes.size(), false) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const int input : graph.nodes[i].inputs) {
        if (input != kAbsent) readers_[static_cast<std::size_t>(input)].push_back(i);
      }
    }
    for (const int output : graph.outputs) is_output_[static_cast<std::size_t>(output)] = true;
  }

  // Whether there is a plan.
  bool compile() {
    for (const GraphInput& input : graph_.inputs) add_input(input.value);
    for (index_ = 0; index_ < graph_.nodes.size(); ++index_) {
      const Node& node = graph_.nodes[index_];
      if (is_done_[index_]) continue;
      for (const int output : node.outputs) {
        if (output != kAbsent && !value(output).is_typed) return false;
      }
      if (steps() > kMostSteps) return false;
      if (!compile_node(node)) add_node_step(node);
    }
    for (const int output : graph_.outputs) {
      require_tensor(output);
      const int shared = tensor_storage_[static_cast<std::size_t>(output)];
      if (shared != kNone) storage(shared).is_result = true;
    }
    finish();
    return true;
  }

 private:
  static constexpr int kNone = -1;

  // Channels of a map that lie in a tensor: channel c of pixel (x, y) is element
  // offsets[c] + y * row_step + x * column_step.
  struct Piece {
    Map map;
    std::vector<std::int64_t> offsets;
    std::int64_t row_step = 0, column_step = 0;
  };
  using Pieces = std::vector<Piece>;

  const Value& value(int number) const { return graph_.values[static_cast<std::size_t>(number)]; }
  std::optional<Map>& map_of(int number) { return maps_[static_cast<std::size_t>(number)]; }

  // --- storages, values and steps

  void add_tensor(int number) {
    has_tensor_[static_cast<std::size_t>(number)] = true;
    plan_.tensors.emplace_back(number, value(number).type);
  }

  // Gives a tensor of real numbers a storage, whose planes lie as its elements do.
  int add_shared_tensor(int number, int pool) {
    const TensorType& type = value(number).type;
    const bool is_picture = is_map_type(number);
    const bool channels_last = is_picture && moves_channels_first(number);
    Map map;
    if (channels_last) {
      map =
          new_map(side(number, 1), side(number, 2), static_cast<std::size_t>(type.shape[3]), side(number, 3));
    } else if (is_picture) {
      map = new_map(side(number, 2), side(number, 3), static_cast<std::size_t>(type.shape[1]), 1);
    } else {
      map = new_map(1, static_cast<int>(elements_of(type.shape)), 1, 1);
    }
    const int made = map.channels[0].storage;
    storage(made).pool = pool;
    has_tensor_[static_cast<std::size_t>(number)] = true;
    tensor_storage_[static_cast<std::size_t>(number)] = made;
    plan_.shared_tensors.emplace_back(number, made);
    if (is_picture) tensor_maps_[number] = std::move(map);
    return made;
  }

  void add_input(int number) {
    if (value(number).is_typed && is_map_type(number)) {
      add_shared_tensor(number, kInputPool);
    } else {
      add_tensor(number);
    }
  }

  bool is_constant(int number) const { return number != kAbsent && value(number).constant != nullptr; }
  // A picture's map of one frame.
  bool is_map_type(int number) const {
    if (number == kAbsent || !value(number).is_typed) return false;
    const TensorType& type = value(number).type;
    constexpr std::int64_t kMostSide = 1 << 15, kMostChannels = 1 << 14;
    return type.kind == Kind::real && type.shape.size() == 4 && type.shape[0] == 1 && type.shape[1] > 0 &&
           type.shape[1] <= kMostChannels && std::min(type.shape[2], type.shape[3]) > 0 &&
           std::max(type.shape[2], type.shape[3]) <= kMostSide;
  }
  int side(int number, std::size_t axis) const { return static_cast<int>(value(number).type.shape[axis]); }

  // The map of a value; null where it has none and is no picture's.
  const Map* require_map(int number) {
    if (number == kAbsent || is_constant(number)) return nullptr;
    if (map_of(number)) return &*map_of(number);
    if (is_map_type(number) && placed_of(number)) require_tensor(number);
    if (!is_map_type(number) || !has_tensor_[static_cast<std::size_t>(number)] || is_channels_last(number))
      return nullptr;
    pack(number, number);
    return &*map_of(number);
  }

  // Copies a tensor, or channels of one that is a map, to planes that may get ends.
  void pack(int from, int to) {
    const Map map = new_map(side(to, 2), side(to, 3), static_cast<std::size_t>(side(to, 1)), 1);
    auto step = std::make_unique<PackStep>();
    step->value = from;
    step->out = OutputRows(map.channels[0].storage, side(to, 1));
    Planned planned{nullptr, map.height, {}, {}, map.channels[0].storage, {}};
    if (const auto shared = tensor_maps_.find(from); shared != tensor_maps_.end()) {
      step->in = InputRows(shared->second, false);
      planned.reads = reads_of(shared->second, false);
    } else {
      planned.values_read.push_back(from);
    }
    add_step(std::move(step), std::move(planned));
    map_of(to) = map;
  }

  // Whether channels are the blocks of 16 that they seem to be.
  bool is_in_blocks(const Map& map) const {
    if (map.row_step != 1 || map.column_step != 1) return false;
    for (std::size_t c = 0; c < map.channels.size(); ++c) {
      const ChannelPlace& place = map.channels[c];
      const ChannelPlace& first = map.channels[c / kBlock * kBlock];
      const Storage& s = storage(place.storage);
      if (s.lanes != kBlock || place.x != 0 || place.y != 0 || place.storage != first.storage ||
          first.channel % kBlock != 0 || place.channel != first.channel + static_cast<int>(c % kBlock))
        return false;
    }
    return true;
  }

  // The same in blocks of 16 channels.
  const Map* require_blocks(int number) {
    const Map* const map = require_map(number);
    if (map && !is_in_blocks(*map)) map_of(number) = in_blocks(*map);
    return map ? &*map_of(number) : nullptr;
  }
  Map in_blocks(const Map& map) {
    if (is_in_blocks(map)) return map;
    const Map made = new_map(map.height, map.width, map.channels.size());
    auto step = std::make_unique<CopyStep>();
    step->in = InputRows(map, false);
    step->out = OutputRows(made.channels[0].storage, storage(made.channels[0].storage).blocks);
    add_step(std::move(step), {nullptr, made.height, reads_of(map, true), {}, made.channels[0].storage, {}});
    return made;
  }

  void require_tensor(int number) {
    if (number == kAbsent || is_constant(number) || has_tensor_[static_cast<std::size_t>(number)]) return;
    const Pieces pieces = *placed_of(number);
    const int target = add_shared_tensor(number, kArenaPool);
    const bool on_device =
        std::ranges::all_of(pieces, [&](const Piece& one) { return suits_devices(one.map); });
    for (const Piece& piece : pieces) {
      auto step = std::make_unique<PlaceStep>();
      step->in = InputRows(piece.map, false);
      step->storage = target;
      step->offsets = piece.offsets;
      step->row_step = piece.row_step;
      step->column_step = piece.column_step;
      Planned planned{nullptr, piece.map.height, reads_of(piece.map, true), {}, target, {}};
      planned.suits_devices = on_device;
      add_step(std::move(step), std::move(planned));
    }
  }

  // --- tensors that consist of maps

  // Places of a value's elements in maps; none if the value does not consist of maps.
  const std::optional<Pieces>& placed_of(int number) {
    static const std::optional<Pieces> kNowhere;
    if (number == kAbsent || is_constant(number)) return kNowhere;
    std::optional<Pieces>& placed = placed_[static_cast<std::size_t>(number)];
    const auto i = static_cast<std::size_t>(number);
    const bool has_own_tensor = has_tensor_[i] && tensor_storage_[i] == kNone;
    if (placed || !map_of(number) || has_own_tensor || tensor_maps_.contains(number)) return placed;
    const Map& map = *map_of(number);
    Piece piece{map, {}, map.width, 1};
    for (std::size_t c = 0; c < map.channels.size(); ++c)
      piece.offsets.push_back(static_cast<std::int64_t>(c) * map.height * map.width);
    placed = Pieces{piece};
    return placed;
  }

  // Moves a piece's elements to the places that `moved` gives; false where they no longer lie in even steps.
  template <typename Moved>
  static bool move_piece(Piece& piece, const Moved& moved) {
    const Piece old = piece;
    for (std::int64_t& offset : piece.offsets) offset = moved(offset);
    const std::int64_t first = old.offsets.front();
    if (old.map.height > 1) piece.row_step = moved(first + old.row_step) - piece.offsets.front();
    if (old.map.width > 1) piece.column_step = moved(first + old.column_step) - piece.offsets.front();
    for (std::size_t c = 0; c < old.offsets.size(); ++c) {
      for (std::int64_t y = 0; y < old.map.height; ++y) {
        for (std::int64_t x = 0; x < old.map.width; ++x) {
          if (moved(old.offsets[c] + y * old.row_step + x * old.column_step) !=
              piece.offsets[c] + y * piece.row_step + x * piece.column_step)
            return false;
        }
      }
    }
    return true;
  }

  // Nodes that only move elements: their results consist of maps as their inputs do.
  bool compile_movement(const Node& node) {
    const bool reshapes =
        node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze";
    if (!reshapes && node.op != "Transpose" && node.op != "Concat") return false;
    const int in = node.inputs[0], out = node.outputs[0];
    const std::size_t count = reshapes ? 1 : node.inputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!placed_of(node.inputs[i])) return false;
    }
    if (value(out).type.kind != Kind::real) return false;
    Pieces pieces;
    if (reshapes) {
      pieces = *placed_of(in);
    } else if (node.op == "Transpose") {
      pieces = *placed_of(in);
      const Shape &from = value(in).type.shape, &to = value(out).type.shape;
      std::vector<std::int64_t> order = node.integers("perm");
      if (order.empty()) {
        for (std::size_t i = from.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
      }
      std::vector<std::int64_t> steps(from.size());  // of an axis of the input, in the output
      std::int64_t step = 1;
      for (std::size_t i = to.size(); i-- > 0; step *= to[i])
        steps[static_cast<std::size_t>(order[i])] = step;
      const auto moved = [&](std::int64_t at) {
        std::int64_t target = 0;
        for (std::size_t axis = from.size(); axis-- > 0; at /= from[axis])
          target += at % from[axis] * steps[axis];
        return target;
      };
      if (!std::ranges::all_of(pieces, [&](Piece& piece) { return move_piece(piece, moved); })) return false;
    } else {
      const Shape& whole = value(out).type.shape;
      const std::size_t axis = Call::axis(node.integer("axis", 1), whole.size());
      std::int64_t behind = 1, before = 0;
      for (std::size_t i = axis + 1; i < whole.size(); ++i) behind *= whole[i];
      for (const int one : node.inputs) {
        const std::int64_t length = value(one).type.shape[axis] * behind;
        const auto moved = [&](std::int64_t at) {
          return at / length * whole[axis] * behind + before + at % length;
        };
        for (Piece piece : *placed_of(one)) {
          if (!move_piece(piece, moved)) return false;
          pieces.push_back(std::move(piece));
        }
        before += length;
      }
    }
    placed_[static_cast<std::size_t>(out)] = std::move(pieces);
    return true;
  }

  void add_node_step(const Node& node) {
    Planned planned;
    for (const int input : node.inputs) {
      require_tensor(input);
      if (input == kAbsent || is_constant(input)) continue;
      if (const int shared = tensor_storage_[static_cast<std::size_t>(input)]; shared != kNone) {
        planned.reads.push_back({shared, false});
      } else {
        planned.values_read.push_back(input);
      }
    }
    for (const int output : node.outputs) {
      if (output == kAbsent) continue;
      add_tensor(output);
      planned.values_written.push_back(output);
    }
    std::unique_ptr<Step> step;
    if (reshaped(node)) {
      step = make_reshape(node);
    } else {
      step = std::make_unique<NodeStep>(graph_, node);
    }
    add_step(std::move(step), std::move(planned));
  }

  // Whether a node gives a tensor that it alone reads another shape.
  bool reshaped(const Node& node) const {
    const bool moves =
        node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze";
    const int in = node.inputs.empty() ? kAbsent : node.inputs[0];
    return moves && !is_constant(in) && value(in).is_typed && only_reader(in) == &node &&
           tensor_storage_[static_cast<std::size_t>(in)] == kNone &&
           std::ranges::none_of(graph_.inputs, [&](const GraphInput& input) { return input.value == in; });
  }
  std::unique_ptr<Step> make_reshape(const Node& node) const {
    auto step = std::make_unique<ReshapeStep>();
    step->from = node.inputs[0];
    step->to = node.outputs[0];
    step->from_shape = value(step->from).type.shape;
    step->to_shape = value(step->to).type.shape;
    return step;
  }

  // --- nodes

  bool compile_node(const Node& node) {
    return compile_on_maps(node) || compile_movement(node) || compile_placed_activation(node);
  }

  bool compile_on_maps(const Node& node) {
    if (node.outputs.size() != 1 || !is_map_type(node.outputs[0])) return compile_shuffle(node);
    const int in = node.inputs.empty() ? kAbsent : node.inputs[0];
    if (node.op == "Conv") return compile_convolution(node);
    if (node.op == "Add" || node.op == "Mul" || node.op == "Sub") return compile_binary(node);
    if (node.op == "Concat") return compile_concat(node);
    if (node.op == "Slice" && map_is_cheap(in)) return compile_slice(node);
    if (node.op == "MaxPool") return compile_pool(node);
    if (node.op == "AveragePool") return compile_average(node);
    if (node.op == "Pad") return compile_pad(node);
    if (node.op == "Resize" || node.op == "Upsample") return compile_resize(node);
    if (node.op == "GlobalAveragePool") return compile_mean(node);
    if (const auto activation = activation_of(node)) return compile_activation(node, *activation);
    return compile_shuffle(node);
  }

  // Tensors that other nodes made are not worth packing for a node that costs little itself.
  bool map_is_cheap(int number) {
    if (number == kAbsent) return false;
    if (map_of(number)) return true;
    return std::ranges::any_of(graph_.inputs, [&](const GraphInput& input) { return input.value == number; });
  }

  std::optional<Activation> activation_of(const Node& node) const {
    using Kinds = Activation::Kind;
    const auto number = [&](std::size_t i, float fallback) {
      if (i >= node.inputs.size() || node.inputs[i] == kAbsent) return fallback;
      const SharedTensor& constant = value(node.inputs[i]).constant;
      return constant && constant->kind() == Kind::real && constant->size() == 1
                 ? constant->reals()[0]
                 : std::numeric_limits<float>::quiet_NaN();
    };
    if (node.op == "Relu") return Activation{Kinds::relu};
    if (node.op == "LeakyRelu") return Activation{Kinds::leaky_relu, node.real("alpha", 0.01F)};
    if (node.op == "Sigmoid") return Activation{Kinds::sigmoid};
    if (node.op == "HardSigmoid")
      return Activation{Kinds::hard_sigmoid, node.real("alpha", 0.2F), node.real("beta", 0.5F)};
    if (node.op == "HardSwish") return Activation{Kinds::hard_swish};
    if (node.op == "Clip") {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      const Activation clip{Kinds::clip, number(1, node.real("min", -kInfinity)),
                            number(2, node.real("max", kInfinity))};
      if (clip.a <= clip.b) return clip;
    }
    return {};
  }

  // The only reader of a value that is no output of the network; null where there are others.
  const Node* only_reader(int number) const {
    const std::vector<std::size_t>& readers = readers_[static_cast<std::size_t>(number)];
    return readers.size() == 1 && !is_output_[static_cast<std::size_t>(number)] ? &graph_.nodes[readers[0]]
                                                                                : nullptr;
  }
  void mark_done(const Node& node) { is_done_[static_cast<std::size_t>(&node - graph_.nodes.data())] = true; }

  // x * sigmoid(x): the product, where a value is read by both alone.
  const Node* silu_of(int number) const {
    const std::vector<std::size_t>& readers = readers_[static_cast<std::size_t>(number)];
    if (readers.size() != 2 || is_output_[static_cast<std::size_t>(number)]) return nullptr;
    const Node *gate = &graph_.nodes[readers[0]], *product = &graph_.nodes[readers[1]];
    if (gate->op != "Sigmoid") std::swap(gate, product);
    if (gate->op != "Sigmoid" || product->op != "Mul" || only_reader(gate->outputs[0]) != product)
      return nullptr;
    return product;
  }

  // Takes an activation behind a value into its step. Returns the value that it then has.
  int fuse_activation(int number, Activation& activation) {
    if (const Node* const product = silu_of(number)) {
      for (const std::size_t reader : readers_[static_cast<std::size_t>(number)]) is_done_[reader] = true;
      activation = {Activation::Kind::silu};
      return product->outputs[0];
    }
    const Node* const reader = only_reader(number);
    const auto next = reader && reader->inputs[0] == number ? activation_of(*reader) : std::nullopt;
    if (!next) return number;
    activation = *next;
    mark_done(*reader);
    return reader->outputs[0];
  }

  // Takes a sum with a map that is there already into a convolution.
  int fuse_sum(int number, AddedRows& added, std::vector<Read>& reads) {
    const Node* const sum = only_reader(number);
    if (!sum || sum->op != "Add" || sum->inputs.size() != 2 || sum->inputs[0] == sum->inputs[1])
      return number;
    const int other = sum->inputs[sum->inputs[0] == number ? 1 : 0];
    if (other == kAbsent || is_constant(other) || !map_of(other) || value(other).type != value(number).type)
      return number;
    const Map& map = *require_blocks(other);
    added = {InputRows(map, true), true};
    for (const Read& read : reads_of(map, true)) reads.push_back(read);
    mark_done(*sum);
    return sum->outputs[0];
  }

  bool compile_convolution(const Node& node) {
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kAbsent;
    if (!is_constant(node.inputs[1]) || (has_bias && !is_constant(node.inputs[2])) ||
        !require_map(node.inputs[0]))
      return false;
    const KnownInputs known(graph_, node);
    const ConvolutionPlan plan = convolution_plan({node, known.inputs});
    const bool is_depthwise = plan.groups > 1 && plan.groups == plan.inputs && plan.inputs == plan.outputs;
    if (plan.groups > 1 && !is_depthwise) return false;
    const Map in = is_depthwise ? *require_blocks(node.inputs[0]) : *require_map(node.inputs[0]);
    if (!same_steps(in)) return false;
    std::unique_ptr<ConvolutionStep> step;
    step = is_depthwise ? std::make_unique<DepthwiseStep>() : std::make_unique<ConvolutionStep>();
    step->in = InputRows(in, is_depthwise);
    step->window = plan.window;
    set_weights(*step, plan, *value(node.inputs[1]).constant,
                has_bias ? value(node.inputs[2]).constant.get() : nullptr, is_depthwise);
    const bool by_row = plan.window.kernel == Pair{1, 1} && plan.window.stride == Pair{1, 1} &&
                        plan.window.before == Pair{0, 0} && plan.window.behind == Pair{0, 0};
    if (!by_row) need_ends(in, plan.window);
    Planned planned{nullptr, static_cast<int>(plan.window.out[0]), reads_of(in, by_row), {}, -1, {}};
    int made = fuse_activation(node.outputs[0], step->finish.activation);
    const bool had_activation = made != node.outputs[0];
    const int summed = fuse_sum(made, step->added, planned.reads);
    if (summed != made && !had_activation) {
      step->finish.adds_first = true;
      made = fuse_activation(summed, step->finish.activation);
    } else {
      made = summed;
    }
    const Map out = new_map(static_cast<int>(plan.window.out[0]), static_cast<int>(plan.window.out[1]),
                            static_cast<std::size_t>(plan.outputs));
    planned.writes = out.channels[0].storage;
    step->out = OutputRows(planned.writes, storage(planned.writes).blocks);
    add_step(std::move(step), std::move(planned));
    map_of(made) = out;
    return true;
  }

  // Whether all channels of a map are as far apart from pixel to pixel.
  bool same_steps(const Map& map) const {
    const auto lanes = [&](const ChannelPlace& place) { return storage(place.storage).lanes; };
    return std::ranges::all_of(
        map.channels, [&](const ChannelPlace& place) { return lanes(place) == lanes(map.channels[0]); });
  }

  // A window that reaches over a map's edge needs zeros there.
  void need_ends(const Map& map, const WindowPlan& window) {
    const std::int64_t behind = (window.out[1] - 1) * window.stride[1] +
                                (window.kernel[1] - 1) * window.dilation[1] - window.before[1] -
                                (map.width - 1);
    const std::int64_t pixels = std::max<std::int64_t>({0, window.before[1], behind});
    const auto pad = static_cast<int>(pixels * map.column_step + map.column_step - 1);
    for (const ChannelPlace& place : map.channels)
      storage(place.storage).pad = std::max(storage(place.storage).pad, pad);
  }

  static void set_weights(ConvolutionStep& step, const ConvolutionPlan& plan, const Tensor& w,
                          const Tensor* b, bool is_depthwise) {
    const std::int64_t blocks = (plan.outputs + kBlock - 1) / kBlock;
    const std::int64_t inputs = is_depthwise ? 1 : plan.inputs,
                       taps = plan.window.kernel[0] * plan.window.kernel[1];
    step.bias.assign(static_cast<std::size_t>(blocks * kBlock), 0.0F);
    step.weights.assign(static_cast<std::size_t>(blocks * kBlock * inputs * taps), 0.0F);
    for (std::int64_t m = 0; m < plan.outputs; ++m) {
      if (b) step.bias[static_cast<std::size_t>(m)] = b->reals()[m];
      for (std::int64_t c = 0; c < inputs; ++c) {
        for (std::int64_t t = 0; t < taps; ++t)
          step.weights[static_cast<std::size_t>(((m / kBlock * taps + t) * inputs + c) * kBlock +
                                                m % kBlock)] = w.reals()[(m * inputs + c) * taps + t];
      }
    }
  }

  // One value a channel, or one for all, up to the end of the last block.
  std::vector<float> by_channel(int number, int channels) const {
    if (!is_constant(number)) return {};
    const Tensor& tensor = *value(number).constant;
    const Shape& shape = tensor.shape();
    const bool is_one = tensor.size() == 1;
    const bool fits = shape.size() >= 3 && shape[shape.size() - 3] == channels && tensor.size() == channels;
    if (tensor.kind() != Kind::real || (!is_one && !fits)) return {};
    std::vector<float> values(static_cast<std::size_t>((channels + kBlock - 1) / kBlock * kBlock), 0.0F);
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
      values[c] = tensor.reals()[is_one ? 0 : c];
    return values;
  }

  bool compile_binary(const Node& node) {
    int first = node.inputs[0], second = node.inputs[1];
    const int out = node.outputs[0];
    // The one that has the output's size comes first, where the order does not matter.
    const bool is_whole = first != kAbsent && value(first).is_typed && value(first).type == value(out).type &&
                          !is_constant(first);
    if (!is_whole && node.op != "Sub") std::swap(first, second);
    if (first == kAbsent || is_constant(first) || !map_of(first) || value(first).type != value(out).type)
      return false;
    auto step = std::make_unique<BinaryStep>();
    step->op = node.op == "Add" ? Binary::add : node.op == "Sub" ? Binary::subtract : Binary::multiply;
    step->constant = by_channel(second, side(out, 1));
    const bool is_single = is_map_type(second) && side(second, 1) == side(out, 1) && side(second, 2) == 1 &&
                           side(second, 3) == 1;
    if (step->constant.empty() && (is_constant(second) || !is_map_type(second) ||
                                   (!is_single && value(second).type != value(out).type)))
      return false;
    if (step->constant.empty() && !require_map(second)) return false;
    const Map a = *require_blocks(first);
    Planned planned{nullptr, a.height, reads_of(a, true), {}, -1, {}};
    step->a = InputRows(a, true);
    if (step->constant.empty()) {
      const Map b = *require_blocks(second);
      step->b = InputRows(b, true);
      for (const Read& read : reads_of(b, !is_single || (a.height == 1 && a.width == 1)))
        planned.reads.push_back(read);
    }
    const int made = fuse_activation(out, step->activation);
    finish_step(std::move(step), std::move(planned), a.height, a.width, a.channels.size(), made);
    return true;
  }

  // Gives a step a new map to write.
  template <typename Made>
  void finish_step(std::unique_ptr<Made> step, Planned planned, int height, int width, std::size_t channels,
                   int made) {
    const Map out = new_map(height, width, channels);
    planned.height = height;
    planned.writes = out.channels[0].storage;
    step->out = OutputRows(planned.writes, storage(planned.writes).blocks);
    add_step(std::move(step), std::move(planned));
    map_of(made) = out;
  }

  bool compile_activation(const Node& node, Activation activation) {
    if (!map_of(node.inputs[0])) return false;
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<BinaryStep>();
    step->a = InputRows(in, true);
    step->has_b = false;
    step->activation = activation;
    finish_step(std::move(step), {nullptr, in.height, reads_of(in, true), {}, -1, {}}, in.height, in.width,
                in.channels.size(), node.outputs[0]);
    return true;
  }

  // An activation of a tensor that consists of maps.
  bool compile_placed_activation(const Node& node) {
    if (node.inputs.empty() || node.outputs.size() != 1) return false;
    const auto activation = activation_of(node);
    if (!activation || !placed_of(node.inputs[0])) return false;
    Pieces pieces = *placed_of(node.inputs[0]);
    for (Piece& piece : pieces) {
      const Map in = in_blocks(piece.map);
      auto step = std::make_unique<BinaryStep>();
      step->a = InputRows(in, true);
      step->has_b = false;
      step->activation = *activation;
      piece.map = new_map(in.height, in.width, in.channels.size());
      Planned planned{nullptr, in.height, reads_of(in, true), {}, piece.map.channels[0].storage, {}};
      step->out = OutputRows(planned.writes, storage(planned.writes).blocks);
      add_step(std::move(step), std::move(planned));
    }
    placed_[static_cast<std::size_t>(node.outputs[0])] = std::move(pieces);
    return true;
  }

  bool compile_concat(const Node& node) {
    if (Call::axis(node.integer("axis", 1), 4) != 1) return false;
    for (const int input : node.inputs) {
      if (input == kAbsent || is_constant(input) || !map_is_cheap(input)) return false;
    }
    Map all;
    bool is_even = true;
    for (const int input : node.inputs) {
      const Map& map = *require_map(input);
      is_even = is_even && (all.channels.empty() ||
                            (all.row_step == map.row_step && all.column_step == map.column_step));
      all.height = map.height;
      all.width = map.width;
      all.row_step = map.row_step;
      all.column_step = map.column_step;
      all.channels.insert(all.channels.end(), map.channels.begin(), map.channels.end());
    }
    if (!is_even || !same_steps(all)) {
      all.channels.clear();
      all.row_step = all.column_step = 1;
      for (const int input : node.inputs) {
        const Map& map = *require_blocks(input);
        all.channels.insert(all.channels.end(), map.channels.begin(), map.channels.end());
      }
    }
    map_of(node.outputs[0]) = all;
    return true;
  }

  bool compile_slice(const Node& node) {
    const KnownInputs known(graph_, node);
    SlicePlan slice;
    try {
      slice = slice_plan({node, known.inputs});
    } catch (const NotKnownYet&) {
      return false;
    }
    const Map& in = *require_map(node.inputs[0]);
    constexpr std::int64_t kMostStep = 16;
    if (slice.step[1] != 1 || std::min(slice.step[2], slice.step[3]) < 1 ||
        std::max(slice.step[2], slice.step[3]) > kMostStep)
      return false;
    // Zeros around the map must be zeros around the part, too.
    for (const std::size_t axis : {std::size_t{2}, std::size_t{3}}) {
      const std::int64_t whole = axis == 2 ? in.height : in.width;
      const std::int64_t step = slice.step[axis];
      if (slice.first[axis] >= step || slice.first[axis] + slice.shape[axis] * step < whole) return false;
    }
    Map out{static_cast<int>(slice.shape[2]),
            static_cast<int>(slice.shape[3]),
            in.row_step * static_cast<int>(slice.step[2]),
            in.column_step * static_cast<int>(slice.step[3]),
            {}};
    for (std::int64_t c = slice.first[1]; c < slice.first[1] + slice.shape[1]; ++c) {
      ChannelPlace place = in.channels[static_cast<std::size_t>(c)];
      place.x += static_cast<int>(slice.first[3]) * in.column_step;
      place.y += static_cast<int>(slice.first[2]) * in.row_step;
      out.channels.push_back(place);
    }
    map_of(node.outputs[0]) = out;
    return true;
  }

  bool compile_pool(const Node& node) {
    const int input = node.inputs[0];
    if (!map_of(input)) return false;
    const KnownInputs known(graph_, node);
    const Map whole = *require_blocks(input);
    auto step = std::make_unique<PoolStep>();
    WindowPlan& window = step->window;
    window = window_plan({node, known.inputs}, {whole.height, whole.width}, {0, 0});
    if (window.dilation != Pair{1, 1}) return false;
    // The largest of 9 x 9 is the largest of 5 x 5 of what is the largest of 5 x 5.
    const std::int64_t side = window.kernel[0];
    const bool is_centred = side % 2 == 1 && window.kernel[1] == side && window.stride == Pair{1, 1} &&
                            window.before == Pair{side / 2, side / 2} &&
                            window.out == Pair{whole.height, whole.width};
    Map in = whole;
    if (is_centred) {
      for (const auto& [pooled, smaller] : pools_[input]) {
        if (smaller >= side || smaller < side - smaller + 1) continue;
        in = *map_of(pooled);
        const std::int64_t rest = side - smaller + 1;
        window.kernel = {rest, rest};
        window.before = window.behind = {rest / 2, rest / 2};
      }
      pools_[input].emplace_back(node.outputs[0], side);
    }
    step->in = InputRows(in, true);
    const Pair sides = window.out;
    finish_step(std::move(step), {nullptr, 0, reads_of(in, false), {}, -1, {}}, static_cast<int>(sides[0]),
                static_cast<int>(sides[1]), in.channels.size(), node.outputs[0]);
    return true;
  }

  bool compile_average(const Node& node) {
    if (!map_of(node.inputs[0])) return false;
    const KnownInputs known(graph_, node);
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<AverageStep>();
    step->window = window_plan({node, known.inputs}, {in.height, in.width}, {0, 0});
    if (step->window.dilation != Pair{1, 1}) return false;
    step->counts =
        average_counts(step->window, {in.height, in.width}, node.integer("count_include_pad", 0) != 0);
    step->in = InputRows(in, true);
    const Pair sides = step->window.out;
    finish_step(std::move(step), {nullptr, 0, reads_of(in, false), {}, -1, {}}, static_cast<int>(sides[0]),
                static_cast<int>(sides[1]), in.channels.size(), node.outputs[0]);
    return true;
  }

  // A constant around a map.
  bool compile_pad(const Node& node) {
    if (!map_of(node.inputs[0]) || node.text("mode", "constant") != "constant") return false;
    const KnownInputs known(graph_, node);
    const Call call{node, known.inputs};
    std::vector<std::int64_t> pads;
    try {
      pads = pads_of(call);
    } catch (const NotKnownYet&) {
      return false;
    }
    if (pads[0] != 0 || pads[1] != 0 || pads[4] != 0 || pads[5] != 0 || std::ranges::min(pads) < 0)
      return false;
    if (call.has(2) && !is_constant(node.inputs[2])) return false;
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<PadStep>();
    step->in = InputRows(in, true);
    step->top = static_cast<int>(pads[2]);
    step->left = static_cast<int>(pads[3]);
    step->value = call.has(2) ? call.in(2).reals()[0] : node.real("value", 0);
    finish_step(std::move(step), {nullptr, 0, reads_of(in, false), {}, -1, {}}, side(node.outputs[0], 2),
                side(node.outputs[0], 3), in.channels.size(), node.outputs[0]);
    return true;
  }

  bool compile_resize(const Node& node) {
    if (!map_of(node.inputs[0])) return false;
    const KnownInputs known(graph_, node);
    const Call call{node, known.inputs};
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<ResizeStep>();
    step->rows = resize_axis(call, 2);
    step->columns = resize_axis(call, 3);
    step->linear = node.text("mode", "nearest") == "linear";
    step->in = InputRows(in, true);
    finish_step(std::move(step), {nullptr, 0, reads_of(in, false), {}, -1, {}}, side(node.outputs[0], 2),
                side(node.outputs[0], 3), in.channels.size(), node.outputs[0]);
    return true;
  }

  bool compile_mean(const Node& node) {
    if (!map_of(node.inputs[0])) return false;
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<MeanStep>();
    step->in = InputRows(in, true);
    finish_step(std::move(step), {nullptr, 0, reads_of(in, false), {}, -1, {}}, 1, 1, in.channels.size(),
                node.outputs[0]);
    return true;
  }

  // Parts of channels (Split), and channels in another order (Reshape, Transpose, Reshape).
  bool compile_shuffle(const Node& node) {
    if (node.op == "Split") return compile_split(node);
    if (node.op == "Transpose" && compile_channels_first(node)) return true;
    if (node.op != "Reshape" || node.inputs[0] == kAbsent || !map_of(node.inputs[0])) return false;
    const int open = node.outputs[0];
    const Node* const transpose = only_reader(open);
    if (!transpose || transpose->op != "Transpose") return false;
    const int turned = transpose->outputs[0];
    const Node* const close = only_reader(turned);
    if (!close || close->op != "Reshape" || !value(open).is_typed ||
        value(close->outputs[0]).type != value(node.inputs[0]).type)
      return false;
    const Shape& shape = value(open).type.shape;
    const Map& in = *map_of(node.inputs[0]);
    const bool fits = shape.size() == 5 && shape[0] == 1 && shape[3] == in.height && shape[4] == in.width &&
                      transpose->integers("perm") == std::vector<std::int64_t>{0, 2, 1, 3, 4};
    if (!fits) return false;
    Map out = in;
    for (std::int64_t c = 0; c < shape[1] * shape[2]; ++c)
      out.channels[static_cast<std::size_t>(c)] =
          in.channels[static_cast<std::size_t>(c % shape[1] * shape[2] + c / shape[1])];
    mark_done(*transpose);
    mark_done(*close);
    map_of(close->outputs[0]) = out;
    return true;
  }

  // Whether all that read a value bring its last axis to the second place.
  bool moves_channels_first(int number) const {
    const std::vector<std::size_t>& readers = readers_[static_cast<std::size_t>(number)];
    return !readers.empty() && std::ranges::all_of(readers, [&](std::size_t reader) {
      const Node& node = graph_.nodes[reader];
      return node.op == "Transpose" && node.integers("perm") == std::vector<std::int64_t>{0, 3, 1, 2};
    });
  }
  bool is_channels_last(int number) const {
    const auto shared = tensor_maps_.find(number);
    return shared != tensor_maps_.end() && storage(shared->second.channels[0].storage).lanes > 1;
  }
  // The network's picture, channels last, into planes.
  bool compile_channels_first(const Node& node) {
    if (!is_channels_last(node.inputs[0])) return false;
    pack(node.inputs[0], node.outputs[0]);
    return true;
  }

  bool compile_split(const Node& node) {
    if (node.inputs[0] == kAbsent || !map_of(node.inputs[0]) || Call::axis(node.integer("axis", 0), 4) != 1)
      return false;
    const Map in = *map_of(node.inputs[0]);
    std::size_t first = 0;
    for (const int output : node.outputs) {
      if (output == kAbsent || !is_map_type(output)) return false;
    }
    for (const int output : node.outputs) {
      Map part = in;
      const auto count = static_cast<std::size_t>(side(output, 1));
      part.channels.assign(in.channels.begin() + static_cast<std::ptrdiff_t>(first),
                           in.channels.begin() + static_cast<std::ptrdiff_t>(first + count));
      first += count;
      map_of(output) = part;
    }
    return true;
  }

  const Graph& graph_;
  Plan& plan_;
  std::vector<std::optional<Map>> maps_;
  std::vector<std::optional<Pieces>> placed_;
  std::vector<bool> has_tensor_;
  std::vector<int> tensor_storage_;  // of values that segments share; kNone for others
  std::map<int, Map> tensor_maps_;   // of those that are pictures
  std::map<int, std::vector<std::pair<int, std::int64_t>>>
      pools_;                                      // of a value: the largest of windows, their side
  std::vector<std::vector<std::size_t>> readers_;  // nodes, by value
  std::vector<bool> is_output_;
  std::vector<bool> is_done_;
  std::size_t index_ = 0;
};

}  // namespace

std::unique_ptr<const Plan> make_plan(const Graph& graph, std::int64_t memory_limit) {
  if (!has_fused_multiply_add()) return nullptr;
  auto plan = std::make_unique<Plan>();
  if (!Compiler(graph, *plan).compile()) return nullptr;
  plan->bytes = 4 * plan->zero_floats;
  for (const std::int64_t floats : plan->pool_floats) plan->bytes += 4 * floats;
  for (const auto& [value, type] : plan->tensors) plan->bytes += bytes_of(type);
  if (plan->bytes > memory_limit) return nullptr;
  return plan;
}

}  // namespace sightline::network
