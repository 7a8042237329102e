#include "network/constant_folder.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

constexpr std::int64_t kMostWork = std::int64_t{1} << 60;

std::int64_t elements_if_known(const Shape& shape) {
  return is_known(shape) ? elements_of(shape) : 0;
}

// Steps for each element of the first output, beside reading and writing.
std::int64_t steps_of(const Graph& graph, const GraphNode& node) {
  const auto shape = [&](std::size_t i) { return graph.shape(node.inputs[i]); };
  if (std::holds_alternative<Convolve>(node.primitive)) {
    const Shape weights = shape(1);
    return weights[1] * weights[2] * weights[3];
  }
  if (std::holds_alternative<Product>(node.primitive)) return std::max<std::int64_t>(0, shape(0).back());
  if (const auto* const fold = std::get_if<WindowFold>(&node.primitive))
    return std::min(fold->window.kernel[0], kMaxElements) * std::min(fold->window.kernel[1], kMaxElements);
  if (const auto* const map = std::get_if<Map>(&node.primitive))
    return static_cast<std::int64_t>(map->expression.nodes().size());
  return 1;
}

}  // namespace

std::int64_t work_of(const Graph& graph, const GraphNode& node) {
  std::int64_t read = 0, work = 0;
  for (const int input : node.inputs) read += elements_if_known(graph.shape(input));
  for (const int output : node.outputs) work += elements_if_known(graph.shape(output));
  // Boxes are compared with all others of their class; a sort takes 32 steps an element at most.
  std::int64_t steps = steps_of(graph, node), per_input = 1;
  if (std::holds_alternative<Suppress>(node.primitive))
    per_input = std::max<std::int64_t>(1, graph.shape(node.inputs[1]).back());
  if (std::holds_alternative<TopK>(node.primitive)) per_input = 32;
  work += std::min(work, kMostWork / std::max<std::int64_t>(1, steps)) * steps;
  return std::min(work + std::min(read, kMostWork / per_input) * per_input, kMostWork);
}

std::vector<int> ConstantFolder::add(std::string name, Primitive primitive, std::vector<int> inputs) {
  if (const auto* const dimension = std::get_if<Dimension>(&primitive)) {
    const Shape& shape = graph_.shape(inputs.at(0));
    if (dimension->axis < shape.size() && shape[dimension->axis] != kUnknown)
      return {graph_.add_constant(std::move(name), Tensor::scalar(shape[dimension->axis]))};
  }
  const auto is_constant = [&](int input) { return graph_.constant(input) != nullptr; };
  const bool folds = std::ranges::all_of(inputs, is_constant);
  return folds ? add_folded(std::move(name), std::move(primitive), std::move(inputs))
               : graph_.add(std::move(name), std::move(primitive), std::move(inputs));
}

int ConstantFolder::add_single(std::string name, Primitive primitive, std::vector<int> inputs) {
  return add(std::move(name), std::move(primitive), std::move(inputs)).front();
}

std::vector<int> ConstantFolder::add_folded(std::string name, Primitive primitive, std::vector<int> inputs) {
  Graph alone;  // which infers the types
  std::vector<const Tensor*> values;
  GraphNode node{name, primitive, {}, {}};
  for (const int input : inputs) {
    values.push_back(graph_.constant(input));
    node.inputs.push_back(alone.add_constant("", graph_.tensor(input).constant));
  }
  node.outputs = alone.add(name, primitive, node.inputs);
  std::int64_t bytes = 0;
  for (const int output : node.outputs)
    bytes +=
        elements_if_known(alone.shape(output)) * static_cast<std::int64_t>(bytes_of(alone.type(output).data));
  const std::int64_t work = work_of(alone, node);
  if (work > work_ || bytes > memory_)
    return graph_.add(std::move(name), std::move(primitive), std::move(inputs));
  work_ -= work;
  std::vector<int> outputs;
  try {
    for (Tensor& value : evaluate(primitive, values)) {
      memory_ -= bytes_of(value.type());
      outputs.push_back(graph_.add_constant(name, std::move(value)));
    }
  } catch (const Problem& problem) {
    throw Problem("node " + name + " " + problem.what());
  }
  return outputs;
}

}  // namespace sightline::nn
