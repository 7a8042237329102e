#include "network/plan/find_softmax.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

using Node = Expression::Node;

class SoftmaxFinder {
 public:
  SoftmaxFinder(const Graph& graph, const std::vector<std::vector<int>>& readers)
      : graph_(graph), readers_(readers) {}

  std::optional<SoftmaxNodes> find(int last) const {
    const auto quotient = operands_of(last, Function::divide);
    if (!quotient) return {};
    const auto [powers, sum] = *quotient;
    const int power_maker = graph_.tensor(powers).maker, sum_maker = graph_.tensor(sum).maker;
    const auto difference = operands_of(power_maker, Function::subtract);
    if (!difference) return {};
    const auto [x, largest] = *difference;
    const int largest_maker = graph_.tensor(largest).maker;
    const auto axis = folded_axis(sum_maker, Fold::sum, powers);
    if (!axis || axis != folded_axis(largest_maker, Fold::maximum, x)) return {};
    std::vector<int> both{sum_maker, last};
    std::ranges::sort(both);
    const bool is_read_alone = are_readers(largest, {power_maker}) && are_readers(sum, {last}) &&
                               are_readers(powers, both) && graph_.shape(x) == graph_.shape(powers);
    return is_read_alone ? std::optional(SoftmaxNodes{x, *axis, {largest_maker, power_maker, sum_maker}})
                         : std::nullopt;
  }

 private:
  // The operands a and b of a Map that is a / b, or exp(a - b).
  std::optional<std::pair<int, int>> operands_of(int node, Function function) const {
    const auto* const map = node == kNone ? nullptr : std::get_if<Map>(&graph_.node(node).primitive);
    if (!map || map->expression.results().size() != 1) return {};
    const auto at = [&](int number) { return map->expression.nodes()[static_cast<std::size_t>(number)]; };
    Node root = at(map->expression.results().front());
    if (function == Function::subtract) {
      if (root.function != Function::exponential) return {};
      root = at(root.arguments[0]);
    }
    if (root.function != function || root.type != DataType::f32) return {};
    const Node a = at(root.arguments[0]), b = at(root.arguments[1]);
    if (a.function != Function::operand || b.function != Function::operand) return {};
    const std::vector<int>& inputs = graph_.node(node).inputs;
    return std::pair(inputs[static_cast<std::size_t>(a.arguments[0])],
                     inputs[static_cast<std::size_t>(b.arguments[0])]);
  }
  std::optional<std::size_t> folded_axis(int node, Fold fold, int of) const {
    const auto* const reduce = node == kNone ? nullptr : std::get_if<Reduce>(&graph_.node(node).primitive);
    const bool fits =
        reduce && reduce->fold == fold && reduce->axes.size() == 1 && graph_.node(node).inputs[0] == of;
    return fits ? std::optional(reduce->axes[0]) : std::nullopt;
  }
  bool are_readers(int tensor, const std::vector<int>& nodes) const {
    return readers_[static_cast<std::size_t>(tensor)] == nodes && !graph_.is_output(tensor);
  }

  const Graph& graph_;
  const std::vector<std::vector<int>>& readers_;
};

}  // namespace

std::optional<SoftmaxNodes> softmax_before(const Graph& graph, const std::vector<std::vector<int>>& readers,
                                           int map) {
  return SoftmaxFinder(graph, readers).find(map);
}

}  // namespace sightline::nn
