#include "detectors/network/graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "detectors/network/operators.hpp"
#include "detectors/network/window.hpp"

namespace sightline::network {
namespace {

constexpr std::int64_t kMostFolding = std::int64_t{1} << 28;  // elements and multiply-adds, to end soon
constexpr std::int64_t kMostCounted = std::int64_t{1} << 60;  // sums of costs stay below

class Simplifier {
 public:
  Simplifier(Graph& graph, std::int64_t memory_limit) : graph_(graph), limit_(memory_limit) {}

  void run() {
    for (Node& node : std::exchange(graph_.nodes, {})) add(std::move(node));
    skip_copies();
    remove_unused();  // so that values have no readers but those that count
    fold_batch_norms();
    remove_unused();
    if (cost_of(graph_).peak_bytes > limit_)
      throw Problem("needs " + std::to_string(cost_of(graph_).peak_bytes >> 20) +
                    " MiB of memory, more than the limit of " + std::to_string(limit_ >> 20) +
                    " MiB; its largest value is " + largest_value(graph_));
  }

 private:
  Value& value(int number) { return graph_.value(number); }

  // Adds a node, or those that it consists of.
  void add(Node node) {
    std::optional<Graph> parts;
    try {
      const KnownInputs known(graph_, node);
      if (node.code->lower && known.are_typed)
        parts = if_known([&] { return node.code->lower(known.call); }).value_or(std::nullopt);
      if (!parts && !node.code->run) node.code->infer(known.call);  // which refuses it
      if (!parts) fold_or_infer(node);
    } catch (const Problem& problem) {
      throw Problem("node " + node.title() + " " + problem.what());
    }
    if (parts) return add_parts(node, std::move(*parts));
    graph_.nodes.push_back(std::move(node));
  }

  void add_parts(const Node& node, Graph parts) {
    constexpr std::size_t kMostNodes = 50'000;
    if (graph_.nodes.size() > kMostNodes) throw Problem("consists of too many nodes");
    std::vector<int> numbers = node.inputs;  // here, by those in the parts
    for (std::size_t i = numbers.size(); i < parts.values.size(); ++i) {
      Value& one = parts.values[i];
      if (one.constant && (folded_bytes_ += bytes_of(one.constant->type())) > limit_)
        throw Problem("node " + node.title() + " needs too much memory for constants");
      const auto output = static_cast<std::size_t>(std::ranges::find(parts.outputs, static_cast<int>(i)) -
                                                   parts.outputs.begin());
      const bool is_output = output < node.outputs.size() && node.outputs[output] != kAbsent;
      numbers.push_back(is_output      ? node.outputs[output]
                        : one.constant ? add_constant(one.name, one.constant)
                                       : add_value(std::move(one)));
    }
    for (Node& part : parts.nodes) {
      for (std::vector<int>* const list : {&part.inputs, &part.outputs}) {
        for (int& number : *list)
          number = number == kAbsent ? kAbsent : numbers[static_cast<std::size_t>(number)];
      }
      add(std::move(part));
    }
  }

  void fold_or_infer(Node& node) {
    KnownInputs known(graph_, node);
    if (!known.are_typed) return;
    const Call& call = known.call;
    // The values of a tensor whose type is known do not matter for its shape.
    const bool is_shape = node.op == "Shape" || node.op == "Size";
    // These are counted before the size of their result is known.
    if (node.op == "NonMaxSuppression" || node.op == "NonZero") {
      const std::int64_t work = known.are_constant ? work_of(known, 0) : 0;
      if (work_ + work > kMostFolding) return;
      work_ += work;
    }
    const auto types = if_known([&] { return node.code->infer(call); });
    if (!types) return;
    std::int64_t bytes = 0;
    for (const TensorType& type : *types) bytes += bytes_of(type);
    if (bytes > limit_)
      throw Problem("needs " + std::to_string(bytes >> 20) + " MiB of memory for its result");
    set_types(node, *types);
    if (!known.are_constant && !is_shape) return;
    const std::int64_t work = work_of(known, bytes + multiply_adds_of(graph_, node));
    // What takes longer is computed for each frame instead.
    if (work_ + work > kMostFolding || folded_bytes_ + bytes > limit_) return;
    work_ += work;
    folded_bytes_ += bytes;
    std::vector<Tensor> outputs;
    run_node(call, outputs);
    for (std::size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i) {
      if (node.outputs[i] != kAbsent)
        value(node.outputs[i]).constant = std::make_shared<const Tensor>(std::move(outputs[i]));
    }
  }

