#pragma once
/// Rows of a tensor along one axis.

#include <array>
#include <cstdint>

#include "network/strided.hpp"

namespace sightline::nn {

/// Calls `f(first, other)` for all rows of a tensor along an axis: offsets of their first element in it, and
/// in another tensor whose shape differs on this axis alone.
template <typename F>
void for_each_row(const Tensor& x, const Tensor& other, std::size_t axis, const F& f) {
  for_each_place<2>(with_ones(x.shape(), std::array{axis}),
                    {strides_of(x.shape()), strides_of(other.shape())}, f);
}

/// Whether `a` stands before `b` in falling order, where NaN stands first.
template <typename T>
bool is_before(T a, T b) {
  return (a != a && b == b) || a > b;
}

}  // namespace sightline::nn
