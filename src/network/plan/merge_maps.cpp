#include "network/plan/merge_maps.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

// Adds the nodes of an expression to another one. @param operands  nodes that stand for its operands
std::vector<int> add_nodes(Expression& to, const Expression& from, const std::vector<int>& operands) {
  std::vector<int> nodes;
  for (const Expression::Node& one : from.nodes()) {
    const auto argument = [&](std::size_t i) { return nodes[static_cast<std::size_t>(one.arguments[i])]; };
    switch (one.function) {
      case Function::operand:
        nodes.push_back(operands[static_cast<std::size_t>(one.arguments[0])]);
        continue;
      case Function::constant:
        nodes.push_back(to.constant(one.constant));
        continue;
      case Function::cast:
        nodes.push_back(to.cast(argument(0), one.type));
        continue;
      case Function::select:
        nodes.push_back(to.select(argument(0), argument(1), argument(2)));
        continue;
      default:
        break;
    }
    std::vector<int> arguments;
    for (std::size_t i = 0; i < arguments_of(one.function); ++i) arguments.push_back(argument(i));
    nodes.push_back(to.call(one.function, arguments));
  }
  return nodes;
}

std::size_t place_in(std::vector<int>& inputs, int tensor) {
  const auto found = std::ranges::find(inputs, tensor);
  if (found != inputs.end()) return static_cast<std::size_t>(found - inputs.begin());
  inputs.push_back(tensor);
  return inputs.size() - 1;
}

}  // namespace

void merge_map(GraphNode& reader, int operand_tensor, const GraphNode& maker) {
  const Expression outer = std::get<Map>(reader.primitive).expression,
                   inner = std::get<Map>(maker.primitive).expression;
  std::vector<int> inputs;
  std::vector<DataType> types;
  const auto add_inputs = [&](const GraphNode& node, const Expression& expression, int without) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != without && place_in(inputs, node.inputs[i]) == types.size())
        types.push_back(expression.operands()[i]);
    }
  };
  add_inputs(reader, outer, operand_tensor);
  add_inputs(maker, inner, kNone);
  Expression both(types);
  std::vector<int> operands;
  for (const int input : maker.inputs) operands.push_back(both.operand(place_in(inputs, input)));
  const int result = add_nodes(both, inner, operands)[static_cast<std::size_t>(inner.results().front())];
  operands.clear();
  for (const int input : reader.inputs)
    operands.push_back(input == operand_tensor ? result : both.operand(place_in(inputs, input)));
  const std::vector<int> nodes = add_nodes(both, outer, operands);
  for (const int one : outer.results()) both.add_result(nodes[static_cast<std::size_t>(one)]);
  reader.primitive = Map{both};
  reader.inputs = inputs;
}

}  // namespace sightline::nn
