// Functions of function_list.inc for vectors: N vectors at a time, step by step together, since one vector
// alone waits for each of its results. They have the bits of functions.hpp on targets with fused
// multiply-adds (HWY_NATIVE_FMA), and are not for others. Included by *_simd.cpp once for each instruction
// set.
#if defined(SIGHTLINE_NN_FUNCTIONS_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_NN_FUNCTIONS_SIMD
#undef SIGHTLINE_NN_FUNCTIONS_SIMD
#else
#define SIGHTLINE_NN_FUNCTIONS_SIMD
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

#include "network/cpu/vector_simd.hpp"
#include "network/functions.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {

using Integers = hn::RebindToSigned<Floats>;

template <int N>
struct Reals {
  Vector v[N];
};
template <int N>
struct Wholes {
  hn::VFromD<Integers> v[N];
};
template <int N>
struct Masks {
  hn::Mask<Floats> v[N];
};

template <template <int> class Result, typename F, int... n>
HWY_INLINE Result<sizeof...(n)> each_of(const F& f, std::integer_sequence<int, n...> /*numbers*/) {
  return {{f(n)...}};
}
/// f(0), f(1)... f(N - 1) as a Result<N>.
template <template <int> class Result, int N, typename F>
HWY_INLINE Result<N> each(const F& f) {
  return each_of<Result>(f, std::make_integer_sequence<int, N>());
}

