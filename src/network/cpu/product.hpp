#pragma once
/// Rows of dense convolutions and of products of matrices.

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// One row of a convolution, or rows of a product. All pointers are to floats, with no alignment; nothing is
/// read or written but what they describe. No scratch.
///
/// A product a [M, K] * b [K, N] is a row of M points with K inputs and a kernel of 1 x 1: taps[k] = &a[0,
/// k], and the weights are b's columns in blocks of 16: [N / 16][K][16]. The right side may be a tensor that
/// the network computes; one that lies in blocks of channels already has this format, its points being k. In
/// a product whose left side is constant, either side may be the weights: fma(a, b, sum) = fma(b, a, sum).
struct ConvolutionRow {
  /// By kernel row and input channel: the channel's value under the kernel's first column for output pixel 0.
  const float* const* taps = nullptr;
  int inputs = 0, kernel_rows = 1, kernel_columns = 1;
  std::ptrdiff_t column_step = 0;  ///< floats from one kernel column to the next
  std::ptrdiff_t pixel_step = 0;   ///< floats from the input of one output pixel to that of the next
  /// By block of outputs, kernel row, kernel column, input, output in the block.
  const float* weights = nullptr;
  std::ptrdiff_t weights_step =
      0;  ///< floats from one block's weights to the next block's; 0: they are side by side
  const float* bias = nullptr;  ///< by output, up to the end of the last block; null: +0
  int blocks = 0;
  int width = 0;                        ///< output pixels
  float* const* out = nullptr;          ///< by block
  const float* const* added = nullptr;  ///< by block: a row that is added; null: none
  Finish finish = {};
};
void convolve_row(const ConvolutionRow& row);

}  // namespace sightline::nn
