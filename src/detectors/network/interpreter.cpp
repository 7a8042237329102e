#include "detectors/network/interpreter.hpp"

#include <algorithm>

#include "detectors/network/operators.hpp"

namespace sightline::network {

Interpreter::Interpreter(const Graph& graph, std::int64_t memory_limit)
    : graph_(graph), limit_(memory_limit), ends_(values_that_end(graph)), values_(graph.values.size()) {
  for (const GraphInput& input : graph.inputs) {
    values_[static_cast<std::size_t>(input.value)].allocate(input.type);
    for (auto& all : ends_) std::erase(all, input.value);  // they stay
  }
}

void Interpreter::run(std::size_t /*segment*/, WorkMeter* /*meter*/) {
  live_bytes_ = 0;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    try {
      run_one(node);
    } catch (const Problem& problem) {
      throw node_error(node, problem);
    }
    for (const int value : ends_[i]) {
      Tensor& tensor = values_[static_cast<std::size_t>(value)];
      if (tensor.has_data()) live_bytes_ -= bytes_of(tensor.type());
      tensor = Tensor();
    }
  }
}

void Interpreter::run_one(const Node& node) {
  const Call call = call_of(graph_, node, values_);
  std::vector<TensorType> types = node.code->infer(call);
  for (const TensorType& type : types) live_bytes_ += bytes_of(type);
  if (live_bytes_ > limit_)
    throw Problem("needs more memory than the limit of " + std::to_string(limit_ >> 20) + " MiB");
  std::vector<Tensor> outputs(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) outputs[i].allocate(types[i]);
  node.code->run(call, outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i < node.outputs.size() && node.outputs[i] != kAbsent) {
      values_[static_cast<std::size_t>(node.outputs[i])] = std::move(outputs[i]);
    } else {
      live_bytes_ -= bytes_of(types[i]);
    }
  }
}

const Tensor& Interpreter::output(std::size_t i) {
  const SharedTensor& constant = graph_.value(graph_.outputs[i]).constant;
  return constant ? *constant : values_[static_cast<std::size_t>(graph_.outputs[i])];
}

}  // namespace sightline::network
