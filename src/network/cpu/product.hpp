#pragma once
/// Rows of dense convolutions.

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// One row of a convolution.
struct ConvolutionRow {
  /// By kernel row and input channel: the channel's value under the kernel's first column for output pixel 0.
  const float* const* taps = nullptr;
  int inputs = 0, kernel_rows = 1, kernel_columns = 1;
  std::ptrdiff_t column_step = 0;  ///< floats from one kernel column to the next
  std::ptrdiff_t pixel_step = 0;   ///< floats from the input of one output pixel to that of the next
  /// By block of outputs, kernel row, kernel column, input, output in the block.
  const float* weights = nullptr;
  const float* bias = nullptr;  ///< by output, up to the end of the last block
  int blocks = 0;
  int width = 0;                        ///< output pixels
  float* const* out = nullptr;          ///< by block
  const float* const* added = nullptr;  ///< by block: a row that is added; null: none
  Finish finish;
};
void convolve_row(const ConvolutionRow& row);

}  // namespace sightline::nn
