#include "detectors/network/network_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "detectors/network/interpreter.hpp"
#include "detectors/network/lowering.hpp"
#include "detectors/network/plan.hpp"

namespace sightline::network {
namespace {

constexpr int kMostMakers = 64;

// Whether a node only moves numbers about, or rounds them.
bool is_move(const Node& node) {
  constexpr std::string_view kMoves[] = {"Reshape", "Transpose", "Concat", "Squeeze",  "Unsqueeze",
                                         "Flatten", "Identity",  "Slice",  "Split",    "Cast",
                                         "Gather",  "Clip",      "Sqrt",   "GatherND", "GatherElements",
                                         "Expand",  "Tile",      "Pad"};
  return node.has(kQuantises) || std::ranges::find(kMoves, node.op) != std::end(kMoves);
}

// The operator that has made a value, or the last part of it, which may have been moved about since; empty
// for inputs.
std::string_view maker_behind(const Graph& graph, int value, bool of_last = false) {
  for (int step = 0; step < kMostMakers; ++step) {
    const Node* const maker = maker_of(graph, value);
    if (!maker) break;
    if (!is_move(*maker) || maker->inputs.empty()) return maker->op;
    value = of_last && maker->op == "Concat" ? maker->inputs.back() : maker->inputs[0];
    if (value == kAbsent) break;
  }
  return {};
}

bool has_only_ones(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.as<float>(i) != 1) return false;
  }
  return tensor.size() > 0;
}

bool is_index(const Node& node, int value) {
  return node.op == "ArgMax" || node.op == "Mod" ||
         (node.op == "TopK" && node.outputs.size() > 1 && node.outputs[1] == value);
}

Content content_of(const Graph& graph, int value, int depth = 0) {
  if (value == kAbsent) return Content::other;
  const SharedTensor& constant = graph.value(value).constant;
  if (constant) return constant->has_data() && has_only_ones(*constant) ? Content::ones : Content::other;
  const Node* const maker = maker_of(graph, value);
  if (!maker || depth > kMostMakers || maker->inputs.empty()) return Content::other;
  if (is_index(*maker, value)) return Content::label;
  const std::string_view op = maker->op;
  if (op == "Sigmoid" || op == "Softmax" || op == "HardSigmoid") return Content::probability;
  if (op == "Conv") return Content::raw;
  constexpr int kStepsOfProduct = 16;  // products branch
  const auto input = [&](std::size_t i) {
    return content_of(graph, maker->inputs[i], depth + (op == "Mul" ? kStepsOfProduct : 1));
  };
  if (op == "Mul" && maker->inputs.size() == 2 && !maker->has(kQuantises)) {
    const bool are_both = input(0) == Content::probability && input(1) == Content::probability;
    return are_both ? Content::probability : Content::other;
  }
  return is_move(*maker) || op == "ReduceMax" || op == "TopK" ? input(0) : Content::other;
}

// The side of a reshaped value that has become a side; nothing where it was cut or joined.
std::optional<std::size_t> side_before(const Shape& before, const Shape& after, std::size_t side) {
  std::int64_t in_front = 1, wanted = 1;
  for (std::size_t i = 0; i < side; ++i) wanted *= after[i];
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (in_front == wanted && before[i] == after[side]) return i;
    in_front *= before[i];
  }
  return {};
}

constexpr std::size_t kMostRuns = 4096;

