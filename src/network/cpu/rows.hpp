#pragma once
/// Elementwise operations, windows and sums of rows.

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// As the ONNX operators Add, Sub, Mul, Div, Max and Min define them. Max and Min take a NaN before numbers,
/// and the second of equal values.
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

}  // namespace sightline::nn
