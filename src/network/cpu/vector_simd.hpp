// Vectors of floats. Included by *_simd.cpp once for each instruction set.
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

}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
