#include "network/plan/finish.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

using Node = Expression::Node;
using Kind = Activation::Kind;

class FinishFinder {
 public:
  FinishFinder(const Graph& graph, const GraphNode& map, int sums)
      : graph_(graph), map_(map), expression_(std::get<Map>(map.primitive).expression), sums_(sums) {}

  std::optional<SumFinish> find() const {
    const bool is_real =
        std::ranges::all_of(expression_.nodes(), [](const Node& one) { return one.type == DataType::f32; });
    if (!is_real || expression_.results().size() != 1) return {};
    const int result = expression_.results().front();
    if (const auto whole = activation(result, [&](int x) { return is_sums(x); }))
      return SumFinish{{*whole, false}, kNone};
    int added = kNone;
    const auto is_sum = [&](int x) {
      return (added = added_to(x, [&](int y) { return is_sums(y); })) != kNone;
    };
    if (const auto after = activation(result, is_sum)) return SumFinish{{*after, true}, added};
    std::optional<Activation> before;
    added = added_to(result, [&](int x) {
      return (before = activation(x, [&](int y) { return is_sums(y); })).has_value();
    });
    return added == kNone ? std::nullopt : std::optional(SumFinish{{*before, false}, added});
  }

 private:
  const Node& at(int node) const { return expression_.nodes()[static_cast<std::size_t>(node)]; }
  int tensor_of(int node) const {
    return at(node).function == Function::operand
               ? map_.inputs[static_cast<std::size_t>(at(node).arguments[0])]
               : kNone;
  }
  bool is_sums(int node) const { return tensor_of(node) == sums_; }

  // The operand that is added to a node for which `is_other` holds.
  template <typename IsOther>
  int added_to(int node, const IsOther& is_other) const {
    if (at(node).function != Function::add) return kNone;
    const auto [a, b, none] = at(node).arguments;
    if (tensor_of(b) != kNone && !is_sums(b) && is_other(a)) return tensor_of(b);
    return tensor_of(a) != kNone && !is_sums(a) && is_other(b) ? tensor_of(a) : kNone;
  }

  // The activation that a node is of a node for which `is_argument` holds.
  template <typename IsArgument>
  std::optional<Activation> activation(int node, const IsArgument& is_argument) const {
    const auto [x, second, third] = at(node).arguments;
    const auto number = [&](int one) { return *constant(one); };
    const auto are_constant = [&](auto... all) { return (constant(all).has_value() && ...); };
    if (const auto scaled = scaled_activation(node, is_argument)) return scaled;
    std::optional<Activation> found;
    switch (at(node).function) {
      case Function::relu:
        found = Activation{Kind::relu};
        break;
      case Function::sigmoid:
        found = Activation{Kind::sigmoid};
        break;
      case Function::hard_swish:
        found = Activation{Kind::hard_swish};
        break;
      case Function::leaky_relu:
        if (are_constant(second)) found = Activation{Kind::leaky_relu, number(second)};
        break;
      case Function::clip:
        if (are_constant(second, third)) found = Activation{Kind::clip, number(second), number(third)};
        break;
      case Function::hard_sigmoid:
        if (are_constant(second, third))
          found = Activation{Kind::hard_sigmoid, number(second), number(third)};
        break;
      case Function::swish:
        if (are_constant(second) && number(second) == 1) found = Activation{Kind::silu};
        break;
      case Function::multiply:
        if (is_sigmoid_of(second, x) && is_argument(x)) return Activation{Kind::silu};
        if (is_sigmoid_of(x, second) && is_argument(second)) return Activation{Kind::silu};
        break;
      default:
        break;
    }
    return found && is_argument(x) ? found : std::nullopt;
  }
  // The value of a node that is one number.
  std::optional<float> constant(int node) const {
    if (at(node).function == Function::constant) return at(node).constant.as<float>();
    const Tensor* const value = tensor_of(node) == kNone ? nullptr : graph_.constant(tensor_of(node));
    return value && elements_of(value->shape()) == 1 ? std::optional(value->as<float>()[0]) : std::nullopt;
  }
  // Takes off the operation of a node on a number, and returns that number.
  std::optional<float> take_number(Function function, int& node) const {
    if (at(node).function != function) return {};
    const auto [x, y, none] = at(node).arguments;
    const std::optional<float> first = constant(x), second = constant(y);
    if (first.has_value() == second.has_value()) return {};
    node = first ? y : x;
    return first ? first : second;
  }
  // x * a + b or relu(x) * a + b. Adding -0 and multiplying by 1 change nothing.
  template <typename IsArgument>
  std::optional<Activation> scaled_activation(int node, const IsArgument& is_argument) const {
    const std::optional<float> added = take_number(Function::add, node),
                               factor = take_number(Function::multiply, node);
    if (!added && !factor) return {};
    const bool is_relu = at(node).function == Function::relu;
    if (!is_argument(is_relu ? at(node).arguments[0] : node)) return {};
    return Activation{is_relu ? Kind::scaled_relu : Kind::scaled, factor.value_or(1), added.value_or(-0.0F)};
  }
  bool is_sigmoid_of(int node, int x) const {
    return at(node).function == Function::sigmoid && at(node).arguments[0] == x;
  }

  const Graph& graph_;
  const GraphNode& map_;
  const Expression& expression_;
  int sums_;
};

}  // namespace

std::optional<SumFinish> finish_of(const Graph& graph, const GraphNode& map, int sums) {
  auto found = FinishFinder(graph, map, sums).find();
  const int added = found ? found->added : kNone;
  const bool adds_all = added == kNone || (!graph.constant(added) && graph.shape(added) == graph.shape(sums));
  return adds_all ? found : std::nullopt;
}

}  // namespace sightline::nn
