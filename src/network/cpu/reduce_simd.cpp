// Folds, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/reduce_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <type_traits>

#include "network/cpu/fold_simd.hpp"
#include "network/cpu/reduce.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

constexpr int kTreeLanes = 16;  // of Reduce

// Adds or compares the 16 lanes of a block: those of l + 8 to l, then l + 4, l + 2 and l + 1.
template <typename Op>
HWY_INLINE float folded_lanes(const Op& op, Vector (&x)[kVectors]) {
  const Floats d;
#pragma GCC unroll 4
  for (int half = kVectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 4
    for (int v = 0; v < half; ++v) x[v] = op.both(x[v], x[v + half]);
  }
  Vector all = x[0];
  if constexpr (kLanes == 16) all = op.both(all, hn::ConcatUpperUpper(d, all, all));
  if constexpr (kLanes >= 8) all = op.both(all, hn::SwapAdjacentBlocks(all));
  all = op.both(all, hn::Shuffle1032(all));
  all = op.both(all, hn::Shuffle2301(all));
  return hn::GetLane(op.seen(all));
}

// The lanes of a block whose elements are there; the others are the fold's initial value.
template <typename Op>
HWY_INLINE Vector seen_first(const Op& op, const float* from, std::ptrdiff_t count) {
  const Vector x = op.seen(load_first(from, count));
  return hn::IfThenElse(first_lanes(count), x, constant(Op::kInitial));
}

// The fold of one point's elements by lanes, for sums and extremes.
template <typename Op>
HWY_INLINE float folded_point(const Op& op, const PointElements& elements, std::ptrdiff_t offset) {
  const Floats d;
  const int whole = elements.count / kBlock, rest = elements.count % kBlock;
  Vector all[kVectors];
  for (Vector& one : all) one = constant(Op::kInitial);
  for (int b = 0; b < whole; ++b) {
    const float* const from = elements.blocks[b] + offset;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) all[v] = op.both(all[v], op.seen(hn::LoadU(d, from + v * kLanes)));
  }
  if (rest > 0) {
    const float* const from = elements.blocks[whole] + offset;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      all[v] = op.both(all[v], seen_first(op, from + v * kLanes, rest - v * kLanes));
  }
  return folded_lanes(op, all);
}

float product_of_point(const PointElements& elements, std::ptrdiff_t offset) {
  float all = 1;
  for (int c = 0; c < elements.count; ++c) all *= elements.blocks[c / kBlock][offset + c % kBlock];
  return all;
}

void fold_points(Fold fold, const PointElements& elements, float* out, std::ptrdiff_t out_step) {
  with_fold(fold, [&]<typename Op>(const Op& op) HWY_ATTR {
    for (int p = 0; p < elements.points; ++p, out += out_step) {
      const std::ptrdiff_t offset = p * elements.point_step;
      if constexpr (std::is_same_v<Op, Multiplication>) {
        *out = product_of_point(elements, offset);
      } else {
        *out = folded_point(op, elements, offset);
      }
    }
  });
}

// --- elements in rows

constexpr int kTogether = kLanes == 16 ? 4 : 2;  // vectors of places

// Calls `run(number, i, rest)` for N vectors of places from i on, of which `rest` places are there.
template <typename Run>
HWY_INLINE void for_places(int width, const Run& run) {
  int i = 0;
  for (; i + kTogether * kLanes <= width; i += kTogether * kLanes)
    run(std::integral_constant<int, kTogether>(), i, kTogether * kLanes);
  for (; i < width; i += kLanes) run(std::integral_constant<int, 1>(), i, width - i);
}

// Sums of the lanes from `lane` on, Step apart, of Reduce's 16.
template <int Step, int N, typename At>
HWY_INLINE void sum_lanes(int lane, int count, const At& at, Vector (&sums)[N]) {
  if constexpr (Step == kTreeLanes) {
    for (Vector& sum : sums) sum = hn::Zero(Floats());
    for (int e = lane; e < count; e += kTreeLanes) {
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) sums[n] = hn::Add(sums[n], at(e, n));
    }
  } else {
    Vector others[N];
    sum_lanes<2 * Step>(lane, count, at, sums);
    sum_lanes<2 * Step>(lane + Step, count, at, others);
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) sums[n] = hn::Add(sums[n], others[n]);
  }
}

void fold_rows(Fold fold, const RowElements& elements, float* out) {
  with_fold(fold, [&]<typename Op>(const Op& op) HWY_ATTR {
    for_places(elements.width, [&](auto number, int i, int rest) HWY_ATTR {
      constexpr int N = number;
      const auto at = [&](int e, int n)
                          HWY_ATTR { return op.seen(load_first(elements.rows[e] + i + n * kLanes, rest)); };
      Vector all[N];
      if constexpr (std::is_same_v<Op, Sum>) {
        sum_lanes<1>(0, elements.count, at, all);
      } else {
        for (Vector& one : all) one = constant(Op::kInitial);
        for (int e = 0; e < elements.count; ++e) {
#pragma GCC unroll 4
          for (int n = 0; n < N; ++n) all[n] = op.both(all[n], at(e, n));
        }
      }
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) store_first(op.seen(all[n]), out + i + n * kLanes, rest);
    });
  });
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(fold_points);
HWY_EXPORT(fold_rows);

void fold_within_points(Fold fold, const PointElements& elements, float* out, std::ptrdiff_t out_step) {
  HWY_DYNAMIC_DISPATCH(fold_points)(fold, elements, out, out_step);
}
void fold_across_rows(Fold fold, const RowElements& elements, float* out) {
  HWY_DYNAMIC_DISPATCH(fold_rows)(fold, elements, out);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
