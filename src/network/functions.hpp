#pragma once
/// The functions of function_list.inc for scalars: the definition of every result of an expression.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sightline::nn::functions {

// --- functions of floats

/// The greater one; the second where one is NaN or both are equal.
inline float greater(float a, float b) {
  return b < a ? a : b;
}
inline float lesser(float a, float b) {
  return a < b ? a : b;
}

#define REAL float
#define WHOLE std::int32_t
#define MASK bool
#define FN(name) name
#define FN_DECLARE(result, name) inline result name
#define K(c) (c)
#define I(c) (c)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define FMA(a, b, c) std::fma(a, b, c)
#define NEG(a) (-(a))
#define ABS(a) std::fabs(a)
#define SQRT(a) std::sqrt(a)
#define FLOOR(a) std::floor(a)
#define LT(a, b) ((a) < (b))
#define EQ(a, b) ((a) == (b))
#define SEL(mask, a, b) ((mask) ? (a) : (b))
#define GREATER(a, b) greater(a, b)
#define LESSER(a, b) lesser(a, b)
#define BITS(a) std::bit_cast<std::int32_t>(a)
#define REAL_OF(a) std::bit_cast<float>(a)
#define IADD(a, b) static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b))
#define ISUB(a, b) static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b))
#define IAND(a, b) ((a) & (b))
#define IOR(a, b) ((a) | (b))
#define SHL(a, n) static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << (n))
#define SHR(a, n) ((a) >> (n))
#define REAL_FROM(a) static_cast<float>(a)
#include "kernels/network/functions.inc"

inline float multiply_add(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline float square_root(float x) {
  return std::sqrt(x);
}
inline float round(float x) {
  return std::nearbyint(x);
}
inline float floor(float x) {
  return std::floor(x);
}
inline float ceiling(float x) {
  return std::ceil(x);
}
/// In double precision, on the CPU alone; NaN from 2^30 on.
float sine(float x);
float cosine(float x);

// --- numbers: float, and integers, which wrap

template <typename T>
inline constexpr bool kIsReal = std::is_same_v<T, float>;

template <typename T>
T add(T a, T b) {
  if constexpr (kIsReal<T>) return a + b;
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <typename T>
T subtract(T a, T b) {
  if constexpr (kIsReal<T>) return a - b;
  return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
template <typename T>
T multiply(T a, T b) {
  if constexpr (kIsReal<T>) return a * b;
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <typename T>
T negate(T x) {
  if constexpr (kIsReal<T>) return -x;
  return subtract(T{0}, x);
}
template <typename T>
T divide(T a, T b) {
  if constexpr (kIsReal<T>) return a / b;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return negate(a);
  }
  return b == 0 ? T{0} : static_cast<T>(a / b);
}
template <typename T>
T remainder(T a, T b) {
  if constexpr (kIsReal<T>) return std::fmod(a, b);
  return b == 0 ? T{0} : subtract(a, multiply(divide(a, b), b));
}
template <typename T>
T modulo(T a, T b) {
  const T rest = remainder(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
}
template <typename T>
T absolute(T x) {
  if constexpr (kIsReal<T>) return std::fabs(x);
  return x < 0 ? negate(x) : x;
}
template <typename T>
T sign(T x) {
  return x > 0 ? T{1} : x < 0 ? static_cast<T>(-1) : x;
}
template <typename T>
T minimum(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
T maximum(T a, T b) {
  return b > a ? b : a;
}
template <typename T>
T power(T base, T exponent) {
  if (exponent < 0) {
    if (base != 1 && base != static_cast<T>(-1)) return 0;
    exponent = exponent % 2 == 0 ? 0 : 1;
  }
  T product = 1;
  for (; exponent > 0; exponent = static_cast<T>(exponent / 2), base = multiply(base, base))
    product = exponent % 2 == 0 ? product : multiply(product, base);
  return product;
}

// --- bits of integers, and booleans

template <typename T>
T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <typename T>
T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <typename T>
T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <typename T>
T bit_not(T a) {
  if constexpr (std::is_same_v<T, bool>) return !a;
  return static_cast<T>(~static_cast<std::int64_t>(a));
}

// --- comparisons

template <typename T>
bool equal(T a, T b) {
  return a == b;
}
template <typename T>
bool less(T a, T b) {
  return a < b;
}
template <typename T>
bool less_or_equal(T a, T b) {
  return a <= b;
}

// --- conversion (Expression::cast)

template <typename To, typename From>
To cast(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (kIsReal<From> && !kIsReal<To>) {
    using Wide = std::conditional_t<std::is_same_v<To, std::int64_t>, std::int64_t, std::int32_t>;
    constexpr auto kLeast = static_cast<float>(std::numeric_limits<Wide>::min());  // a power of two
    const bool fits = x >= kLeast && x < -kLeast;
    return static_cast<To>(fits ? static_cast<Wide>(x) : std::numeric_limits<Wide>::min());
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace sightline::nn::functions
