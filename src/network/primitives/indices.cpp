#include "network/primitives/indices.hpp"

#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

[[noreturn]] void refuse_indices(InputTypes inputs) {
  throw Problem("has indices of " + text_of(inputs[1].shape) + " that do not fit " +
                text_of(inputs[0].shape));
}

Shape shape_by_element(std::size_t axis, InputTypes inputs) {
  const Shape &x = inputs[0].shape, &index = inputs[1].shape;
  if (index.size() != x.size()) refuse_indices(inputs);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i != axis && x[i] != kUnknown && index[i] > x[i]) refuse_indices(inputs);
  }
  return index;
}

Shape shape_by_tuple(std::size_t batch, InputTypes inputs) {
  const Shape &x = inputs[0].shape, &index = inputs[1].shape;
  // The last side is the number of axes, and ranks are known.
  if (index.empty() || index.back() < 1 || batch >= index.size() ||
      batch + static_cast<std::size_t>(index.back()) > x.size())
    refuse_indices(inputs);
  for (std::size_t i = 0; i < batch; ++i) {
    if (!may_equal(x[i], index[i])) refuse_indices(inputs);
  }
  Shape shape(index.begin(), index.end() - 1);
  shape.insert(shape.end(), x.begin() + static_cast<std::ptrdiff_t>(batch) + index.back(), x.end());
  return shape;
}

}  // namespace

std::int64_t checked_index(std::int64_t index, std::int64_t side) {
  if (index < -side || index >= side)
    throw Problem("has index " + std::to_string(index) + " of a dimension of " + std::to_string(side));
  return index < 0 ? index + side : index;
}

Shape gathered_shape(By by, std::size_t axis, std::size_t batch, InputTypes inputs) {
  check_index(inputs, 1);
  if (by == By::tuple) return shape_by_tuple(batch, inputs);
  check_axis(inputs, axis);
  if (by == By::element) return shape_by_element(axis, inputs);
  Shape shape = inputs[0].shape;
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(at, inputs[1].shape.begin(), inputs[1].shape.end());
  return shape;
}

Pieces pieces_of(By by, std::size_t axis, std::size_t batch, const Tensor& x, const Tensor& indices) {
  const std::vector<std::int64_t> index = indices.integers();
  const Strides strides = strides_of(x.shape());
  Pieces pieces;
  if (by == By::element) {
    Strides fixed = strides;
    fixed[axis] = 0;
    auto next = index.begin();
    for_each_place<1>(indices.shape(), {fixed}, [&](std::int64_t offset) {
      pieces.first.push_back(offset + checked_index(*next++, x.dim(axis)) * strides[axis]);
    });
    return pieces;
  }
  const auto depth = static_cast<std::size_t>(indices.shape().back());
  const Shape tuples(indices.shape().begin(), indices.shape().end() - 1);
  pieces.size = elements_between(x.shape(), batch + depth, x.rank());
  auto next = index.begin();
  for_each_index(tuples, [&](const Shape& place) {
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < batch; ++k) offset += place[k] * strides[k];
    for (std::size_t k = batch; k < batch + depth; ++k)
      offset += checked_index(*next++, x.dim(k)) * strides[k];
    pieces.first.push_back(offset);
  });
  return pieces;
}

}  // namespace sightline::nn
