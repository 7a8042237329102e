#include "detectors/network/interpreter.hpp"

#include <algorithm>
#include <set>

#include "detectors/network/operators.hpp"

namespace sightline::network {
namespace {

// Runs a node. `live` are the bytes of all values that are needed.
void run_one(const Graph& graph, const Node& node, std::int64_t limit, std::int64_t& live,
             std::vector<Tensor>& values) {
  const Call call = call_of(graph, node, values);
  const std::vector<TensorType> types = node.code->infer(call);
  for (const TensorType& type : types) live += bytes_of(type);
  if (live > limit)
    throw Problem("needs more memory than the limit of " + std::to_string(limit >> 20) + " MiB");
  std::vector<Tensor> outputs(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) outputs[i].allocate(types[i]);
  node.code->run(call, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i < node.outputs.size() && node.outputs[i] != kAbsent) {
      values[static_cast<std::size_t>(node.outputs[i])] = std::move(outputs[i]);
    } else {
      live -= bytes_of(types[i]);
    }
  }
}

}  // namespace

NodeSequence::NodeSequence(const Graph& graph, std::vector<const Node*> nodes, std::int64_t memory_limit)
    : graph_(graph), nodes_(std::move(nodes)), limit_(memory_limit), ends_(values_that_end(graph, nodes_)) {
  std::set<int> made;
  for (const Node* const node : nodes_) made.insert(node->outputs.begin(), node->outputs.end());
  for (std::vector<int>& all : ends_) std::erase_if(all, [&](int value) { return !made.contains(value); });
}

void NodeSequence::run(std::vector<Tensor>& values) const {
  std::int64_t live = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    try {
      run_one(graph_, *nodes_[i], limit_, live, values);
    } catch (const Problem& problem) {
      throw node_error(*nodes_[i], problem);
    }
    for (const int value : ends_[i]) {
      Tensor& tensor = values[static_cast<std::size_t>(value)];
      if (tensor.has_data()) live -= bytes_of(tensor.type());
      tensor = Tensor();
    }
  }
}

std::int64_t limit_of_frame(std::int64_t known_bytes, std::int64_t memory_limit) {
  constexpr int kParts = 4;  // of the limit
  return std::max(known_bytes, memory_limit / kParts);
}

Interpreter::Interpreter(const Graph& graph, std::int64_t memory_limit)
    : graph_(graph), nodes_(graph, all_nodes(graph), memory_limit), values_(graph.values.size()) {
  for (const GraphInput& input : graph.inputs)
    values_[static_cast<std::size_t>(input.value)].allocate(input.type);
}

const Tensor& Interpreter::output(std::size_t i) {
  const SharedTensor& constant = graph_.value(graph_.outputs[i]).constant;
  return constant ? *constant : values_[static_cast<std::size_t>(graph_.outputs[i])];
}

}  // namespace sightline::network
