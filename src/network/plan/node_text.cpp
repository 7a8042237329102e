#include "network/plan/node_text.hpp"

#include <fmt/format.h>

namespace sightline::nn {
namespace {

std::string sides_text(const Pair& sides) {
  return fmt::format("{}x{}", sides[0], sides[1]);
}

std::string window_text(const Window& window) {
  const bool has_step = window.step != Pair{1, 1};
  return sides_text(window.kernel) + (has_step ? " by " + sides_text(window.step) : "");
}

std::string convolution_text(const Convolve& convolve, const Shape& weights) {
  const std::string window = window_text(convolve.window);
  if (convolve.groups == 1) return fmt::format("convolve {}, {} to {}", window, weights[1], weights[0]);
  if (weights[1] == 1) return fmt::format("depthwise {}, {}", window, weights[0]);
  return fmt::format("convolve {}, {} groups of {}", window, convolve.groups, weights[1]);
}

std::string expression_text(const Expression& expression) {
  std::string first;
  int functions = 0;
  for (const Expression::Node& node : expression.nodes()) {
    if (node.function == Function::operand || node.function == Function::constant) continue;
    if (functions++ == 0) first = name_of(node.function);
  }
  return functions == 1 ? first : fmt::format("map of {} functions", functions);
}

std::string fold_text(const Reduce& reduce) {
  constexpr std::string_view kNames[] = {"sum", "product", "minimum", "maximum"};
  std::string axes;
  for (const std::size_t axis : reduce.axes) axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
  return fmt::format("{} over {} {}", kNames[static_cast<std::size_t>(reduce.fold)],
                     reduce.axes.size() == 1 ? "axis" : "axes", axes);
}

}  // namespace

std::string text_of(const Graph& graph, const GraphNode& node) {
  if (const auto* convolve = std::get_if<Convolve>(&node.primitive))
    return convolution_text(*convolve, graph.shape(node.inputs[1]));
  if (const auto* map = std::get_if<Map>(&node.primitive)) return expression_text(map->expression);
  if (const auto* fold = std::get_if<WindowFold>(&node.primitive))
    return (fold->fold == Fold::sum ? "sum of " : "pool ") + window_text(fold->window);
  if (const auto* reduce = std::get_if<Reduce>(&node.primitive)) return fold_text(*reduce);
  return std::string(name_of(node.primitive));
}

}  // namespace sightline::nn
