// Vectors of which only the first lanes are in memory. Included by *_simd.cpp once for each instruction set.
#if defined(SIGHTLINE_NN_REST_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_NN_REST_SIMD
#undef SIGHTLINE_NN_REST_SIMD
#else
#define SIGHTLINE_NN_REST_SIMD
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "network/cpu/vector_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Instruction sets whose masked loads and stores do not touch other lanes' memory.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define SIGHTLINE_NN_MASKED 1
#else
#define SIGHTLINE_NN_MASKED 0
#endif

// The lanes before `count`.
HWY_INLINE hn::Mask<Floats> first_lanes(std::ptrdiff_t count) {
  return hn::FirstN(Floats(), static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(count, 0, kLanes)));
}

// The first `count` floats, or a whole vector if there are more; other lanes are +0, and are not read.
HWY_INLINE Vector load_first(const float* from, std::ptrdiff_t count) {
  const Floats d;
  if (count >= kLanes) return hn::LoadU(d, from);
  if (count <= 0) return hn::Zero(d);
#if SIGHTLINE_NN_MASKED
  return hn::MaskedLoad(first_lanes(count), d, from);
#else
  HWY_ALIGN float lanes[kLanes] = {};
  std::copy_n(from, count, lanes);
  return hn::Load(d, lanes);
#endif
}

// Stores the first `count` lanes, or all if there are fewer.
HWY_INLINE void store_first(Vector x, float* to, std::ptrdiff_t count) {
  const Floats d;
  if (count >= kLanes) return hn::StoreU(x, d, to);
  if (count <= 0) return;
#if SIGHTLINE_NN_MASKED
  hn::BlendedStore(x, first_lanes(count), d, to);
#else
  HWY_ALIGN float lanes[kLanes];
  hn::Store(x, d, lanes);
  std::copy_n(lanes, count, to);
#endif
}

#undef SIGHTLINE_NN_MASKED

// a * b + c, rounded once on each processor.
HWY_INLINE Vector fused(Vector a, Vector b, Vector c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const Floats d;
  HWY_ALIGN float x[kLanes], y[kLanes], z[kLanes];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (int i = 0; i < kLanes; ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
