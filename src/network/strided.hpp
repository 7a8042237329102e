#pragma once
/// Loops over tensors with strides: one for all primitives.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "network/tensor.hpp"

namespace sightline::nn {

using Strides = Shape;  ///< elements from one place to the next, by axis

/// Strides of a tensor in row-major order.
Strides strides_of(const Shape& shape);
/// Strides with which a tensor of shape `from` covers `shape`: 0 where it repeats. It must broadcast to it.
Strides broadcast_strides(const Shape& from, const Shape& shape);
/// Elements of the axes [begin, end) of a known shape.
std::int64_t elements_between(const Shape& shape, std::size_t begin, std::size_t end);
/// A shape whose side on some axes is 1.
template <typename AxesOf>
Shape with_ones(Shape shape, const AxesOf& axes) {
  for (const std::size_t axis : axes) shape[axis] = 1;
  return shape;
}

/// The shape that two shapes have together by NumPy's rule. A side that is not known takes the other one if
/// that is not 1. Throws Problem where they do not fit.
Shape broadcast(const Shape& a, const Shape& b);

/// Calls `f(place)` for all places of a shape in row-major order. Between two of them, it calls `move(axis,
/// places)` for each axis whose place changes.
template <typename F, typename Move>
void for_each_index(const Shape& shape, const F& f, const Move& move) {
  if (elements_of(shape) == 0) return;
  Shape place(shape.size(), 0);
  std::size_t axis = shape.size();
  do {
    f(std::as_const(place));
    for (axis = shape.size(); axis-- > 0;) {
      move(axis, 1);
      if (++place[axis] < shape[axis]) break;
      move(axis, -shape[axis]);
      place[axis] = 0;
    }
  } while (axis < shape.size());  // it wraps behind the outermost axis
}
template <typename F>
void for_each_index(const Shape& shape, const F& f) {
  for_each_index(shape, f, [](std::size_t, std::int64_t) {});
}

/// Calls `f(offset...)` for all places of a shape in row-major order, with one offset for each of N tensors,
/// which move by their own strides from their starts.
template <std::size_t N, typename F>
void for_each_place(const Shape& shape, const std::array<Strides, N>& strides,
                    std::array<std::int64_t, N> offsets, const F& f) {
  const auto call = [&]<std::size_t... n>(std::index_sequence<n...>) {
    f(offsets[n]...);
  };
  const auto move = [&](std::size_t axis, std::int64_t places) {
    for (std::size_t n = 0; n < N; ++n) offsets[n] += places * strides[n][axis];
  };
  for_each_index(
      shape, [&](const Shape&) { call(std::make_index_sequence<N>()); }, move);
}
template <std::size_t N, typename F>
void for_each_place(const Shape& shape, const std::array<Strides, N>& strides, const F& f) {
  for_each_place(shape, strides, std::array<std::int64_t, N>{}, f);
}

/// One tensor's elements, as for_each_place has them.
struct StridedElements {
  Strides strides;
  std::int64_t start = 0;
};
/// Copies the elements of a shape from one tensor to another of the same type.
void copy_strided(const Shape& shape, const Tensor& from, const StridedElements& source, Tensor& to,
                  const StridedElements& target);

}  // namespace sightline::nn
