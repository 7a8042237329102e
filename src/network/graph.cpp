#include "network/graph.hpp"

#include <algorithm>
#include <utility>

#include "network/strided.hpp"

namespace sightline::nn {

int Graph::add_tensor(GraphTensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<int>(tensors_.size()) - 1;
}

int Graph::add_input(std::string name, TensorType type) {
  inputs_.push_back(add_tensor({std::move(name), std::move(type), nullptr, kNone}));
  return inputs_.back();
}

int Graph::add_constant(std::string name, std::shared_ptr<const Tensor> value) {
  TensorType type = value->type();
  return add_tensor({std::move(name), std::move(type), std::move(value), kNone});
}

int Graph::add_constant(std::string name, Tensor value) {
  return add_constant(std::move(name), std::make_shared<const Tensor>(std::move(value)));
}

std::vector<int> Graph::add(std::string name, Primitive primitive, std::vector<int> inputs) {
  Types types;
  for (const int input : inputs) types.push_back(type(input));
  GraphNode node{std::move(name), std::move(primitive), std::move(inputs), {}};
  try {
    types = infer(node.primitive, types);
  } catch (const Problem& problem) {
    throw Problem("node " + node.name + " " + problem.what());
  }
  for (TensorType& made : types) {
    const std::string number = types.size() > 1 ? " " + std::to_string(node.outputs.size() + 1) : "";
    node.outputs.push_back(
        add_tensor({node.name + number, std::move(made), nullptr, static_cast<int>(nodes_.size())}));
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

int Graph::add_single(std::string name, Primitive primitive, std::vector<int> inputs) {
  return add(std::move(name), std::move(primitive), std::move(inputs)).front();
}

std::vector<std::vector<int>> readers_of(const Graph& graph) {
  std::vector<std::vector<int>> readers(graph.tensors().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    for (const int input : graph.nodes()[n].inputs) {
      std::vector<int>& all = readers[static_cast<std::size_t>(input)];
      if (all.empty() || all.back() != static_cast<int>(n)) all.push_back(static_cast<int>(n));
    }
  }
  return readers;
}

std::vector<int> needed_nodes(const Graph& graph) {
  std::vector<bool> is_needed(graph.nodes().size(), false);
  const auto need = [&](int tensor) {
    if (graph.tensor(tensor).maker != kNone)
      is_needed[static_cast<std::size_t>(graph.tensor(tensor).maker)] = true;
  };
  std::ranges::for_each(graph.outputs(), need);
  std::vector<int> nodes;
  for (std::size_t n = graph.nodes().size(); n-- > 0;) {
    if (!is_needed[n]) continue;
    std::ranges::for_each(graph.nodes()[n].inputs, need);
    nodes.push_back(static_cast<int>(n));
  }
  std::ranges::reverse(nodes);
  return nodes;
}

std::vector<std::vector<int>> tensors_that_end(const Graph& graph, std::span<const int> nodes) {
  std::vector<int> last(graph.tensors().size(), kNone);  // the node's place in the list, by tensor
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = graph.node(nodes[i]);
    for (const std::vector<int>* const list : {&node.inputs, &node.outputs}) {
      for (const int tensor : *list) last[static_cast<std::size_t>(tensor)] = static_cast<int>(i);
    }
  }
  for (const int output : graph.outputs()) last[static_cast<std::size_t>(output)] = kNone;
  std::vector<std::vector<int>> ends(nodes.size());
  for (std::size_t t = 0; t < last.size(); ++t) {
    if (last[t] != kNone && !graph.tensors()[t].constant)
      ends[static_cast<std::size_t>(last[t])].push_back(static_cast<int>(t));
  }
  return ends;
}

std::string largest_tensor(const Graph& graph) {
  const auto bytes = [](const GraphTensor& tensor) {
    return tensor.constant || !is_known(tensor.type.shape) ? 0 : bytes_of(tensor.type);
  };
  const auto largest = std::ranges::max_element(graph.tensors(), {}, bytes);
  return "'" + largest->name + "' of " + text_of(largest->type.shape);
}

std::int64_t multiply_adds_of(const Graph& graph, const GraphNode& node) {
  if (!is_known(graph.shape(node.outputs[0]))) return 0;
  const std::int64_t elements = elements_of(graph.shape(node.outputs[0]));
  if (std::holds_alternative<Product>(node.primitive)) return elements * graph.shape(node.inputs[0]).back();
  if (!std::holds_alternative<Convolve>(node.primitive)) return 0;
  const Shape& weights = graph.shape(node.inputs[1]);
  return elements * elements_between(weights, 1, weights.size());
}

std::string text_of(const Graph& graph) {
  const auto list = [](const std::vector<int>& tensors) {
    std::string text;
    for (const int tensor : tensors) text += (text.empty() ? "t" : ", t") + std::to_string(tensor);
    return text;
  };
  std::string text;
  for (const GraphNode& node : graph.nodes()) {
    const auto* const map = std::get_if<Map>(&node.primitive);
    text += list(node.outputs) + " = " + std::string(name_of(node.primitive)) +
            (map ? " " + text_of(map->expression) : "") + "(" + list(node.inputs) + "):";
    for (const int output : node.outputs) text += " " + text_of(graph.type(output));
    text += "  " + node.name + "\n";
  }
  return text;
}

}  // namespace sightline::nn
