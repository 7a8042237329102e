#include "onnx/lowering.hpp"

#include <algorithm>
#include <numeric>

namespace sightline::nn {
namespace {

// Whether a node would give its first input again.
bool is_copy(const Primitive& primitive, const Shape& from, std::size_t inputs, const Shape& to) {
  if (const auto* const map = std::get_if<Map>(&primitive)) {
    const Expression& expression = map->expression;
    const auto result = static_cast<std::size_t>(expression.results()[0]);
    return inputs == 1 && expression.results().size() == 1 &&
           expression.nodes()[result].function == Function::operand;
  }
  if (const auto* const transpose = std::get_if<Transpose>(&primitive))
    return std::ranges::is_sorted(transpose->order);
  if (std::holds_alternative<Concat>(primitive)) return inputs == 1;
  if (!is_known(from) || from != to) return false;
  if (const auto* const slice = std::get_if<Slice>(&primitive))
    return std::ranges::all_of(slice->step, [](std::int64_t step) { return step == 1; });
  return std::holds_alternative<Reshape>(primitive) || std::holds_alternative<Expand>(primitive) ||
         std::holds_alternative<Pad>(primitive);
}

}  // namespace

// --- terms

int Term::node_like(const Term& typed) const {
  if (expression_) return node_;
  const Scalar value =
      with_type(typed.type(), [&]<typename T>() -> Scalar { return static_cast<T>(number_); });
  return typed.expression_->constant(value);
}

Term Term::call(Function function, const std::vector<Term>& arguments) {
  const Term& typed =
      *std::ranges::find_if(arguments, [](const Term& one) { return one.expression_ != nullptr; });
  std::vector<int> nodes;
  for (const Term& one : arguments) nodes.push_back(one.node_like(typed));
  Expression& expression = *typed.expression_;
  return {expression, expression.call(function, nodes)};
}

Term Term::select(const Term& condition, const Term& a, const Term& b) {
  const Term& typed = a.expression_ ? a : b;
  Expression& expression = *condition.expression_;
  return {expression, expression.select(condition.node_, a.node_like(typed), b.node_like(typed))};
}

// --- inputs and attributes of a node

int Lowering::opset() const {
  return import_.opset;
}
int Lowering::in(std::size_t i) const {
  if (!has(i)) throw Problem("input " + std::to_string(i + 1) + " is missing");
  return inputs_[i];
}
const std::vector<int>& Lowering::inputs() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) in(i);
  return inputs_;
}
Shape Lowering::shape(int tensor) const {
  return import_.graph.shape(tensor);
}
DataType Lowering::data(int tensor) const {
  return import_.graph.type(tensor).data;
}
Shape Lowering::known_shape(int tensor) const {
  if (!is_known(shape(tensor)))
    throw Problem("has inputs whose sizes are not known when the network is loaded, which is not supported");
  return shape(tensor);
}
std::int64_t Lowering::length(int vector) const {
  const Shape sides = known_shape(vector);
  if (sides.size() != 1) throw Problem("needs a vector, not " + text_of(sides));
  return sides[0];
}
const Tensor* Lowering::constant(int tensor) const {
  return import_.graph.constant(tensor);
}
const Tensor& Lowering::known(std::size_t i) const {
  if (const Tensor* const value = constant(in(i))) return *value;
  throw Problem("has an input " + std::to_string(i + 1) +
                " that is not known when the network is loaded, which is not supported");
}

std::vector<std::int64_t> Lowering::integers(std::size_t i, std::string_view attribute) const {
  constexpr std::size_t kMost = 1024;  // of a list of axes, pads or sides
  std::vector<std::int64_t> list = has(i) ? known(i).integers() : node.integers(attribute);
  if (list.size() > kMost) throw Problem("has a list of " + std::to_string(list.size()) + " numbers");
  return list;
}

std::string Lowering::choice(std::string_view attribute, std::string_view fallback,
                             std::initializer_list<std::string_view> known) const {
  std::string value = node.text(attribute, fallback);
  if (std::ranges::find(known, value) == known.end())
    throw Problem("has the " + std::string(attribute) + " '" + value + "', which is not supported");
  return value;
}

std::size_t Lowering::axis(std::int64_t number, std::size_t rank) {
  const auto sides = static_cast<std::int64_t>(rank);
  if (number < -sides || number >= sides)
    throw Problem("axis " + std::to_string(number) + " of a tensor of " + std::to_string(rank) +
                  " dimensions");
  return static_cast<std::size_t>(number < 0 ? number + sides : number);
}

