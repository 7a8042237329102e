#pragma once
/// Rows of grouped convolutions whose groups are small: lanes are outputs, each with its own group's inputs.
/// Groups with a multiple of 16 outputs are dense convolutions of their own (product.hpp), and one input and
/// output a group is a depthwise one (depthwise.hpp).

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// One row of a grouped convolution. All pointers are to floats, with no alignment. No scratch.
struct GroupedRow {
  /// By kernel row and block of 16 input channels: the block under the kernel's first column for output pixel
  /// 0. All 16 floats of a block are read, those that lie behind the last channel, too.
  const float* const* rows = nullptr;
  int groups = 1;
  int group_inputs = 1, group_outputs = 1;  ///< of one group
  int kernel_rows = 1, kernel_columns = 1;
  std::ptrdiff_t column_step = kBlock;  ///< floats from one kernel column to the next
  std::ptrdiff_t pixel_step = kBlock;   ///< floats from the input of one output pixel to that of the next
  /// By block of outputs, kernel row, kernel column, input of the group, output in the block. Outputs that
  /// lie behind the last one have any weights.
  const float* weights = nullptr;
  const float* bias = nullptr;  ///< by output, up to the end of the last block; null: +0
  int width = 0;                ///< output pixels
  float* const* out = nullptr;  ///< by block of outputs; those behind the last output get any value
};
void grouped_row(const GroupedRow& row);

}  // namespace sightline::nn
