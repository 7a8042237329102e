#pragma once
/// Rows of convolutions with few outputs: lanes are points.

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// One row of a convolution of planes, with a step of one column. All pointers are to floats, with no
/// alignment; nothing is read or written but what they describe. No scratch.
///
/// Beside convolve_row with AVX-512, it takes a fourth of the time for 3 inputs and 4 outputs, and half
/// for 8. Inputs in blocks must become planes first (copy_channels): with that, it is 1.5 times as fast for 1
/// to 4 outputs of 3x3, and slower for 1x1.
struct PlanesRow {
  /// By kernel row and input channel: the channel's value under the kernel's first column for output point 0.
  const float* const* taps = nullptr;
  int inputs = 0, kernel_rows = 1, kernel_columns = 1;
  std::ptrdiff_t column_step = 1;  ///< floats from one kernel column to the next
  const float* weights = nullptr;  ///< by kernel row, kernel column, input, output
  const float* bias = nullptr;     ///< by output; null: +0
  int outputs = 0;
  int width = 0;                ///< output points
  float* const* out = nullptr;  ///< by output: `width` values side by side
};
void convolve_planes(const PlanesRow& row);

}  // namespace sightline::nn
