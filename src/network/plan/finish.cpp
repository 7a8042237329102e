#include "network/plan/finish.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

using Node = Expression::Node;
using Kind = Activation::Kind;

class FinishFinder {
 public:
  FinishFinder(const GraphNode& map, int sums)
      : map_(map), expression_(std::get<Map>(map.primitive).expression), sums_(sums) {}

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
    const auto number = [&](int one) { return at(one).constant.as<float>(); };
    const auto are_constant = [&](auto... all) { return ((at(all).function == Function::constant) && ...); };
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
  bool is_sigmoid_of(int node, int x) const {
    return at(node).function == Function::sigmoid && at(node).arguments[0] == x;
  }

  const GraphNode& map_;
  const Expression& expression_;
  int sums_;
};

}  // namespace

std::optional<SumFinish> finish_of(const GraphNode& map, int sums) {
  return FinishFinder(map, sums).find();
}

}  // namespace sightline::nn
