#pragma once
/// Functions of floats that have the same bits on every processor: only additions, multiplications, fused
/// multiply-adds, correctly rounded divisions and square roots, and integers. They are written once, for
/// scalars; the forms for vectors and devices repeat them operation for operation.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sightline::network {

inline float bits_as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t float_as_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// a * b + c, rounded once.
inline float multiply_add(float a, float b, float c) {
  return std::fma(a, b, c);
}

/// The larger one; the second where they are not in order, so that a NaN in `a` goes and one in `b` stays.
inline float greater(float a, float b) {
  return a > b ? a : b;
}

/// The larger one, whatever the order: a NaN before numbers, and 0 before -0.
inline float larger_value(float a, float b) {
  if (a == b) return bits_as_float(float_as_bits(a) & float_as_bits(b));
  return a != a || a > b ? a : b;
}

inline constexpr float kRoundingMagic = 12582912.0F;  ///< 1.5 * 2^23: adding it rounds to a whole number
inline constexpr float kLog2E = 1.44269504F;

/// Coefficients of exp(r) for |r| <= ln(2)/2, highest power first.
inline constexpr float kExpPolynomial[] = {1.98756915e-4F, 1.39819994e-3F, 8.33345205e-3F,
                                           4.16657962e-2F, 1.66666657e-1F, 0.5F};
inline constexpr float kLn2High = 0.693359375F;
inline constexpr float kLn2Low = -2.12194440e-4F;
inline constexpr float kExpLargest = 89.0F;
inline constexpr float kExpSmallest = -104.0F;

/// e^x, within 2 units in the last place; denormal results and infinity as IEEE has them; NaN stays.
inline float exponential(float x) {
  // Comparisons are false for NaN, which so passes.
  const float c = x < kExpSmallest ? kExpSmallest : (x > kExpLargest ? kExpLargest : x);
  const float t = multiply_add(c, kLog2E, kRoundingMagic);
  const float n = t - kRoundingMagic;
  float r = multiply_add(n, -kLn2High, c);
  r = multiply_add(n, -kLn2Low, r);
  float p = kExpPolynomial[0];
  for (std::size_t i = 1; i < 6; ++i) p = multiply_add(p, r, kExpPolynomial[i]);
  p = multiply_add(p * r, r, r) + 1.0F;
  // 2^n in two factors, of which the first never leaves the normal numbers.
  const auto whole = static_cast<std::int32_t>(float_as_bits(t) - float_as_bits(kRoundingMagic));
  const std::int32_t half = whole >> 1;
  const float first = bits_as_float(static_cast<std::uint32_t>(half + 127) << 23);
  const float second = bits_as_float(static_cast<std::uint32_t>(whole - half + 127) << 23);
  const float y = p * first * second;
  return x != x ? x : y;
}

/// Coefficients of 2^f for |f| <= 1/2, highest power first; the last one is 1.
inline constexpr float kExp2Polynomial[] = {1.33908634e-3F, 9.67603192e-3F, 5.55035711e-2F,
                                            2.40221075e-1F, 6.93147188e-1F, 1.0F};
inline constexpr float kLogisticLimit = 87.0F;

/// The part of the logistic function that sigmoid and x * sigmoid(x) share; any number for NaN.
inline float logistic(float x) {
  const float c = x > kLogisticLimit ? kLogisticLimit : (x > -kLogisticLimit ? x : -kLogisticLimit);
  const float t = multiply_add(c, -kLog2E, kRoundingMagic);
  const float f = multiply_add(c, -kLog2E, -(t - kRoundingMagic));
  float p = kExp2Polynomial[0];
  for (std::size_t i = 1; i < 6; ++i) p = multiply_add(p, f, kExp2Polynomial[i]);
  // e^-c: the whole part of the exponent is in the low bits of t.
  return 1.0F / (1.0F + bits_as_float(float_as_bits(p) + (float_as_bits(t) << 23)));
}

/// 1 / (1 + e^-x); NaN stays.
inline float sigmoid(float x) {
  return x != x ? x : logistic(x);
}

