#pragma once
/// Functions of floats that have the same bits on every processor; see network/functions.hpp.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "network/functions.hpp"

namespace sightline::network {

inline float bits_as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t float_as_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

using nn::functions::celu;
using nn::functions::cosine;
using nn::functions::elu;
using nn::functions::error_function;
using nn::functions::exponential;
using nn::functions::gelu;
using nn::functions::gelu_tanh;
using nn::functions::greater;
using nn::functions::hard_sigmoid;
using nn::functions::hard_swish;
using nn::functions::hyperbolic_tangent;
using nn::functions::leaky_relu;
using nn::functions::logarithm;
using nn::functions::mish;
using nn::functions::multiply_add;
using nn::functions::power;
using nn::functions::relu;
using nn::functions::selu;
using nn::functions::sigmoid;
using nn::functions::sine;
using nn::functions::softplus;
using nn::functions::softsign;
using nn::functions::swish;
using nn::functions::thresholded_relu;

/// The larger one, whatever the order: a NaN before numbers, and 0 before -0.
inline float larger_value(float a, float b) {
  return nn::functions::maximum(a, b);
}

/// Lanes of tree_sum.
inline constexpr std::size_t kSumLanes = 16;

/// The sum of `count` numbers that `at(i)` gives: lane l adds up, from 0 on, the numbers whose index modulo
/// 16 is l, in order; then lane l + 8 is added to lane l, then l + 4, l + 2 and l + 1.
template <typename At>
float tree_sum(std::int64_t count, const At& at) {
  float lanes[kSumLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) lanes[static_cast<std::size_t>(i) % kSumLanes] += at(i);
  for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

}  // namespace sightline::network
