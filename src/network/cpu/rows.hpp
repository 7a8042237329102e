#pragma once
/// Elementwise operations on rows.

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

}  // namespace sightline::nn