/// tanh x, within 2 units in the last place; NaN stays.
inline float hyperbolic_tangent(float x) {
  const float a = std::fabs(x);
  if (a < 0.625F) {
    const float s = x * x;
    float p = -5.70498872745e-3F;
    p = multiply_add(p, s, 2.06390887954e-2F);
    p = multiply_add(p, s, -5.37397155531e-2F);
    p = multiply_add(p, s, 1.33314422036e-1F);
    p = multiply_add(p, s, -3.33332819422e-1F);
    return std::copysign(multiply_add(p * s, x, x), x);
  }
  const float y = 1.0F - 2.0F / (exponential(a + a) + 1.0F);
  return std::copysign(y, x);
}

/// The error function, within 2 units in the last place; NaN stays. The polynomials are N. Juffa's.
inline float error_function(float x) {
  const float t = std::fabs(x);
  const float s = x * x;
  if (t > 0.927734375F) {
    float r = multiply_add(-1.72853470e-5F, t, 3.83197126e-4F);
    const float u = multiply_add(-3.88396438e-3F, t, 2.42546219e-2F);
    r = multiply_add(r, s, u);
    r = multiply_add(r, t, -1.06777877e-1F);
    r = multiply_add(r, t, -6.34846687e-1F);
    r = multiply_add(r, t, -1.28717512e-1F);
    r = multiply_add(r, t, -t);
    // Far out, the polynomial is no longer what it stands for; there, the result is 1.
    r = t > 4.0F ? 1.0F : 1.0F - exponential(r);
    return std::copysign(r, x);
  }
  float r = -5.96761703e-4F;
  r = multiply_add(r, s, 4.99119423e-3F);
  r = multiply_add(r, s, -2.67681349e-2F);
  r = multiply_add(r, s, 1.12819925e-1F);
  r = multiply_add(r, s, -3.76125336e-1F);
  r = multiply_add(r, s, 1.28379166e-1F);
  return multiply_add(r, x, x);
}

/// The natural logarithm, within 2 units in the last place; as IEEE has it for 0, negative numbers, infinity
/// and NaN. The polynomial is the Cephes library's.
inline float logarithm(float x) {
  if (x != x || x == std::numeric_limits<float>::infinity()) return x;
  if (x == 0) return -std::numeric_limits<float>::infinity();
  if (x < 0) return std::numeric_limits<float>::quiet_NaN();
  float scaled = x;
  float exponent = 0;
  if (x < std::numeric_limits<float>::min()) {
    scaled = x * 8388608.0F;
    exponent = -23.0F;
  }
  const std::uint32_t bits = float_as_bits(scaled);
  // The mantissa from sqrt(1/2) to sqrt(2).
  const std::uint32_t above = bits - 0x3F3504F3U;
  exponent += static_cast<float>(static_cast<std::int32_t>(above) >> 23);
  const float m = bits_as_float((above & 0x007FFFFFU) + 0x3F3504F3U) - 1.0F;
  constexpr float kPolynomial[] = {7.0376836292e-2F,  -1.1514610310e-1F, 1.1676998740e-1F,
                                   -1.2420140846e-1F, 1.4249322787e-1F,  -1.6668057665e-1F,
                                   2.0000714765e-1F,  -2.4999993993e-1F, 3.3333331174e-1F};
  float p = kPolynomial[0];
  for (std::size_t i = 1; i < 9; ++i) p = multiply_add(p, m, kPolynomial[i]);
  const float s = m * m;
  float y = p * m * s;
  y = multiply_add(exponent, -2.12194440e-4F, y);
  y = multiply_add(-0.5F, s, y);
  return multiply_add(exponent, 0.693359375F, m + y);
}

/// a^b. Powers with whole exponents up to 8 are products; others are exp(b log a), within 1e-5 of the exact
/// power for results that are not extreme.
float power(float a, float b);

/// Sine and cosine, computed in double precision; NaN from 2^30 on.
float sine(float x);
float cosine(float x);

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
