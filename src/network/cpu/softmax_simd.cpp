// Softmax over few elements, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/softmax_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "network/cpu/fold_simd.hpp"
#include "network/cpu/functions_simd.hpp"
#include "network/cpu/softmax.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

#if HWY_NATIVE_FMA

// The lanes `distance` away, whose numbers differ in that bit alone. @param x  blocks; @param n  vector of x
template <int distance, int N>
HWY_INLINE Vector partners(const Reals<N>& x, int n) {
  const Floats d;
  if constexpr (distance >= kLanes) return x.v[n ^ (distance / kLanes)];
  if constexpr (distance == 8) return hn::ConcatLowerUpper(d, x.v[n], x.v[n]);
  if constexpr (distance == 4) return hn::SwapAdjacentBlocks(x.v[n]);
  if constexpr (distance == 2) return hn::Shuffle1032(x.v[n]);
  return hn::Shuffle2301(x.v[n]);
}

// Each lane gets the fold of the `count` lanes that it belongs to: of lanes count / 2 apart first, as Reduce
// folds its 16 lanes.
template <int count, typename Op, int N>
HWY_INLINE Reals<N> folded_neighbours(const Op& op, const Reals<N>& x) {
  if constexpr (count == 1) {
    return x;
  } else {
    const auto half =
        each<Reals, N>([&](int n) HWY_ATTR { return op.both(x.v[n], partners<count / 2>(x, n)); });
    return folded_neighbours<count / 2>(op, half);
  }
}

// Softmax of N vectors.
template <int count, int N>
HWY_INLINE void softmax_vectors(const float* from, float* to) {
  const Floats d;
  const Extreme maximum(true);
  const auto x = each<Reals, N>([&](int n) HWY_ATTR { return hn::LoadU(d, from + n * kLanes); });
  const auto seen = each<Reals, N>([&](int n) HWY_ATTR { return maximum.seen(x.v[n]); });
  const Reals<N> largest = folded_neighbours<count>(maximum, seen);
  const Reals<N> powers = functions::exponential(
      functions::subtract(x, each<Reals, N>([&](int n) HWY_ATTR { return maximum.seen(largest.v[n]); })));
  const Reals<N> y = functions::divide(powers, folded_neighbours<count>(Sum(), powers));
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n) hn::StoreU(y.v[n], d, to + n * kLanes);
}

template <int count>
void softmax_points(const float* x, int points, float* y) {
  constexpr int kTogether = kVectors < 4 ? 4 / kVectors : 1;  // points
  int p = 0;
  for (; p + kTogether <= points; p += kTogether)
    softmax_vectors<count, kTogether * kVectors>(x + p * kBlock, y + p * kBlock);
  for (; p < points; ++p) softmax_vectors<count, kVectors>(x + p * kBlock, y + p * kBlock);
}

void softmax(int count, const float* x, int points, float* y) {
  count == 2   ? softmax_points<2>(x, points, y)
  : count == 4 ? softmax_points<4>(x, points, y)
  : count == 8 ? softmax_points<8>(x, points, y)
               : softmax_points<16>(x, points, y);
}

#else

void softmax(int /*count*/, const float* /*x*/, int /*points*/, float* /*y*/) {}

#endif

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(softmax);

void softmax_lanes(int count, const float* x, int points, float* y) {
  HWY_DYNAMIC_DISPATCH(softmax)(count, x, points, y);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
