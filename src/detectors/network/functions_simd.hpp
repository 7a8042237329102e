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

HWY_INLINE Vector reciprocal_of(Vector d) {
  const hn::RebindToUnsigned<Floats> bits;
  Vector y = hn::BitCast(Floats(), hn::Sub(hn::Set(bits, 0x7eb53567U), hn::BitCast(bits, d)));
  y = hn::Mul(hn::Mul(constant(1.9395974F), y), hn::NegMulAdd(d, y, constant(1.436142F)));
  return hn::MulAdd(y, hn::NegMulAdd(d, y, constant(1.0F)), y);
}

HWY_INLINE Vector logistic_of(Vector x) {
  const hn::RebindToUnsigned<Floats> bits;
  const Vector limit = constant(kLogisticLimit), magic = constant(kRoundingMagic);
  // What NaN becomes does not matter.
  const Vector c = hn::Max(hn::Min(x, limit), hn::Neg(limit));
  const Vector t = hn::MulAdd(c, constant(-kLog2E), magic);
  const Vector f = hn::MulAdd(c, constant(-kLog2E), hn::Sub(magic, t));
  Vector p = constant(kExp2Polynomial[0]);
  for (std::size_t i = 1; i < 6; ++i) p = hn::MulAdd(p, f, constant(kExp2Polynomial[i]));
  const auto scaled = hn::Add(hn::BitCast(bits, p), hn::ShiftLeft<23>(hn::BitCast(bits, t)));
  return reciprocal_of(hn::Add(constant(1.0F), hn::BitCast(Floats(), scaled)));
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
