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
#include "network/cpu/vector_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::network::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using nn::HWY_NAMESPACE::constant;
using nn::HWY_NAMESPACE::Floats;
using nn::HWY_NAMESPACE::Vector;

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
