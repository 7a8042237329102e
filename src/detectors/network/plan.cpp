// Compiles graphs into plans.
#include "detectors/network/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "detectors/network/plan_values.hpp"

namespace sightline::network {
namespace {

constexpr std::size_t kMostSteps = 4000;  // laying out memory compares all storages with each other

class Compiler : private PlanValues {
 public:
  Compiler(const Graph& graph, Plan& plan) : PlanValues(graph, plan), is_done_(graph.nodes.size(), false) {
    for (const Node* const node : plan.dynamic_nodes) is_done(*node) = true;
  }

  // Whether there is a plan.
  // @param frame_limit  bytes of values whose sizes a frame decides
  bool compile(std::int64_t frame_limit) {
    for (const GraphInput& input : graph().inputs) add_input(input.value);
    for (const Node& node : graph().nodes) {
      if (is_done(node)) continue;
      if (steps() > kMostSteps) return false;
      if (!compile_on_maps(node) && !compile_movement(node) && !compile_placed_activation(node))
        add_node_step(node);
    }
    for (const int output : graph().outputs) {
      if (!is_dynamic(output)) require_output(output);
    }
    if (!dynamic_nodes().empty()) {
      if (steps() == 0) return false;
      add_dynamic_step(frame_limit);
    }
    finish();
    return true;
  }

 private:
  bool compile_on_maps(const Node& node) {
    if (node.outputs.size() != 1 || !is_map_type(node.outputs[0])) return compile_shuffle(node);
    const int in = node.inputs.empty() ? kAbsent : node.inputs[0];
    if (node.op == "Conv") return compile_convolution(node);
    if (const auto binary = binary_of(node)) return compile_binary(node, *binary);
    if (node.op == "Concat") return compile_concat(node);
    if (node.op == "Slice" && map_is_cheap(in)) return compile_slice(node);
    if (in != kAbsent && map_of(in)) {
      if (node.op == "MaxPool") return compile_pool(node);
      if (node.op == "AveragePool") return compile_average(node);
      if (node.op == "Pad") return compile_pad(node);
      if (node.op == "Resize" || node.op == "Upsample") return compile_resize(node);
      if (node.op == "GlobalAveragePool")
        return finish_map_step(std::make_unique<MeanStep>(), *require_blocks(in), node.outputs[0]);
      if (const auto activation = activation_of(node)) {
        map_of(node.outputs[0]) = activated(*require_map(in), *activation);
        return true;
      }
    }
    return compile_shuffle(node);
  }

  // Tensors that other nodes made are not worth packing for a node that costs little itself.
  bool map_is_cheap(int number) {
    const auto is_it = [&](const GraphInput& input) { return input.value == number; };
    return number != kAbsent &&
           (map_of(number) || (is_map_type(number) && std::ranges::any_of(graph().inputs, is_it)));
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
      if (!std::isnan(clip.a) && !std::isnan(clip.b)) return clip;
    }
    return {};
  }

  std::vector<bool>::reference is_done(const Node& node) {
    return is_done_[static_cast<std::size_t>(&node - graph().nodes.data())];
  }

  // x * sigmoid(x): the product, where a value is read by both alone.
  const Node* silu_of(int number) const {
    if (readers(number).size() != 2 || is_output(number)) return nullptr;
    const Node *gate = readers(number)[0], *product = readers(number)[1];
    if (gate->op != "Sigmoid") std::swap(gate, product);
    if (gate->op != "Sigmoid" || product->op != "Mul" || only_reader(gate->outputs[0]) != product)
      return nullptr;
    return product;
  }

  // The activation behind a value, the nodes that it consists of, and the value that they make.
  struct Behind {
    Activation activation;
    std::vector<const Node*> nodes;
    int made = kAbsent;
  };
  Behind activation_behind(int number) const {
    if (const Node* const product = silu_of(number))
      return {{Activation::Kind::silu}, readers(number), product->outputs[0]};
    const Node* const reader = only_reader(number);
    const auto next = reader && reader->inputs[0] == number ? activation_of(*reader) : std::nullopt;
    return next ? Behind{*next, {reader}, reader->outputs[0]} : Behind{{}, {}, number};
  }
  // Takes an activation behind a value into its step. Returns the value that it then has.
  int fuse_activation(int number, Activation& activation) {
    const Behind behind = activation_behind(number);
    for (const Node* const node : behind.nodes) is_done(*node) = true;
    activation = behind.activation;
    return behind.made;
  }

