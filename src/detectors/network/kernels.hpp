#pragma once
/// Kernels on rows of feature maps, SIMD, dispatched at run time. They give the same bits as the scalar
/// operators (operators.hpp) on processors with fused multiply-adds, and are not for others.
///
/// Maps lie in blocks of 16 channels, whose values at one pixel are 16 floats in a row. A row of a block is
/// `width` such groups, one behind the other.

#include <cstddef>
#include <cstdint>

namespace sightline::network {

inline constexpr std::ptrdiff_t kBlock = 16;  ///< channels

/// Whether the processor's instruction set in use has fused multiply-adds.
bool has_fused_multiply_add();

/// A function of one value, as the operators of that name have it.
struct Activation {
  enum class Kind : std::uint8_t { none, relu, leaky_relu, clip, sigmoid, silu, hard_sigmoid, hard_swish };
  Kind kind = Kind::none;
  float a = 0, b = 0;  ///< slope; limits, of which b wins; alpha and beta

  bool operator==(const Activation&) const = default;
};

/// Operations on a block's row after its sums.
struct Finish {
  Activation activation;
  bool adds_first = false;  ///< whether `added` comes before the activation
};

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
  Finish finish;
};
void depthwise_row(const DepthwiseRow& row);

/// As the operators Add, Sub, Mul, Div, Max and Min have them. Max and Min take a NaN before numbers, and the
/// second of equal values.
enum class Binary : std::uint8_t { add, subtract, multiply, divide, maximum, minimum };

/// out = activation(a op b) for one block's row.
/// @param b_step  floats from pixel to pixel of b: 16, or 0 for one value a channel
void binary_row(Binary op, const float* a, const float* b, std::ptrdiff_t b_step, int width,
                const Activation& activation, float* out);
/// out = activation(a) for one block's row.
void activate_row(const float* a, int width, const Activation& activation, float* out);

/// One block's row of max pooling: first over `count` rows, then over columns.
/// @param column   for `in_width` pixels
/// @param before   pixels that the first window begins before the row
void max_pool_row(const float* const* rows, int count, int in_width, int before, int kernel, int stride,
                  float* column, float* out, int width);

/// One block's row of a picture of another size: each pixel mixes two columns of two rows.
/// @param linear  otherwise the first of both is taken
void resize_row(const float* upper, const float* lower, float weight, const std::int32_t* first,
                const std::int32_t* second, const float* weights, bool linear, int width, float* out);

/// Sums of a block's channels over all pixels, by tree_sum's order, which begins with the first row.
/// @param row_step  floats from row to row
void global_sum(const float* block, std::ptrdiff_t row_step, int height, int width, float* sums);

}  // namespace sightline::network
