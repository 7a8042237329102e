#pragma once
/// Loops over windows, for WindowFold and Convolve.

#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// A map's shape with the window's outputs as its last two sides. Throws Problem if the window is none.
inline Shape windowed_shape(const Window& window, Shape shape) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (window.kernel[axis] < 1 || window.step[axis] < 1 || window.out[axis] < 0)
      throw Problem("has a window of " + text_of(Shape(window.kernel.begin(), window.kernel.end())) +
                    " in steps of " + text_of(Shape(window.step.begin(), window.step.end())));
    shape[shape.size() - 2 + axis] = window.out[axis];
  }
  return shape;
}

/// Calls `f(y, x)` for all rows and columns of a pair of sides, in row-major order.
template <typename F>
void for_each_pair(const Pair& sides, const F& f) {
  for (std::int64_t y = 0; y < sides[0]; ++y) {
    for (std::int64_t x = 0; x < sides[1]; ++x) f(y, x);
  }
}

}  // namespace sightline::nn
