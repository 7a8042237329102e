#include "detectors/network/network_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "detectors/network/runner.hpp"

namespace sightline::network {
namespace {

constexpr int kMostMakers = 64;

using nn::kNone;
using Node = nn::OnnxNode;

bool quantises(const Node& node) {
  return node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
}

// Whether a node only moves numbers about, or rounds them.
bool is_move(const Node& node) {
  constexpr std::string_view kMoves[] = {"Reshape",        "Transpose", "Concat",   "Squeeze",
                                         "Unsqueeze",      "Flatten",   "Identity", "Slice",
                                         "Split",          "Cast",      "Gather",   "Clip",
                                         "Sqrt",           "GatherND",  "Expand",   "Tile",
                                         "GatherElements", "Pad",       "CastLike", "BatchNormalization"};
  return quantises(node) || std::ranges::find(kMoves, node.op) != std::end(kMoves);
}

// An operator of levels (QLinearConv) as the one of numbers that it stands for.
void forget_levels(Node& node) {
  constexpr std::string_view kPrefix = "QLinear";
  if (!node.op.starts_with(kPrefix)) return;
  node.op.erase(0, kPrefix.size());
  std::vector<int> numbers;
  const bool is_pair = node.op == "Conv" || node.op == "MatMul" || node.op == "Add" || node.op == "Mul";
  const std::size_t first = node.op == "Concat" ? 2 : 0;
  const std::size_t end = node.op == "Concat" ? node.inputs.size() : is_pair ? 6 : 3;
  for (std::size_t i = first; i < std::min(end, node.inputs.size()); i += 3)
    numbers.push_back(node.inputs[i]);
  node.inputs = std::move(numbers);
}

// The operator that has made a value, or the last part of it, which may have been moved about since; empty
// for inputs.
std::string_view maker_behind(const OutputOrigins& origins, int value, bool of_last = false) {
  for (int step = 0; step < kMostMakers; ++step) {
    const Node* const maker = origins.maker_of(value);
    if (!maker) break;
    if (!is_move(*maker) || maker->inputs.empty()) return maker->op;
    value = of_last && maker->op == "Concat" ? maker->inputs.back() : maker->inputs[0];
    if (value == kNone) break;
  }
  return {};
}

bool has_only_ones(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    if (number_at(tensor, i) != 1) return false;
  }
  return tensor.size() > 0;
}

bool is_index(const Node& node, int value) {
  return node.op == "ArgMax" || node.op == "Mod" ||
         (node.op == "TopK" && node.outputs.size() > 1 && node.outputs[1] == value);
}

Content content_of(const OutputOrigins& origins, int value, int depth = 0) {
  if (value == kNone) return Content::other;
  if (const Tensor* const constant = origins.graph().constant(value))
    return has_only_ones(*constant) ? Content::ones : Content::other;
  const Node* const maker = origins.maker_of(value);
  if (!maker || depth > kMostMakers || maker->inputs.empty()) return Content::other;
  if (is_index(*maker, value)) return Content::label;
  const std::string_view op = maker->op;
  if (op == "Sigmoid" || op == "Softmax" || op == "HardSigmoid") return Content::probability;
  if (op == "Conv") return Content::raw;
  constexpr int kStepsOfProduct = 16;  // products branch
  const auto input = [&](std::size_t i) {
    return content_of(origins, maker->inputs[i], depth + (op == "Mul" ? kStepsOfProduct : 1));
  };
  if (op == "Mul" && maker->inputs.size() == 2 && !quantises(*maker)) {
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
void add_runs(const OutputOrigins& origins, int value, std::size_t side, std::vector<ChannelRun>& runs,
              int depth = 0) {
  if (value == kNone || runs.size() > kMostRuns) return;
  const auto typed = [&](int tensor) -> const Shape* {
    const Shape& shape = origins.graph().shape(tensor);
    return is_known(shape) ? &shape : nullptr;
  };
  const auto end_here = [&] {
    const Shape* const shape = typed(value);
    runs.push_back({shape && side < shape->size() ? (*shape)[side] : -1, content_of(origins, value)});
  };
  const Node* const maker = origins.maker_of(value);
  if (!maker || depth > kMostMakers || maker->inputs.empty() || maker->inputs[0] == kNone) return end_here();
  const Shape* const shape = typed(value);
  const int before = maker->inputs[0];
  const Shape* const shape_before = typed(before);
  if (maker->op == "Concat") {
    std::int64_t axis = maker->integer("axis", 0);
    if (axis < 0 && shape) axis += static_cast<std::int64_t>(shape->size());
    // Without a shape, the last side is told by the axis alone.
    const bool is_along = shape ? axis == static_cast<std::int64_t>(side) : axis == -1 || axis >= 1;
    if (!is_along) return add_runs(origins, before, side, runs, depth + 1);
    for (const int input : maker->inputs) add_runs(origins, input, side, runs, depth + 1);
    return;
  }
  if (maker->op == "Transpose" && shape) {
    const std::vector<std::int64_t> order = maker->integers("perm");
    const std::size_t from =
        order.size() == shape->size() ? static_cast<std::size_t>(order[side]) : shape->size() - 1 - side;
    return add_runs(origins, before, from, runs, depth + 1);
  }
  const bool is_reshape =
      maker->op == "Reshape" || maker->op == "Flatten" || maker->op == "Squeeze" || maker->op == "Unsqueeze";
  if (is_reshape && shape && shape_before) {
    const auto from = side_before(*shape_before, *shape, side);
    return from ? add_runs(origins, before, *from, runs, depth + 1) : end_here();
  }
  const bool keeps = maker->op == "Identity" || quantises(*maker) ||
                     (maker->op == "Cast" && content_of(origins, value) == Content::other);
  if (keeps) return add_runs(origins, before, side, runs, depth + 1);
  end_here();
}

std::vector<ChannelRun> runs_along(const OutputOrigins& origins, int value, std::size_t side) {
  std::vector<ChannelRun> runs;
  add_runs(origins, value, side, runs);
  if (runs.size() > kMostRuns) runs.clear();
  return runs;
}

// NetworkOutputs::highest_level, by the first arithmetic on a picture: a mean above 1, or a divisor of tens,
// is for levels up to 255.
int highest_level_of(const OutputOrigins& origins, int picture) {
  for (const Node& node : origins.nodes()) {  // in an order in which they can run
    const auto at = std::ranges::find(node.inputs, picture);
    if (at == node.inputs.end()) continue;
    if (is_move(node)) {
      picture = node.outputs[0];
      continue;
    }
    const bool scales = node.op == "Mul" || node.op == "Div";
    if ((!scales && node.op != "Sub" && node.op != "Add") || node.inputs.size() != 2) return 0;
    const Tensor* const constant =
        origins.graph().constant(at == node.inputs.begin() ? node.inputs[1] : node.inputs[0]);
    if (!constant || constant->data() != DataType::f32 || constant->size() == 0) return 0;
    float largest = 0;
    for (const float value : constant->as<float>()) largest = std::max(largest, std::abs(value));
    constexpr float kLargeDivisor = 16;
    if (node.op == "Mul") return largest < 1 / kLargeDivisor ? 255 : 1;
    return largest > (scales ? kLargeDivisor : 1) ? 255 : 1;
  }
  return 0;
}

// The network with its values for the test picture.
struct Probe {
  std::unique_ptr<Runner> runner;
  std::vector<const Tensor*> outputs;

  explicit Probe(Network& network) {
    network.parts = parts_of(network);
    if (!network.parts) throw Error(ExitCode::model, "the network has too many nodes for a plan");
    runner = make_runner(*network.parts, network.memory_limit);
    const std::span<float> picture = runner->input(network.picture).as<float>();
    for (std::size_t i = 0; i < picture.size(); ++i)
      picture[i] = static_cast<float>(static_cast<std::uint32_t>(i) * 2654435761U >> 24) / 255.0F;
    fill_sizes(network, network.preprocessing.size,
               [&](std::size_t k) -> Tensor& { return runner->input(k); });
    runner->run_all();
    for (std::size_t i = 0; i < network.outputs.size(); ++i) outputs.push_back(&runner->output(i));
  }
};

NetworkOutputs::Output facts_of(const OutputOrigins& origins, int tensor, std::string name,
                                std::int64_t columns) {
  const std::string_view maker = maker_behind(origins, tensor);
  NetworkOutputs::Output one{.name = std::move(name), .shape = {}};
  one.is_probability = content_of(origins, tensor) == Content::probability;
  one.is_softmax = maker == "Softmax";
  one.maker = maker;
  one.is_raw = maker == "Conv" || maker == "Add";  // of a bias
  one.has_raw_scores = maker_behind(origins, tensor, true) == "Conv";
  one.columns = columns;
  std::size_t sides = 3;
  const TensorType& type = origins.graph().type(tensor);
  if (is_known(type.shape)) {
    one.data = type.data;
    one.shape = type.shape;
    sides = one.shape->size();
    if (sides > 0) one.columns = one.shape->back();
  }
  if (sides > 1) {
    one.first_runs = runs_along(origins, tensor, 1);
    one.last_runs = runs_along(origins, tensor, sides - 1);
  }
  return one;
}

}  // namespace

OutputOrigins::OutputOrigins(nn::OnnxOrigins origins)
    : origins_(std::move(origins)), makers_(origins_.graph.tensors().size(), kNone) {
  for (std::size_t i = 0; i < origins_.nodes.size(); ++i) {
    forget_levels(origins_.nodes[i]);
    for (const int output : origins_.nodes[i].outputs) {
      if (output != kNone) makers_[static_cast<std::size_t>(output)] = static_cast<int>(i);
    }
  }
}

const nn::OnnxNode* OutputOrigins::maker_of(int tensor) const {
  const int maker = graph().constant(tensor) ? kNone : makers_[static_cast<std::size_t>(tensor)];
  return maker == kNone ? nullptr : &nodes()[static_cast<std::size_t>(maker)];
}

NetworkOutputs OutputOrigins::outputs(Network& network, const std::vector<std::int64_t>& columns,
                                      const std::vector<double>& anchors, std::size_t names) const {
  NetworkOutputs outputs;
  outputs.input = network.preprocessing.size;
  outputs.channels = network.preprocessing.channels;
  outputs.has_channels_last = network.preprocessing.channels_last;
  outputs.highest_level = highest_level_of(*this, graph().inputs()[network.picture]);
  for (std::size_t i = 0; i < network.outputs.size(); ++i)
    outputs.all.push_back(facts_of(*this, graph().outputs()[i], network.outputs[i].name, columns[i]));
  const auto has = [&](const auto& is_one) { return std::ranges::any_of(nodes(), is_one); };
  for (const Node& node : nodes()) ++outputs.operators[node.op];
  outputs.pools_like_yolov7 =
      has([](const Node& node) {
        return node.op == "MaxPool" && node.integers("kernel_shape") == std::vector<std::int64_t>{2, 2};
      }) &&
      !has([](const Node& node) { return node.op == "LeakyRelu"; });
  outputs.anchors = anchors;
  for (const NetworkInput& input : network.inputs) {
    outputs.knows_frame_size |= input.role != InputRole::picture && input.role != InputRole::mask;
    outputs.knows_scale |= input.role == InputRole::scale;
  }
  if (names > 0) outputs.classes = static_cast<int>(names);
  outputs.metadata = network.file.metadata;
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

std::int64_t OutputOrigins::classes_behind_labels(const Scheme& scheme) const {
  if (scheme.heads.empty() || !scheme.heads[0].label.is_there()) return 0;
  const Field& label = scheme.heads[0].label;
  int value = graph().outputs()[static_cast<std::size_t>(label.output)];
  for (int step = 0; step < kMostMakers; ++step) {
    const Node* const maker = maker_of(value);
    if (!maker || maker->inputs.empty()) return 0;
    if (is_index(*maker, value)) {
      const Shape& from = graph().shape(maker->inputs[0]);
      if (maker->op == "Mod") {
        const Tensor* const divisor = graph().constant(maker->inputs[1]);
        return divisor && divisor->size() == 1 ? static_cast<std::int64_t>(number_at(*divisor, 0)) : 0;
      }
      if (!is_known(from) || from.empty()) return 0;
      const auto sides = static_cast<std::int64_t>(from.size());
      const std::int64_t axis = maker->integer("axis", maker->op == "ArgMax" ? 0 : -1);
      return from[static_cast<std::size_t>(axis < 0 ? axis + sides : axis)];
    }
    if (!is_move(*maker)) return 0;
    // The label is the part of the row that an index has made.
    int next = maker->inputs[0];
    for (const int input : maker->inputs) {
      if (maker->op == "Concat" && input != kNone && content_of(*this, input) == Content::label) next = input;
    }
    value = next;
  }
  return 0;
}

}  // namespace sightline::network