// Adds the runs along one side of a value.
void add_runs(const Graph& graph, int value, std::size_t side, std::vector<ChannelRun>& runs, int depth = 0) {
  if (value == kAbsent || runs.size() > kMostRuns) return;
  const Value& made = graph.value(value);
  const auto typed = [&](int number) -> const Shape* {
    const Value& one = graph.value(number);
    return one.is_typed || one.constant ? &(one.constant ? one.constant->shape() : one.type.shape) : nullptr;
  };
  const auto end_here = [&] {
    const Shape* const shape = typed(value);
    runs.push_back({shape && side < shape->size() ? (*shape)[side] : -1, content_of(graph, value)});
  };
  const Node* const maker = made.constant ? nullptr : maker_of(graph, value);
  if (!maker || depth > kMostMakers || maker->inputs.empty() || maker->inputs[0] == kAbsent)
    return end_here();
  const Shape* const shape = typed(value);
  const int before = maker->inputs[0];
  const Shape* const shape_before = typed(before);
  if (maker->op == "Concat") {
    std::int64_t axis = maker->integer("axis", 0);
    if (axis < 0 && shape) axis += static_cast<std::int64_t>(shape->size());
    // Without a shape, the last side is told by the axis alone.
    const bool is_along = shape ? axis == static_cast<std::int64_t>(side) : axis == -1 || axis >= 1;
    if (!is_along) return add_runs(graph, before, side, runs, depth + 1);
    for (const int input : maker->inputs) add_runs(graph, input, side, runs, depth + 1);
    return;
  }
  if (maker->op == "Transpose" && shape) {
    const std::vector<std::int64_t> order = maker->integers("perm");
    const std::size_t from =
        order.size() == shape->size() ? static_cast<std::size_t>(order[side]) : shape->size() - 1 - side;
    return add_runs(graph, before, from, runs, depth + 1);
  }
  const bool is_reshape =
      maker->op == "Reshape" || maker->op == "Flatten" || maker->op == "Squeeze" || maker->op == "Unsqueeze";
  if (is_reshape && shape && shape_before) {
    const auto from = side_before(*shape_before, *shape, side);
    return from ? add_runs(graph, before, *from, runs, depth + 1) : end_here();
  }
  const bool keeps = maker->op == "Identity" || maker->has(kQuantises) ||
                     (maker->op == "Cast" && content_of(graph, value) == Content::other);
  if (keeps) return add_runs(graph, before, side, runs, depth + 1);
  end_here();
}

std::vector<ChannelRun> runs_along(const Graph& graph, int value, std::size_t side) {
  std::vector<ChannelRun> runs;
  add_runs(graph, value, side, runs);
  if (runs.size() > kMostRuns) runs.clear();
  return runs;
}

// NetworkOutputs::highest_level, by the first arithmetic on a picture: a mean above 1, or a divisor of tens,
// is for levels up to 255.
int highest_level_of(const Graph& graph, int picture) {
  for (const Node& node : graph.nodes) {  // in an order in which they can run
    const auto at = std::ranges::find(node.inputs, picture);
    if (at == node.inputs.end()) continue;
    if (is_move(node)) {
      picture = node.outputs[0];
      continue;
    }
    const bool scales = node.op == "Mul" || node.op == "Div";
    if ((!scales && node.op != "Sub" && node.op != "Add") || node.inputs.size() != 2) return 0;
    const SharedTensor& constant =
        graph.value(at == node.inputs.begin() ? node.inputs[1] : node.inputs[0]).constant;
    if (!constant || !constant->has_data() || constant->kind() != Kind::real || constant->size() == 0)
      return 0;
    float largest = 0;
    for (std::int64_t i = 0; i < constant->size(); ++i)
      largest = std::max(largest, std::abs(constant->as<float>(i)));
    constexpr float kLargeDivisor = 16;
    if (node.op == "Mul") return largest < 1 / kLargeDivisor ? 255 : 1;
    return largest > (scales ? kLargeDivisor : 1) ? 255 : 1;
  }
  return 0;
}

// The network with its values for the test picture.
struct Probe {
  std::unique_ptr<const Plan> plan;
  std::unique_ptr<Runner> runner;
  std::vector<const Tensor*> outputs;

  explicit Probe(const Network& network) : plan(make_plan(network.graph, network.memory_limit)) {
    if (plan) {
      runner = make_plan_runner(network.graph, *plan);
    } else {
      runner = std::make_unique<Interpreter>(network.graph, network.memory_limit);
    }
    Tensor& picture = runner->input(network.picture);
    for (std::int64_t i = 0; i < picture.size(); ++i) {
      const std::uint32_t byte = static_cast<std::uint32_t>(i) * 2654435761U >> 24;
      if (picture.kind() == Kind::real) {
        picture.reals()[i] = static_cast<float>(byte) / 255.0F;
      } else {
        picture.wholes()[i] = byte;
      }
    }
    fill_sizes(network, network.preprocessing.size,
               [&](std::size_t k) -> Tensor& { return runner->input(k); });
    runner->run_all();
    for (std::size_t i = 0; i < network.graph.outputs.size(); ++i) outputs.push_back(&runner->output(i));
  }
};

}  // namespace