  // Takes a sum with a map that is there already into a convolution.
  int fuse_sum(int number, std::optional<InputRows>& added, std::vector<Read>& reads) {
    const Node* const sum = only_reader(number);
    if (!sum || sum->op != "Add" || sum->inputs.size() != 2 || sum->inputs[0] == sum->inputs[1])
      return number;
    const int other = sum->inputs[sum->inputs[0] == number ? 1 : 0];
    if (other == kAbsent || is_constant(other) || !map_of(other) || value(other).type != value(number).type)
      return number;
    const Map& map = *require_blocks(other);
    added = InputRows(map, true);
    for (const Read& read : reads_of(map, true)) reads.push_back(read);
    is_done(*sum) = true;
    return sum->outputs[0];
  }

  // The geometry of a convolution that is a step; none for other nodes.
  std::optional<ConvolutionPlan> convolution_of(const Node& node) const {
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kAbsent;
    if (node.op != "Conv" || !is_map_type(node.outputs[0]) || !is_map_type(node.inputs[0]) ||
        !is_constant(node.inputs[1]) || (has_bias && !is_constant(node.inputs[2])))
      return {};
    const KnownInputs known(graph(), node);
    const ConvolutionPlan plan = convolution_plan(known.call);
    return plan.groups == 1 || has_a_group_each(plan) ? std::optional(plan) : std::nullopt;
  }
  static bool has_a_group_each(const ConvolutionPlan& plan) {
    return plan.groups == plan.inputs && plan.inputs == plan.outputs;
  }

  // Convolutions that one step computes: those of one input whose outputs fit into fewer blocks together, and
  // those of one channel each behind them. The node alone where there are no others.
  std::vector<const Node*> merged_with(const Node& node, const ConvolutionPlan& plan) const {
    const auto parts = parts_.find(node.inputs[0]);
    std::vector<const Node*> all;
    std::int64_t outputs = 0, blocks = 0;
    if (parts == parts_.end()) {
      all = readers(node.inputs[0]);
    } else {
      for (const int part : parts->second) all.push_back(only_reader(part));
    }
    std::erase_if(all, [&](const Node* one) {
      const auto other = one ? convolution_of(*one) : std::nullopt;
      if (!other || other->window != plan.window || !may_share(*one, node) ||
          (parts == parts_.end() ? other->groups > 1 || other->outputs % kBlock == 0
                                 : !has_a_group_each(*other)))
        return true;
      outputs += other->outputs;
      blocks += (other->outputs + kBlock - 1) / kBlock;
      return false;
    });
    const bool gains =
        parts == parts_.end() ? (outputs + kBlock - 1) / kBlock < blocks : all.size() == parts->second.size();
    return gains && std::ranges::find(all, &node) != all.end() ? all : std::vector{&node};
  }
  bool has_equal_activation(const Node& a, const Node& b) const {
    return activation_behind(a.outputs[0]).activation == activation_behind(b.outputs[0]).activation;
  }
  // Whether both convolutions may be parts of one: activations that differ must cost little as steps of their
  // own, and nothing that reads the results may need its channels at the beginning of a block.
  bool may_share(const Node& a, const Node& b) const {
    const auto is_cheap = [](const Behind& behind) {
      return behind.activation.kind == Activation::Kind::none ||
             behind.activation.kind == Activation::Kind::sigmoid;
    };
    const Behind behind = activation_behind(a.outputs[0]);
    return (has_equal_activation(a, b) || (is_cheap(behind) && is_cheap(activation_behind(b.outputs[0])))) &&
           std::ranges::all_of(readers(behind.made), [](const Node* reader) {
             return reader->op == "Conv" || reader->op == "Concat" || reader->op == "Reshape" ||
                    reader->op == "Transpose" || reader->op == "Sigmoid";
           });
  }

