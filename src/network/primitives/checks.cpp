#include "network/primitives/checks.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

[[noreturn]] void refuse(InputTypes inputs, std::size_t i, const std::string& wanted) {
  throw Problem("has input " + std::to_string(i + 1) + " of " + text_of(inputs[i]) + ", not " + wanted);
}

}  // namespace

void check_count(InputTypes inputs, std::size_t least, std::size_t most) {
  if (inputs.size() >= least && inputs.size() <= most) return;
  throw Problem("has " + std::to_string(inputs.size()) + " inputs, not " + std::to_string(least) +
                (most > least ? " to " + std::to_string(most) : ""));
}

void check_type(InputTypes inputs, std::size_t i, DataType type) {
  if (inputs[i].data != type) refuse(inputs, i, std::string(text_of(type)));
}

void check_number(InputTypes inputs, std::size_t i) {
  if (inputs[i].data == DataType::boolean) refuse(inputs, i, "numbers");
}

void check_index(InputTypes inputs, std::size_t i) {
  if (inputs[i].data != DataType::i64 && inputs[i].data != DataType::i32) refuse(inputs, i, "i64 or i32");
}

void check_rank(InputTypes inputs, std::size_t i, std::size_t least, std::size_t most) {
  const std::size_t rank = inputs[i].shape.size();
  if (rank < least || rank > most)
    refuse(inputs, i, std::to_string(least) + (most > least ? " or more" : "") + " dimensions");
}

void check_axis(InputTypes inputs, std::size_t axis) {
  if (axis >= inputs[0].shape.size()) refuse(inputs, 0, "with an axis " + std::to_string(axis));
}

bool may_equal(std::int64_t a, std::int64_t b) {
  return a == b || a == kUnknown || b == kUnknown;
}

bool may_equal(const Shape& a, const Shape& b) {
  return std::ranges::equal(a, b, [](std::int64_t x, std::int64_t y) { return may_equal(x, y); });
}

void check_shape(InputTypes inputs, std::size_t i, const Shape& wanted) {
  if (!may_equal(inputs[i].shape, wanted)) refuse(inputs, i, text_of(wanted));
}

std::int64_t integer_of(const Tensor& tensor) {
  if (tensor.size() != 1) throw Problem("needs one number, not " + text_of(tensor.shape()));
  return tensor.integers()[0];
}

Shape filled(Shape shape, const Tensor& sizes) {
  const Shape given = sizes.integers();
  if (given.size() != shape.size())
    throw Problem("has " + std::to_string(given.size()) + " sides for " + text_of(shape));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == kUnknown) shape[axis] = given[axis];
  }
  return shape;
}

}  // namespace sightline::nn
