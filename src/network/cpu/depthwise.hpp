#pragma once
/// Rows of depthwise convolutions.

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// One block's row of a depthwise convolution.
struct DepthwiseRow {
  const float* const* rows = nullptr;  ///< by kernel row: the block under the first column for output pixel 0
  int kernel_rows = 1, kernel_columns = 1;
  std::ptrdiff_t column_step = kBlock;
  std::ptrdiff_t pixel_step = kBlock;
  const float* weights = nullptr;  ///< by kernel row and column: 16
  const float* bias = nullptr;     ///< 16
  int width = 0;
  float* out = nullptr;
  const float* added = nullptr;
  Finish finish = {};
};
void depthwise_row(const DepthwiseRow& row);

}  // namespace sightline::nn
