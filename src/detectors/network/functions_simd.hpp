// Functions of functions.hpp for vectors, operation for operation. Included by *_simd.cpp once for each
// instruction set.
#if defined(SIGHTLINE_NETWORK_FUNCTIONS_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_NETWORK_FUNCTIONS_SIMD
#undef SIGHTLINE_NETWORK_FUNCTIONS_SIMD
#else
#define SIGHTLINE_NETWORK_FUNCTIONS_SIMD
#endif

#include <hwy/highway.h>

#include "detectors/network/functions.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::network::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::VFromD<Floats>;

HWY_INLINE Vector constant(float value) {
  return hn::Set(Floats(), value);
}

// logistic() of N vectors, step by step together: one alone waits for each of its results.
template <int N>
HWY_INLINE void logistic_of(Vector (&x)[N]) {
  const hn::RebindToUnsigned<Floats> bits;
  const Vector limit = constant(kLogisticLimit), magic = constant(kRoundingMagic);
  const Vector scale = constant(-kLog2E), one = constant(1.0F);
  Vector t[N], y[N];
  const auto each = [](const auto& step) HWY_ATTR {
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) step(n);
  };
  // What NaN becomes does not matter.
  each([&](int n) HWY_ATTR { x[n] = hn::Max(hn::Min(x[n], limit), hn::Neg(limit)); });
  each([&](int n) HWY_ATTR { t[n] = hn::MulAdd(x[n], scale, magic); });
  each([&](int n) HWY_ATTR { x[n] = hn::MulAdd(x[n], scale, hn::Sub(magic, t[n])); });
  each([&](int n)
           HWY_ATTR { y[n] = hn::MulAdd(constant(kExp2Polynomial[0]), x[n], constant(kExp2Polynomial[1])); });
#pragma GCC unroll 8
  for (std::size_t i = 2; i < 6; ++i)
    each([&](int n) HWY_ATTR { y[n] = hn::MulAdd(y[n], x[n], constant(kExp2Polynomial[i])); });
  each([&](int n) HWY_ATTR {
    const auto scaled = hn::Add(hn::BitCast(bits, y[n]), hn::ShiftLeft<23>(hn::BitCast(bits, t[n])));
    x[n] = hn::Div(one, hn::Add(one, hn::BitCast(Floats(), scaled)));
  });
}

HWY_INLINE Vector exponential_of(Vector x) {
  const hn::RebindToSigned<Floats> whole;
  const Vector magic = constant(kRoundingMagic), low = constant(kExpSmallest), high = constant(kExpLargest);
  const Vector c = hn::IfThenElse(hn::Lt(x, low), low, hn::IfThenElse(hn::Gt(x, high), high, x));
  const Vector t = hn::MulAdd(c, constant(kLog2E), magic);
  const Vector n = hn::Sub(t, magic);
  Vector r = hn::MulAdd(n, constant(-kLn2High), c);
  r = hn::MulAdd(n, constant(-kLn2Low), r);
  Vector p = constant(kExpPolynomial[0]);
  for (std::size_t i = 1; i < 6; ++i) p = hn::MulAdd(p, r, constant(kExpPolynomial[i]));
  p = hn::Add(hn::MulAdd(hn::Mul(p, r), r, r), constant(1.0F));
  const auto exponent = hn::Sub(hn::BitCast(whole, t), hn::BitCast(whole, magic));
  const auto half = hn::ShiftRight<1>(exponent), bias = hn::Set(whole, 127);
  const Vector first = hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::Add(half, bias)));
  const Vector second = hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::Add(hn::Sub(exponent, half), bias)));
  return hn::IfThenElse(hn::Eq(x, x), hn::Mul(hn::Mul(p, first), second), x);
}

}  // namespace sightline::network::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