Axes Lowering::axes_from(std::size_t first, std::size_t rank) {
  Axes axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// --- adding primitives

std::vector<int> Lowering::add_all(Primitive primitive, std::vector<int> tensors) {
  constexpr std::size_t kMostNodes = 200'000;
  if (import_.graph.nodes().size() > kMostNodes) throw Problem("consists of too many nodes");
  if (!tensors.empty()) {
    Types types;
    for (const int tensor : tensors) types.push_back(import_.graph.type(tensor));
    if (is_copy(primitive, types[0].shape, tensors.size(), infer(primitive, types)[0].shape))
      return {tensors[0]};
  }
  return import_.folder.add(node.title(), std::move(primitive), std::move(tensors));
}

int Lowering::add(Primitive primitive, std::vector<int> tensors) {
  return add_all(std::move(primitive), std::move(tensors)).front();
}

int Lowering::constant(SharedTensor tensor) {
  return import_.graph.add_constant(node.title(), std::move(tensor));
}

std::vector<int> Lowering::map_all(const std::vector<int>& tensors,
                                   const std::function<std::vector<Term>(const std::vector<Term>&)>& f) {
  // Constants of one element that do not matter for the shape.
  std::size_t rank_of_others = 0;
  bool has_others = false;
  const auto is_single = [&](int tensor) { return constant(tensor) && constant(tensor)->size() == 1; };
  for (const int tensor : tensors) {
    if (is_single(tensor)) continue;
    has_others = true;
    rank_of_others = std::max(rank_of_others, rank(tensor));
  }
  const auto is_part = [&](int tensor) {
    return has_others && is_single(tensor) && rank(tensor) <= rank_of_others;
  };
  std::vector<int> operands;
  std::vector<DataType> types;
  for (const int tensor : tensors) {
    if (is_part(tensor)) continue;
    operands.push_back(tensor);
    types.push_back(data(tensor));
  }
  Expression expression(types);
  std::vector<Term> terms;
  std::size_t next = 0;
  for (const int tensor : tensors) {
    if (is_part(tensor)) {
      const Scalar value =
          with_type(data(tensor), [&]<typename T>() -> Scalar { return constant(tensor)->as<T>()[0]; });
      terms.emplace_back(expression, expression.constant(value));
    } else {
      terms.emplace_back(expression, expression.operand(next++));
    }
  }
  for (const Term& result : f(terms)) expression.add_result(result.node());
  return add_all(Map{std::move(expression)}, operands);
}

int Lowering::map(Function function, const std::vector<int>& tensors, std::initializer_list<float> numbers) {
  const auto call = [&](const std::vector<Term>& x) {
    std::vector<Term> all = x;
    all.insert(all.end(), numbers.begin(), numbers.end());
    return std::vector{Term::call(function, all)};
  };
  return map_all(tensors, call).front();
}

int Lowering::cast(int x, DataType type) {
  return map([=](const Term& one) { return one.cast(type); }, x);
}

int Lowering::slice(int x, std::size_t axis, std::int64_t first, std::int64_t count, std::int64_t step) {
  const std::size_t all = rank(x);
  Slice part{Shape(all, 0), Shape(all, 1), shape(x)};
  part.first[axis] = first;
  part.shape[axis] = count;
  part.step[axis] = step;
  return add(part, {x});
}

int Lowering::swap_axes(int x, std::size_t a, std::size_t b) {
  Axes order = axes_from(0, rank(x));
  std::swap(order.at(a), order.at(b));
  return transpose(x, order);
}

int Lowering::element(int x, std::int64_t i) {
  const Shape from = known_shape(x);
  if (i >= elements_of(from)) throw Problem("needs single numbers");
  return reshape(from.size() == 1 ? slice(x, 0, i, 1) : x, {});
}

int Lowering::sizes(int x) {
  const Shape sides = shape(x);
  if (is_known(sides)) return vector(sides);
  std::vector<int> all;
  for (std::size_t axis = 0; axis < sides.size(); ++axis)
    all.push_back(reshape(add(Dimension{axis}, {x}), {1}));
  return concat(all, 0);
}

int Lowering::along(int vector, std::size_t axis, std::size_t rank) {
  Shape sides(rank - axis, 1);
  sides[0] = length(vector);
  return reshape(vector, sides);
}

int Lowering::places(std::int64_t count, std::size_t axis, std::size_t rank) {
  return along(add(Iota{std::int64_t{0}, std::int64_t{1}, count}, {}), axis, rank);
}

int Lowering::without(int x, const Axes& axes) {
  Shape sides = shape(x);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
    sides.erase(sides.begin() + static_cast<std::ptrdiff_t>(*axis));
  return reshape(x, sides);
}

int Lowering::mean(int x, const Axes& axes) {
  int count = scalar(std::int64_t{1});
  for (const std::size_t axis : axes)
    count = map(Function::multiply, {count, element(sizes(x), static_cast<std::int64_t>(axis))});
  const int sum = reduce(Fold::sum, x, axes);
  if (data(x) != DataType::f32)
    count = map([](const Term& all) { return Term::call(Function::maximum, {all, 1}); }, count);
  return map(Function::divide, {sum, cast(count, data(x))});
}

}  // namespace sightline::nn
