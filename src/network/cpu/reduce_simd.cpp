// Folds and places of extremes, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/reduce_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
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

// Bit l: whether lane l is set.
HWY_INLINE unsigned bits_of(hn::Mask<Floats> mask) {
  std::uint8_t bytes[8] = {};  // StoreMaskBits may write all
  hn::StoreMaskBits(Floats(), mask, bytes);
  return bytes[0] | static_cast<unsigned>(bytes[1]) << 8;
}

// The larger or smaller element of a point. NaN is the largest; if all are NaN, infinity is the smallest.
float extreme_of_point(bool is_largest, const PointElements& elements, std::ptrdiff_t offset) {
  const Vector infinity = constant(Extreme::kInitial);
  const Extreme op(is_largest);
  Vector all[kVectors];
  for (Vector& one : all) one = infinity;
  for (int c = 0; c < elements.count; c += kBlock) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vector x =
          seen_first(op, elements.blocks[c / kBlock] + offset + v * kLanes, elements.count - c - v * kLanes);
      if (!is_largest) x = hn::IfThenElse(hn::Eq(x, x), x, infinity);
      all[v] = op.both(all[v], x);
    }
  }
  return folded_lanes(op, all);
}

std::int64_t place_in_point(const ArgReduce& how, const PointElements& elements, std::ptrdiff_t offset) {
  const float extreme = extreme_of_point(how.largest, elements, offset);
  const Vector wanted = constant(extreme);
  int last = -1;
  for (int c = 0; c < elements.count; c += kLanes) {
    const int rest = elements.count - c;
    const Vector x = load_first(elements.blocks[c / kBlock] + offset + c % kBlock, rest);
    const auto is_wanted = extreme == extreme ? hn::Eq(x, wanted) : hn::Not(hn::Eq(x, x));
    const unsigned bits = bits_of(hn::And(first_lanes(rest), is_wanted));
    if (bits == 0) continue;
    if (!how.last) return c + std::countr_zero(bits);
    last = c + static_cast<int>(std::bit_width(bits)) - 1;
  }
  return last >= 0 ? last : how.last ? elements.count - 1 : 0;  // without any, all are NaN
}

void find_in_points(const ArgReduce& how, const PointElements& elements, std::int64_t* out) {
  for (int p = 0; p < elements.points; ++p) out[p] = place_in_point(how, elements, p * elements.point_step);
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

// is_before of primitives/rows.hpp
HWY_INLINE hn::Mask<Floats> are_before(Vector a, Vector b) {
  return hn::Or(hn::Gt(a, b), hn::AndNot(hn::Eq(a, a), hn::Eq(b, b)));
}

void find_in_rows(const ArgReduce& how, const RowElements& elements, std::int64_t* out) {
  const hn::RebindToSigned<Floats> whole;
  for (int i = 0; i < elements.width; i += kLanes) {
    const int rest = std::min(elements.width - i, kLanes);
    Vector best = load_first(elements.rows[0] + i, rest);
    auto places = hn::Zero(whole);
    for (int e = 1; e < elements.count; ++e) {
      const Vector x = load_first(elements.rows[e] + i, rest);
      const Vector &above = how.largest != how.last ? x : best, &below = how.largest != how.last ? best : x;
      const auto is_before = are_before(above, below);
      const auto is_better = how.last ? hn::Not(is_before) : is_before;
      best = hn::IfThenElse(is_better, x, best);
      places = hn::IfThenElse(hn::RebindMask(whole, is_better), hn::Set(whole, e), places);
    }
    HWY_ALIGN std::int32_t lanes[kLanes];
    hn::Store(places, whole, lanes);
    std::copy_n(lanes, rest, out + i);
  }
}

// --- maps

void sum_map(const BlockMap& map, float* out) {
  const Floats d;
  for (int lane = 0; lane < kBlock; lane += kLanes) {
    Vector sums[kTreeLanes];
    for (Vector& sum : sums) sum = hn::Zero(d);
    unsigned i = 0;
    for (int y = 0; y < map.height; ++y) {
      const float* const row = map.points + y * map.row_step + lane;
      for (int x = 0; x < map.width; ++x, ++i)
        sums[i % kTreeLanes] = hn::Add(sums[i % kTreeLanes], hn::LoadU(d, row + x * kBlock));
    }
    for (int half = kTreeLanes / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) sums[l] = hn::Add(sums[l], sums[l + half]);
    }
    hn::StoreU(sums[0], d, out + lane);
  }
}

// Extremes have two chains, so that none waits for the last one's result.
template <typename Op>
HWY_INLINE Vector folded_row(const Op& op, const float* row, int width, Vector all) {
  const Floats d;
  const auto at = [&](int x) HWY_ATTR { return op.seen(hn::LoadU(d, row + x * kBlock)); };
  int x = 0;
  if constexpr (std::is_same_v<Op, Extreme>) {
    Vector other = all;
    for (; x + 2 <= width; x += 2) {
      all = op.both(all, at(x));
      other = op.both(other, at(x + 1));
    }
    all = op.both(all, other);
  }
  for (; x < width; ++x) all = op.both(all, at(x));
  return all;
}

void fold_block(Fold fold, const BlockMap& map, float* out) {
  with_fold(fold, [&]<typename Op>(const Op& op) HWY_ATTR {
    if constexpr (std::is_same_v<Op, Sum>) return sum_map(map, out);
    for (int lane = 0; lane < kBlock; lane += kLanes) {
      Vector all = constant(Op::kInitial);
      for (int y = 0; y < map.height; ++y)
        all = folded_row(op, map.points + y * map.row_step + lane, map.width, all);
      hn::StoreU(op.seen(all), Floats(), out + lane);
    }
  });
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(fold_points);
HWY_EXPORT(find_in_points);
HWY_EXPORT(fold_rows);
HWY_EXPORT(find_in_rows);
HWY_EXPORT(fold_block);

void fold_within_points(Fold fold, const PointElements& elements, float* out, std::ptrdiff_t out_step) {
  HWY_DYNAMIC_DISPATCH(fold_points)(fold, elements, out, out_step);
}
void find_within_points(const ArgReduce& how, const PointElements& elements, std::int64_t* out) {
  HWY_DYNAMIC_DISPATCH(find_in_points)(how, elements, out);
}
void fold_across_rows(Fold fold, const RowElements& elements, float* out) {
  HWY_DYNAMIC_DISPATCH(fold_rows)(fold, elements, out);
}
void find_across_rows(const ArgReduce& how, const RowElements& elements, std::int64_t* out) {
  HWY_DYNAMIC_DISPATCH(find_in_rows)(how, elements, out);
}
void fold_map(Fold fold, const BlockMap& map, float* out) {
  HWY_DYNAMIC_DISPATCH(fold_block)(fold, map, out);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
