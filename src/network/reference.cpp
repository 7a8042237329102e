#include "network/reference.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

class ReferenceRun {
 public:
  ReferenceRun(const Graph& graph, std::int64_t limit)
      : graph_(graph), limit_(limit), values_(graph.tensors().size()) {}

  std::vector<Tensor> outputs(Inputs inputs) {
    inputs_.assign(graph_.tensors().size(), nullptr);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      inputs_[static_cast<std::size_t>(graph_.inputs()[i])] = inputs[i];
    const std::vector<int> nodes = needed_nodes(graph_);
    const std::vector<std::vector<int>> ends = tensors_that_end(graph_, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      run(graph_.node(nodes[i]));
      for (const int tensor : ends[i]) free(tensor);
    }
    std::vector<Tensor> results;
    for (const int output : graph_.outputs()) results.push_back(value(output));
    return results;
  }

 private:
  void run(const GraphNode& node) {
    std::vector<const Tensor*> inputs;
    for (const int input : node.inputs) inputs.push_back(&value(input));
    try {
      std::vector<Tensor> made = evaluate(node.primitive, inputs);
      for (std::size_t i = 0; i < made.size(); ++i) {
        live_ += bytes_of(made[i].type());
        values_[static_cast<std::size_t>(node.outputs[i])] = std::move(made[i]);
      }
      if (live_ > limit_)
        throw Problem("needs more memory than the limit of " + std::to_string(limit_ >> 20) + " MiB");
    } catch (const Problem& problem) {
      throw node_failure(node, problem);
    }
  }

  const Tensor& value(int tensor) const {
    const auto number = static_cast<std::size_t>(tensor);
    const Tensor* const constant = graph_.constant(tensor);
    return constant ? *constant : inputs_[number] ? *inputs_[number] : values_[number];
  }
  void free(int tensor) {
    Tensor& made = values_[static_cast<std::size_t>(tensor)];
    live_ -= bytes_of(made.type());
    made = Tensor();
  }

  const Graph& graph_;
  const std::int64_t limit_;
  std::int64_t live_ = 0;
  std::vector<const Tensor*> inputs_;  ///< by tensor; null for others
  std::vector<Tensor> values_;
};

}  // namespace

Error node_failure(const GraphNode& node, const Problem& problem) {
  return {ExitCode::failed, "the network's node " + node.name + " " + problem.what()};
}

std::vector<Tensor> run_reference(const Graph& graph, Inputs inputs, std::int64_t memory_limit) {
  const auto fits = [&](int tensor, const Tensor* value) { return value->type() == graph.type(tensor); };
  if (!std::ranges::equal(graph.inputs(), inputs, fits))
    throw std::logic_error("a graph runs with inputs of other types");
  return ReferenceRun(graph, memory_limit).outputs(inputs);
}

}  // namespace sightline::nn
