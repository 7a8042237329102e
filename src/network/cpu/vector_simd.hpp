// Vectors of floats, and the logistic function of several of them. Included by *_simd.cpp once for
// each instruction set.
#if defined(SIGHTLINE_NN_VECTOR_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_NN_VECTOR_SIMD
#undef SIGHTLINE_NN_VECTOR_SIMD
#else
#define SIGHTLINE_NN_VECTOR_SIMD
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::VFromD<Floats>;

constexpr int kLanes = HWY_LANES(float) < 16 ? HWY_LANES(float) : 16;
constexpr int kVectors = 16 / kLanes;  // of a block

HWY_INLINE Vector constant(float value) {
  return hn::Set(Floats(), value);
}

// logistic() of kernels/network/functions.inc for N vectors, step by step together: one alone waits for each
// of its results.
template <int N>
HWY_INLINE void logistic_of(Vector (&x)[N]) {
  const hn::RebindToUnsigned<Floats> bits;
  constexpr float kPolynomial[] = {1.33908634e-3F, 9.67603192e-3F, 5.55035711e-2F,
                                   2.40221075e-1F, 6.93147188e-1F, 1.0F};
  const Vector limit = constant(87.0F), magic = constant(12582912.0F);
  const Vector scale = constant(-1.44269504F), one = constant(1.0F);
  Vector t[N], y[N];
  const auto each = [](const auto& step) HWY_ATTR {
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) step(n);
  };
  // What NaN becomes does not matter.
  each([&](int n) HWY_ATTR { x[n] = hn::Max(hn::Min(x[n], limit), hn::Neg(limit)); });
  each([&](int n) HWY_ATTR { t[n] = hn::MulAdd(x[n], scale, magic); });
  each([&](int n) HWY_ATTR { x[n] = hn::MulAdd(x[n], scale, hn::Sub(magic, t[n])); });
  each([&](int n) HWY_ATTR { y[n] = hn::MulAdd(constant(kPolynomial[0]), x[n], constant(kPolynomial[1])); });
#pragma GCC unroll 8
  for (int i = 2; i < 6; ++i)
    each([&](int n) HWY_ATTR { y[n] = hn::MulAdd(y[n], x[n], constant(kPolynomial[i])); });
  each([&](int n) HWY_ATTR {
    const auto scaled = hn::Add(hn::BitCast(bits, y[n]), hn::ShiftLeft<23>(hn::BitCast(bits, t[n])));
    x[n] = hn::Div(one, hn::Add(one, hn::BitCast(Floats(), scaled)));
  });
}

}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