  bool compile_convolution(const Node& node) {
    const auto plan = convolution_of(node);
    if (!plan || !require_map(node.inputs[0])) return false;
    const std::vector<const Node*> merged = merged_with(node, *plan);
    const bool is_alone = merged.size() == 1, of_parts = !is_alone && parts_.contains(node.inputs[0]);
    const bool is_depthwise = of_parts || (plan->groups > 1 && has_a_group_each(*plan));
    Map in = is_depthwise && !of_parts ? *require_blocks(node.inputs[0]) : *require_map(node.inputs[0]);
    if (of_parts) {
      in.channels.clear();
      for (const Node* const one : merged) {
        const Map& part = *map_of(one->inputs[0]);
        in.channels.insert(in.channels.end(), part.channels.begin(), part.channels.end());
      }
      in = in_blocks(in);
    }
    if (!same_steps(in)) return false;
    std::unique_ptr<ConvolutionStep> step;
    step = is_depthwise ? std::make_unique<DepthwiseStep>() : std::make_unique<ConvolutionStep>();
    step->in = InputRows(in, is_depthwise);
    step->window = plan->window;
    std::size_t outputs = 0;
    for (const Node* const one : merged) {
      add_weights(*step, *one, outputs, is_depthwise ? 1 : plan->inputs);
      outputs += static_cast<std::size_t>(side(one->outputs[0], 1));
    }
    const bool by_row = plan->window.kernel == Pair{1, 1} && plan->window.stride == Pair{1, 1} &&
                        plan->window.before == Pair{0, 0} && plan->window.behind == Pair{0, 0};
    if (!by_row) need_ends(in, plan->window);
    std::vector<Read> reads = reads_of(in, by_row);
    const bool fuses =
        std::ranges::all_of(merged, [&](const Node* one) { return has_equal_activation(*one, node); });
    std::vector<int> made;
    for (const Node* const one : merged) {
      is_done(*one) = true;
      made.push_back(fuses ? fuse_activation(one->outputs[0], step->finish.activation) : one->outputs[0]);
    }
    const bool had_activation = made[0] != node.outputs[0];
    const int summed = is_alone ? fuse_sum(made[0], step->added, reads) : made[0];
    if (summed != made[0] && !had_activation) {
      step->finish.adds_first = true;
      made[0] = fuse_activation(summed, step->finish.activation);
    } else {
      made[0] = summed;
    }
    step->channels = static_cast<std::int64_t>(outputs);
    finish_step(std::move(step), std::move(reads), outputs, made[0]);
    if (!is_alone) divide(*map_of(made[0]), made);
    return true;
  }