namespace functions {

#define EACH(Result, expression) each<Result, N>([&](int n) HWY_ATTR { return expression; })
#define UNARY(name, expression)          \
  template <int N>                       \
  HWY_INLINE Reals<N> name(Reals<N> a) { \
    return EACH(Reals, expression);      \
  }
#define BINARY(X, name, Result, expression)   \
  template <int N>                            \
  HWY_INLINE Result<N> name(X<N> a, X<N> b) { \
    return EACH(Result, expression);          \
  }

template <int N>
HWY_INLINE Reals<N> constants(float value) {
  return EACH(Reals, (static_cast<void>(n), constant(value)));
}
template <int N>
HWY_INLINE Wholes<N> whole_constants(std::int32_t value) {
  return EACH(Wholes, (static_cast<void>(n), hn::Set(Integers(), value)));
}
template <int N>
HWY_INLINE Wholes<N> bits_of(Reals<N> a) {
  return EACH(Wholes, hn::BitCast(Integers(), a.v[n]));
}
template <int N>
HWY_INLINE Reals<N> reals_of_bits(Wholes<N> a) {
  return EACH(Reals, hn::BitCast(Floats(), a.v[n]));
}
template <int N>
HWY_INLINE Reals<N> nearest_reals(Wholes<N> a) {
  return EACH(Reals, hn::ConvertTo(Floats(), a.v[n]));
}
template <int bits, int N>
HWY_INLINE Wholes<N> shifted_left(Wholes<N> a) {
  return EACH(Wholes, hn::ShiftLeft<bits>(a.v[n]));
}
template <int bits, int N>
HWY_INLINE Wholes<N> shifted_right(Wholes<N> a) {
  return EACH(Wholes, hn::ShiftRight<bits>(a.v[n]));
}
template <int N>
HWY_INLINE Reals<N> select(Masks<N> condition, Reals<N> a, Reals<N> b) {
  return EACH(Reals, hn::IfThenElse(condition.v[n], a.v[n], b.v[n]));
}
template <int N>
HWY_INLINE Reals<N> multiply_add(Reals<N> a, Reals<N> b, Reals<N> c) {
  return EACH(Reals, hn::MulAdd(a.v[n], b.v[n], c.v[n]));
}

BINARY(Reals, add, Reals, hn::Add(a.v[n], b.v[n]))
BINARY(Reals, subtract, Reals, hn::Sub(a.v[n], b.v[n]))
BINARY(Reals, multiply, Reals, hn::Mul(a.v[n], b.v[n]))
BINARY(Reals, divide, Reals, hn::Div(a.v[n], b.v[n]))
BINARY(Wholes, add, Wholes, hn::Add(a.v[n], b.v[n]))
BINARY(Wholes, subtract, Wholes, hn::Sub(a.v[n], b.v[n]))
BINARY(Wholes, bit_and, Wholes, hn::And(a.v[n], b.v[n]))
BINARY(Wholes, bit_or, Wholes, hn::Or(a.v[n], b.v[n]))
UNARY(negate, hn::Neg(a.v[n]))
UNARY(absolute, hn::Abs(a.v[n]))
UNARY(square_root, hn::Sqrt(a.v[n]))
UNARY(round, hn::Round(a.v[n]))
UNARY(floor, hn::Floor(a.v[n]))
UNARY(ceiling, hn::Ceil(a.v[n]))
BINARY(Reals, equal, Masks, hn::Eq(a.v[n], b.v[n]))
BINARY(Reals, less, Masks, hn::Lt(a.v[n], b.v[n]))
BINARY(Reals, less_or_equal, Masks, hn::Le(a.v[n], b.v[n]))
BINARY(Masks, bit_and, Masks, hn::And(a.v[n], b.v[n]))
BINARY(Masks, bit_or, Masks, hn::Or(a.v[n], b.v[n]))
BINARY(Masks, bit_xor, Masks, hn::Xor(a.v[n], b.v[n]))
template <int N>
HWY_INLINE Masks<N> bit_not(Masks<N> a) {
  return EACH(Masks, hn::Not(a.v[n]));
}

// On x86, the instructions take the second number where the first one is not greater, or not less.
template <int N>
HWY_INLINE Reals<N> greater(Reals<N> a, Reals<N> b) {
#if HWY_ARCH_X86
  return EACH(Reals, hn::Max(a.v[n], b.v[n]));
#else
  return select(less(b, a), a, b);
#endif
}
template <int N>
HWY_INLINE Reals<N> lesser(Reals<N> a, Reals<N> b) {
#if HWY_ARCH_X86
  return EACH(Reals, hn::Min(a.v[n], b.v[n]));
#else
  return select(less(a, b), a, b);
#endif
}

#define REAL Reals<N>
#define WHOLE Wholes<N>
#define MASK Masks<N>
#define FN(name) name
#define FN_DECLARE(result, name) \
  template <int N>               \
  HWY_INLINE result name
#define K(c) constants<N>(c)
#define I(c) whole_constants<N>(c)
#define ADD(a, b) add(a, b)
#define SUB(a, b) subtract(a, b)
#define MUL(a, b) multiply(a, b)
#define DIV(a, b) divide(a, b)
#define FMA(a, b, c) multiply_add(a, b, c)
#define NEG(a) negate(a)
#define ABS(a) absolute(a)
#define SQRT(a) square_root(a)
#define FLOOR(a) floor(a)
#define LT(a, b) less(a, b)
#define EQ(a, b) equal(a, b)
#define SEL(mask, a, b) select(mask, a, b)
#define GREATER(a, b) greater(a, b)
#define LESSER(a, b) lesser(a, b)
#define BITS(a) bits_of(a)
#define REAL_OF(a) reals_of_bits(a)
#define IADD(a, b) add(a, b)
#define ISUB(a, b) subtract(a, b)
#define IAND(a, b) bit_and(a, b)
#define IOR(a, b) bit_or(a, b)
#define SHL(a, n) shifted_left<n>(a)
#define SHR(a, n) shifted_right<n>(a)
#define REAL_FROM(a) nearest_reals(a)
#include "kernels/network/functions.inc"

template <int N>
HWY_INLINE Reals<N> sign(Reals<N> x) {
  const Reals<N> zero = constants<N>(0.0F);
  return select(less(zero, x), constants<N>(1.0F), select(less(x, zero), constants<N>(-1.0F), x));
}

/// f(x...) value by value.
template <int N, typename F, typename... X>
HWY_INLINE Reals<N> by_scalars(const F& f, X... x) {
  HWY_ALIGN float values[sizeof...(X)][HWY_LANES(float)];
  return each<Reals, N>([&](int n) HWY_ATTR {
    std::size_t argument = 0;
    (hn::Store(x.v[n], Floats(), values[argument++]), ...);
    for (std::size_t i = 0; i < hn::Lanes(Floats()); ++i) {
      if constexpr (sizeof...(X) == 1) {
        values[0][i] = f(values[0][i]);
      } else {
        values[0][i] = f(values[0][i], values[1][i]);
      }
    }
    return hn::Load(Floats(), values[0]);
  });
}
template <int N>
HWY_INLINE Reals<N> sine(Reals<N> x) {
  return by_scalars<N>(nn::functions::sine, x);
}
template <int N>
HWY_INLINE Reals<N> cosine(Reals<N> x) {
  return by_scalars<N>(nn::functions::cosine, x);
}
template <int N>
HWY_INLINE Reals<N> remainder(Reals<N> a, Reals<N> b) {
  return by_scalars<N>(nn::functions::remainder<float>, a, b);
}

#undef EACH
#undef UNARY
#undef BINARY

}  // namespace functions
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