  // Elements that a node reads, and compares or adds for each of them.
  static std::int64_t work_of(const KnownInputs& known, std::int64_t work) {
    const Node& node = known.call.node;
    const auto add = [&](std::int64_t count, std::int64_t times) {
      work = std::min(work + std::min(count, kMostCounted / std::max<std::int64_t>(times, 1)) * times,
                      kMostCounted);
    };
    std::int64_t elements = 0;
    for (const Tensor* input : known.call.inputs) elements += input ? elements_of(input->shape()) : 0;
    add(elements, 1);
    // Windows are looked at as often as they are large; the result has been counted already.
    if (node.op.ends_with("Pool")) {
      std::int64_t window = 1;
      for (const std::int64_t side : node.integers("kernel_shape"))
        window = std::clamp<std::int64_t>(side, 1, 1 << 20) * std::min(window, kMaxElements);
      add(work, std::min(window, kMaxElements));
    }
    if (node.op == "LRN") add(elements, std::clamp<std::int64_t>(node.integer("size", 1), 1, kMaxElements));
    if (node.op == "NonMaxSuppression") {
      // Each box with all others, of all classes.
      const Shape& scores = known.call.in(1).shape();
      add(elements, scores.empty() ? 1 : scores.back());
    }
    if (node.op == "TopK") add(elements, 32);  // it sorts
    return work;
  }

  void set_types(const Node& node, const std::vector<TensorType>& types) {
    for (std::size_t i = 0; i < node.outputs.size() && i < types.size(); ++i) {
      if (node.outputs[i] == kAbsent) continue;
      value(node.outputs[i]).is_typed = true;
      value(node.outputs[i]).type = types[i];
    }
  }

  bool is_output(int number) const {
    return std::ranges::find(graph_.outputs, number) != graph_.outputs.end();
  }

  // Whoever reads a copy reads the original.
  void skip_copies() {
    std::vector<int> original(graph_.values.size());
    std::iota(original.begin(), original.end(), 0);
    for (Node& node : graph_.nodes) {
      for (int& input : node.inputs) {
        if (input != kAbsent) input = original[static_cast<std::size_t>(input)];
      }
      const bool is_copy = node.op == "Identity" || node.op == "Dropout";
      if (is_copy && node.outputs[0] != kAbsent && !is_output(node.outputs[0]) &&
          !value(node.outputs[0]).constant)
        original[static_cast<std::size_t>(node.outputs[0])] = node.inputs[0];
    }
  }

  void fold_batch_norms() {
    std::vector<int> readers(graph_.values.size(), 0);
    std::vector<Node*> makers(graph_.values.size(), nullptr);
    for (Node& node : graph_.nodes) {
      for (const int input : node.inputs) readers[static_cast<std::size_t>(std::max(input, 0))] += input >= 0;
      for (const int output : node.outputs) {
        if (output != kAbsent) makers[static_cast<std::size_t>(output)] = &node;
      }
    }
    for (Node& norm : graph_.nodes) {
      if (norm.op != "BatchNormalization") continue;
      const int between = norm.inputs[0];
      Node* const convolution = makers[static_cast<std::size_t>(between)];
      if (!convolution || convolution->op != "Conv" || readers[static_cast<std::size_t>(between)] != 1 ||
          is_output(between) || value(between).constant)
        continue;
      fold_batch_norm(*convolution, norm);
    }
  }

  void fold_batch_norm(Node& convolution, const Node& norm) {
    const auto constant = [&](const Node& node, std::size_t i) -> const Tensor* {
      if (i >= node.inputs.size() || node.inputs[i] == kAbsent) return nullptr;
      return value(node.inputs[i]).constant.get();
    };
    const Tensor* const weights = constant(convolution, 1);
    const bool has_bias = convolution.inputs.size() > 2 && convolution.inputs[2] != kAbsent;
    const Tensor* const bias = constant(convolution, 2);
    if (!weights || (has_bias && !bias)) return;
    for (std::size_t i = 1; i < 5; ++i) {
      if (!constant(norm, i)) return;
    }
    const float epsilon = norm.real("epsilon", 1e-5F);
    auto scaled = std::make_shared<Tensor>(Kind::real, weights->shape());
    auto moved = std::make_shared<Tensor>(Kind::real, Shape{weights->dim(0)});
    const std::int64_t count = weights->size() / std::max<std::int64_t>(1, weights->dim(0));
    for (std::int64_t m = 0; m < weights->dim(0); ++m) {
      // In double precision, rounded once.
      const double scale =
          constant(norm, 1)->reals()[m] / std::sqrt(double{constant(norm, 4)->reals()[m]} + double{epsilon});
      const double old = bias ? bias->reals()[m] : 0.0;
      moved->reals()[m] =
          static_cast<float>((old - constant(norm, 3)->reals()[m]) * scale + constant(norm, 2)->reals()[m]);
      for (std::int64_t i = m * count; i < (m + 1) * count; ++i)
        scaled->reals()[i] = static_cast<float>(weights->reals()[i] * scale);
    }
    convolution.inputs.resize(3, kAbsent);
    convolution.inputs[1] = add_constant(convolution.name + " weights", std::move(scaled));
    convolution.inputs[2] = add_constant(convolution.name + " bias", std::move(moved));
    // The convolution makes the normalisation's value, and the other one is nobody's.
    convolution.outputs[0] = norm.outputs[0];
    is_gone_[&norm] = true;
  }