  // Gives values the channels of a map, one after the other.
  void divide(const Map whole, const std::vector<int>& values) {
    auto next = whole.channels.begin();
    for (const int one : values) {
      Map part{whole.height, whole.width, whole.row_step, whole.column_step, {}};
      part.channels.assign(next, next + side(one, 1));
      next += side(one, 1);
      map_of(one) = std::move(part);
      parts_[one] = values;
    }
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

  // Appends a node's weights, for outputs from the first one on.
  void add_weights(ConvolutionStep& step, const Node& node, std::size_t first, std::int64_t inputs) const {
    const Tensor& w = *value(node.inputs[1]).constant;
    const std::int64_t taps = step.window.kernel[0] * step.window.kernel[1];
    const auto begin = static_cast<std::int64_t>(first), end = begin + w.dim(0);
    const std::int64_t places = (end + kBlock - 1) / kBlock * kBlock;
    step.bias.resize(static_cast<std::size_t>(places), 0.0F);
    step.weights.resize(static_cast<std::size_t>(places * inputs * taps), 0.0F);
    for (std::int64_t m = begin; m < end; ++m) {
      if (node.inputs.size() > 2 && node.inputs[2] != kAbsent)
        step.bias[static_cast<std::size_t>(m)] = value(node.inputs[2]).constant->reals()[m - begin];
      for (std::int64_t c = 0; c < inputs; ++c) {
        for (std::int64_t t = 0; t < taps; ++t)
          step.weights[static_cast<std::size_t>(((m / kBlock * taps + t) * inputs + c) * kBlock +
                                                m % kBlock)] =
              w.reals()[((m - begin) * inputs + c) * taps + t];
      }
    }
  }

  // One value a channel, or one for all, up to the end of the last block. Channels that fill the block are
  // divided by 0: nobody reads them.
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

  static std::optional<Binary> binary_of(const Node& node) {
    if (node.inputs.size() != 2) return {};
    if (node.op == "Add") return Binary::add;
    if (node.op == "Sub") return Binary::subtract;
    if (node.op == "Mul") return Binary::multiply;
    if (node.op == "Div") return Binary::divide;
    if (node.op == "Max") return Binary::maximum;
    if (node.op == "Min") return Binary::minimum;
    return {};
  }

  bool compile_binary(const Node& node, Binary op) {
    int first = node.inputs[0], second = node.inputs[1];
    const int out = node.outputs[0];
    // The one that has the output's size comes first, where the order does not matter.
    const bool is_whole = first != kAbsent && value(first).is_typed && value(first).type == value(out).type &&
                          !is_constant(first);
    if (!is_whole && (op == Binary::add || op == Binary::multiply)) std::swap(first, second);
    if (first == kAbsent || is_constant(first) || !map_of(first) || value(first).type != value(out).type)
      return false;
    auto step = std::make_unique<BinaryStep>();
    step->op = op;
    step->constant = by_channel(second, side(out, 1));
    const bool is_single = is_map_type(second) && side(second, 1) == side(out, 1) && side(second, 2) == 1 &&
                           side(second, 3) == 1;
    if (step->constant.empty() && (is_constant(second) || !is_map_type(second) ||
                                   (!is_single && value(second).type != value(out).type)))
      return false;
    if (step->constant.empty() && !require_map(second)) return false;
    const Map a = *require_blocks(first);
    std::vector<Read> reads = reads_of(a, true);
    step->a = InputRows(a, true);
    if (step->constant.empty()) {
      const Map b = *require_blocks(second);
      step->b = InputRows(b, true);
      for (const Read& read : reads_of(b, !is_single || (a.height == 1 && a.width == 1)))
        reads.push_back(read);
    }
    const int made = fuse_activation(out, step->activation);
    return finish_step(std::move(step), std::move(reads), a.channels.size(), made);
  }

  // Gives a step a new map to write, of the size that the value has. Returns true.
  template <typename Made>
  bool finish_step(std::unique_ptr<Made> step, std::vector<Read> reads, std::size_t channels, int made) {
    map_of(made) = add_map_step(std::move(step), side(made, 2), side(made, 3), channels, std::move(reads));
    return true;
  }
  template <typename Made>
  bool finish_map_step(std::unique_ptr<Made> step, const Map& in, int made) {
    step->in = InputRows(in, true);
    return finish_step(std::move(step), reads_of(in, false), in.channels.size(), made);
  }

  // A map behind an activation. A part of a block shares its place with the others.
  Map activated(Map map, const Activation& activation) {
    const ChannelPlace first = map.channels[0];
    const bool in_block =
        same_steps(map) && storage(first.storage).lanes == kBlock && map.row_step == 1 &&
        map.column_step == 1 && std::ranges::all_of(map.channels, [&](const ChannelPlace& place) {
          return place.storage == first.storage && place.channel / kBlock == first.channel / kBlock &&
                 place.x == 0 && place.y == 0;
        });
    Map in = map;
    if (in_block) {
      in.channels.clear();
      for (int c = 0; c < kBlock; ++c)
        in.channels.push_back({first.storage, static_cast<int>(first.channel / kBlock * kBlock) + c});
    } else {
      in = map = in_blocks(map);
    }
    auto step = std::make_unique<BinaryStep>();
    step->a = InputRows(in, true);
    step->activation = activation;
    const Map out =
        add_map_step(std::move(step), in.height, in.width, in.channels.size(), reads_of(in, true));
    if (!in_block) return out;
    for (ChannelPlace& place : map.channels)
      place = {out.channels[0].storage, static_cast<int>(place.channel % kBlock)};
    return map;
  }

  // An activation of a tensor that consists of maps.
  bool compile_placed_activation(const Node& node) {
    if (node.inputs.empty() || node.outputs.size() != 1) return false;
    const auto activation = activation_of(node);
    if (!activation || !placed_of(node.inputs[0])) return false;
    Pieces pieces = *placed_of(node.inputs[0]);
    for (Piece& piece : pieces) piece.map = activated(piece.map, *activation);
    set_placed(node.outputs[0], std::move(pieces));
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
    const KnownInputs known(graph(), node);
    const auto known_slice = if_known([&] { return slice_plan(known.call); });
    if (!known_slice) return false;
    const SlicePlan& slice = *known_slice;
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
    const Map whole = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<PoolStep>();
    WindowPlan& window = step->window;
    window = window_plan(node, {whole.height, whole.width}, {0, 0});
    if (window.dilation != Pair{1, 1}) return false;
    // The largest of 9 x 9 is the largest of 5 x 5 of what is the largest of 5 x 5.
    const std::int64_t side = window.kernel[0];
    const bool is_centred = side % 2 == 1 && window.kernel[1] == side && window.stride == Pair{1, 1} &&
                            window.before == Pair{side / 2, side / 2} &&
                            window.out == Pair{whole.height, whole.width};
    Map in = whole;
    if (is_centred) {
      for (const auto& [pooled, smaller] : pools_[node.inputs[0]]) {
        if (smaller >= side || smaller < side - smaller + 1) continue;
        in = *map_of(pooled);
        const std::int64_t rest = side - smaller + 1;
        window.kernel = {rest, rest};
        window.before = window.behind = {rest / 2, rest / 2};
      }
      pools_[node.inputs[0]].emplace_back(node.outputs[0], side);
    }
    return finish_map_step(std::move(step), in, node.outputs[0]);
  }

  bool compile_average(const Node& node) {
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<AverageStep>();
    step->window = window_plan(node, {in.height, in.width}, {0, 0});
    if (step->window.dilation != Pair{1, 1}) return false;
    step->counts =
        average_counts(step->window, {in.height, in.width}, node.integer("count_include_pad", 0) != 0);
    return finish_map_step(std::move(step), in, node.outputs[0]);
  }

  // A constant around a map.
  bool compile_pad(const Node& node) {
    if (node.text("mode", "constant") != "constant") return false;
    const KnownInputs known(graph(), node);
    const Call& call = known.call;
    const auto known_pads = if_known([&] { return pads_of(call); });
    if (!known_pads) return false;
    const std::vector<std::int64_t>& pads = *known_pads;
    if (pads[0] != 0 || pads[1] != 0 || pads[4] != 0 || pads[5] != 0 || std::ranges::min(pads) < 0)
      return false;
    if (call.has(2) && !is_constant(node.inputs[2])) return false;
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<PadStep>();
    step->top = static_cast<int>(pads[2]);
    step->left = static_cast<int>(pads[3]);
    step->value = call.has(2) ? call.in(2).reals()[0] : node.real("value", 0);
    return finish_map_step(std::move(step), in, node.outputs[0]);
  }

  bool compile_resize(const Node& node) {
    const KnownInputs known(graph(), node);
    const Call& call = known.call;
    const Map in = *require_blocks(node.inputs[0]);
    auto step = std::make_unique<ResizeStep>();
    step->rows = resize_axis(call, 2);
    step->columns = resize_axis(call, 3);
    step->linear = node.text("mode", "nearest") == "linear";
    return finish_map_step(std::move(step), in, node.outputs[0]);
  }

  // Parts of channels (Split), and channels in another order (Reshape, Transpose, Reshape).
  bool compile_shuffle(const Node& node) {
    if (node.op == "Split") return compile_split(node);
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
    is_done(*transpose) = true;
    is_done(*close) = true;
    map_of(close->outputs[0]) = out;
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

  std::vector<bool> is_done_;
  std::map<int, std::vector<int>> parts_;  // of a value that lies beside others: all of them
  std::map<int, std::vector<std::pair<int, std::int64_t>>>
      pools_;  // of a value: the largest of windows, their side
};

}  // namespace

std::unique_ptr<const Plan> make_plan(const Graph& graph, std::int64_t memory_limit) {
  if (!has_fused_multiply_add()) return nullptr;
  auto plan = std::make_unique<Plan>();
  if (!Compiler(graph, *plan).compile(limit_of_frame(cost_of(graph).peak_bytes, memory_limit)))
    return nullptr;
  plan->bytes = 4 * plan->zero_floats;
  for (const std::int64_t floats : plan->pool_floats) plan->bytes += 4 * floats;
  for (const auto& [value, type] : plan->tensors) plan->bytes += bytes_of(type);
  if (plan->bytes > memory_limit) return nullptr;
  return plan;
}

}  // namespace sightline::network