NetworkOutputs outputs_of(const Network& network, const std::vector<double>& anchors, std::size_t names) {
  const Graph& graph = network.graph;
  NetworkOutputs outputs;
  outputs.input = network.preprocessing.size;
  outputs.channels = network.preprocessing.channels;
  outputs.has_channels_last = network.preprocessing.channels_last;
  outputs.highest_level = highest_level_of(graph, graph.inputs[network.picture].value);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const int number = graph.outputs[i];
    const Value& value = graph.value(number);
    const std::string_view maker = maker_behind(graph, number);
    NetworkOutputs::Output one{.name = value.name, .shape = {}};
    one.is_probability = content_of(graph, number) == Content::probability;
    one.is_softmax = maker == "Softmax";
    one.maker = maker;
    one.is_raw = maker == "Conv" || maker == "Add";  // of a bias
    one.has_raw_scores = maker_behind(graph, number, true) == "Conv";
    one.columns = graph.columns[i];
    std::size_t sides = 3;
    if (value.is_typed) {
      one.kind = value.type.kind;
      one.shape = value.type.shape;
      sides = one.shape->size();
      if (sides > 0) one.columns = one.shape->back();
    }
    if (sides > 1) {
      one.first_runs = runs_along(graph, number, 1);
      one.last_runs = runs_along(graph, number, sides - 1);
    }
    outputs.all.push_back(std::move(one));
  }
  const auto has = [&](const auto& is_one) { return std::ranges::any_of(graph.nodes, is_one); };
  for (const Node& node : graph.nodes) ++outputs.operators[node.op];
  outputs.pools_like_yolov7 =
      has([](const Node& node) {
        return node.op == "MaxPool" && node.integers("kernel_shape") == std::vector<std::int64_t>{2, 2};
      }) &&
      !has([](const Node& node) { return node.op == "LeakyRelu"; });
  outputs.anchors = anchors;
  for (const InputRole role : network.roles) {
    outputs.knows_frame_size |= role != InputRole::picture && role != InputRole::mask;
    outputs.knows_scale |= role == InputRole::scale;
  }
  if (names > 0) outputs.classes = static_cast<int>(names);
  outputs.metadata = graph.metadata;
  // Copies share what was run.
  struct Shared {
    std::optional<Probe> probe;
    bool has_run = false;
  };
  outputs.probe = [&network, shared = std::make_shared<Shared>()] {
    try {
      if (!std::exchange(shared->has_run, true)) shared->probe.emplace(network);
    } catch (const Error&) {  // what cannot run tells nothing; frames will say why
    }
    return shared->probe ? shared->probe->outputs : std::vector<const Tensor*>();
  };
  return outputs;
}

std::int64_t classes_behind_labels(const Graph& graph, const Scheme& scheme) {
  if (scheme.heads.empty() || !scheme.heads[0].label.is_there()) return 0;
  const Field& label = scheme.heads[0].label;
  int value = graph.outputs[static_cast<std::size_t>(label.output)];
  for (int step = 0; step < kMostMakers; ++step) {
    const Node* const maker = maker_of(graph, value);
    if (!maker || maker->inputs.empty()) return 0;
    if (is_index(*maker, value)) {
      const Value& from = graph.value(maker->inputs[0]);
      if (maker->op == "Mod") {
        const SharedTensor& divisor = graph.value(maker->inputs[1]).constant;
        return divisor && divisor->size() == 1 ? divisor->as<std::int64_t>(0) : 0;
      }
      if (!from.is_typed || from.type.shape.empty()) return 0;
      const auto sides = static_cast<std::int64_t>(from.type.shape.size());
      const std::int64_t axis = maker->integer("axis", maker->op == "ArgMax" ? 0 : -1);
      return from.type.shape[static_cast<std::size_t>(axis < 0 ? axis + sides : axis)];
    }
    if (!is_move(*maker)) return 0;
    // The label is the part of the row that an index has made.
    int next = maker->inputs[0];
    for (const int input : maker->inputs) {
      if (maker->op == "Concat" && input != kAbsent && content_of(graph, input) == Content::label)
        next = input;
    }
    value = next;
  }
  return 0;
}

}  // namespace sightline::network