  int add_constant(std::string name, SharedTensor tensor) {
    TensorType type = tensor->type();
    return add_value({std::move(name), std::move(tensor), true, std::move(type)});
  }
  int add_value(Value value) {
    graph_.values.push_back(std::move(value));
    return static_cast<int>(graph_.values.size()) - 1;
  }

  void remove_unused() {
    std::vector<bool> needed(graph_.values.size(), false);
    for (const int output : graph_.outputs) needed[static_cast<std::size_t>(output)] = true;
    std::vector<Node> kept;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      const bool makes_needed = std::ranges::any_of(node->outputs, [&](int output) {
        return output != kAbsent && needed[static_cast<std::size_t>(output)] && !value(output).constant;
      });
      if (!makes_needed || is_gone_.contains(&*node)) continue;
      for (const int input : node->inputs) {
        if (input != kAbsent) needed[static_cast<std::size_t>(input)] = true;
      }
      kept.push_back(std::move(*node));
    }
    std::ranges::reverse(kept);
    graph_.nodes = std::move(kept);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) graph_.values[i].constant.reset();
    }
  }

  Graph& graph_;
  const std::int64_t limit_;
  std::int64_t work_ = 0, folded_bytes_ = 0;
  std::map<const Node*, bool> is_gone_;
};

// Bytes of a value while the network runs; 0 where its type is not known yet.
std::int64_t running_bytes(const Value& value) {
  return value.constant || !value.is_typed ? 0 : bytes_of(value.type);
}

}  // namespace

KnownInputs::KnownInputs(const Graph& graph, const Node& node)
    : typed(node.inputs.size()), call{node, std::vector<const Tensor*>(node.inputs.size(), nullptr)} {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kAbsent) continue;
    const Value& value = graph.value(node.inputs[i]);
    if (value.constant) {
      call.inputs[i] = value.constant.get();
      continue;
    }
    are_constant = false;
    are_typed = are_typed && value.is_typed;
    typed[i] = Tensor::typed(value.type);
    call.inputs[i] = &typed[i];
  }
}

void simplify(Graph& graph, std::int64_t memory_limit) {
  Simplifier(graph, memory_limit).run();
}

std::int64_t multiply_adds_of(const Graph& graph, const Node& node) {
  const KnownInputs known(graph, node);
  if (!known.are_typed || node.outputs.empty() || node.outputs[0] == kAbsent) return 0;
  const Value& made = graph.value(node.outputs[0]);
  if (!made.is_typed) return 0;
  const std::int64_t count = elements_of(made.type.shape);
  const Call& call = known.call;
  if (node.op == "Conv") {
    const Shape& w = call.in(1).shape();
    return count * w[1] * w[2] * w[3];
  }
  if (node.op == "ConvTranspose")
    return elements_of(call.in(0).shape()) * elements_of(call.in(1).shape()) /
           std::max<std::int64_t>(1, call.in(0).dim(1));
  if (node.op == "MatMul") return count * call.in(0).shape().back();
  if (node.op == "Gemm") return count * call.in(0).dim(node.integer("transA", 0) != 0 ? 0 : 1);
  return 0;
}

std::vector<const Node*> all_nodes(const Graph& graph) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes) nodes.push_back(&node);
  return nodes;
}

std::vector<std::vector<int>> values_that_end(const Graph& graph, const std::vector<const Node*>& nodes) {
  std::map<int, std::size_t> last;  // by value
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const int input : nodes[i]->inputs) last[input] = i;
    for (const int output : nodes[i]->outputs) last[output] = i;
  }
  for (const int output : graph.outputs) last[output] = nodes.size();
  last.erase(kAbsent);
  std::vector<std::vector<int>> ends(nodes.size() + 1);
  for (const auto& [value, node] : last) ends[node].push_back(value);
  return ends;
}

std::string largest_value(const Graph& graph) {
  const Value* largest = &graph.values.front();
  for (const Value& value : graph.values) {
    if (running_bytes(value) > running_bytes(*largest)) largest = &value;
  }
  return "'" + largest->name + "' of " + text_of(largest->type.shape);
}

GraphCost cost_of(const Graph& graph) {
  GraphCost cost;
  const std::vector<std::vector<int>> ends = values_that_end(graph, all_nodes(graph));
  std::int64_t live = 0;
  for (const GraphInput& input : graph.inputs) live += running_bytes(graph.value(input.value));
  for (const Value& value : graph.values) {
    if (value.constant) cost.weight_bytes += bytes_of(value.constant->type());
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    cost.multiply_adds = std::min(cost.multiply_adds + multiply_adds_of(graph, graph.nodes[i]), kMostCounted);
    for (const int output : graph.nodes[i].outputs)
      live += output == kAbsent ? 0 : running_bytes(graph.value(output));
    cost.peak_bytes = std::max(cost.peak_bytes, live);
    for (const int value : ends[i]) live -= running_bytes(graph.value(value));
  }
  return cost;
}

const Node* maker_of(const Graph& graph, int value) {
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.outputs, value) != node.outputs.end()) return &node;
  }
  return nullptr;
}

}  // namespace sightline::network
