#pragma once
/// Channels of a tile of points, wherever they lie.

#include <cstddef>

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// Channel c of point p is first[c][p * step_of(c)].
template <typename T>
struct Channels {
  T* const* first = nullptr;              ///< by channel, its value at the first point
  std::ptrdiff_t step = kBlock;           ///< floats from point to point
  const std::ptrdiff_t* steps = nullptr;  ///< by channel, instead of `step`; null: all have `step`

  std::ptrdiff_t step_of(int c) const { return steps ? steps[c] : step; }
  /// How many channels from `c` on, before `end`, lie side by side with the same step.
  int side_by_side(int c, int end) const {
    int n = 1;
    while (c + n < end && first[c + n] == first[c] + n && step_of(c + n) == step_of(c)) ++n;
    return n;
  }
};

}  // namespace sightline::nn
