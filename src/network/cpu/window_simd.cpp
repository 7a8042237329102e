// Folds of windows, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/window_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "network/cpu/fold_simd.hpp"
#include "network/cpu/window.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

// Maxima and minima have any order, so that kernel rows come first: one row is left.
bool folds_rows_first(Fold fold) {
  return fold == Fold::maximum || fold == Fold::minimum;
}

// to[i] = fold of rows[r][offset + i] for i before `count`
template <typename Op>
HWY_INLINE void fold_columns(const Op& op, const float* const* rows, int row_count, std::ptrdiff_t offset,
                             std::ptrdiff_t count, float* to) {
  for (std::ptrdiff_t i = 0; i < count; i += kLanes) {
    Vector all = op.seen(load_first(rows[0] + offset + i, count - i));
    for (int r = 1; r < row_count; ++r)
      all = op.both(all, op.seen(load_first(rows[r] + offset + i, count - i)));
    store_first(all, to + i, count - i);
  }
}

// Writes the rows that windows read, with the fold's initial value for points outside of the map.
template <typename Op>
HWY_INLINE int gather_rows(const Op& op, const WindowRow& row, const WindowReach& reach, float* scratch) {
  const auto count = reach.count;
  const std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(-reach.first, 0, count),
                       end = std::clamp<std::ptrdiff_t>(row.in_width - reach.first, begin, count);
  const bool are_folded = folds_rows_first(row.fold) && row.row_count > 0;
  const int kept = are_folded ? 1 : row.row_count, together = are_folded ? row.row_count : 1;
  for (int r = 0; r < kept; ++r, scratch += count * row.lanes) {
    std::fill(scratch, scratch + begin * row.lanes, Op::kInitial);
    fold_columns(op, row.rows + r, together, (reach.first + begin) * row.lanes, (end - begin) * row.lanes,
                 scratch + begin * row.lanes);
    std::fill(scratch + end * row.lanes, scratch + count * row.lanes, Op::kInitial);
  }
  return kept;
}

// The folds of N vectors `step` floats apart, of one row of taps.
template <int N, typename Op>
HWY_INLINE void fold_row_of_taps(const Op& op, int kernel, std::ptrdiff_t tap_step, const float* from,
                                 std::ptrdiff_t step, float* to) {
  const Floats d;
  Vector all[N];
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) all[n] = hn::LoadU(d, from + n * step);
  for (int k = 1; k < kernel; ++k) {
    from += tap_step;
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) all[n] = op.both(all[n], hn::LoadU(d, from + n * step));
  }
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) hn::StoreU(op.seen(all[n]), d, to + n * kBlock);
}

// The fold of all taps, of which the first is at `from` in the first of the rows.
template <typename Op, typename Load>
HWY_INLINE Vector fold_taps(const Op& op, int rows, std::ptrdiff_t row_step, int kernel,
                            std::ptrdiff_t tap_step, const float* from, const Load& load) {
  Vector all = constant(Op::kInitial);
  for (int r = 0; r < rows; ++r, from += row_step) {
    for (int k = 0; k < kernel; ++k) all = op.both(all, load(from + k * tap_step));
  }
  return op.seen(all);
}

void fold_row(const WindowRow& given, float* scratch) {
  const Floats d;
  const WindowRow row = given;  // in registers: stores may change what `given` refers to
  if (row.width == 0) return;
  const WindowReach reach = reach_of(row);
  with_fold(row.fold, [&]<typename Op>(const Op& op) HWY_ATTR {
    const int rows = gather_rows(op, row, reach, scratch);
    const std::ptrdiff_t row_step = reach.count * row.lanes,
                         tap_step = std::ptrdiff_t{row.tap_step} * row.lanes;
    const float* const first = scratch + reach.tap * row.lanes;
    const auto fold = [&](std::ptrdiff_t point, int lane, const auto& load) HWY_ATTR {
      return fold_taps(op, rows, row_step, row.kernel, tap_step, first + point * row.step * row.lanes + lane,
                       load);
    };
    if constexpr (std::is_same_v<Op, Extreme>) {
      // One row is left, and the first tap can be the fold of it alone.
      if (row.lanes == kBlock && rows == 1) {
        const std::ptrdiff_t step = std::ptrdiff_t{row.step} * kBlock;
        for (int lane = 0; lane < kBlock; lane += kLanes) {
          const float* const from = first + lane;
          int x = 0;
          for (; x + 8 <= row.width; x += 8)
            fold_row_of_taps<8>(op, row.kernel, tap_step, from + x * step, step, row.out + x * kBlock + lane);
          for (; x < row.width; ++x)
            fold_row_of_taps<1>(op, row.kernel, tap_step, from + x * step, step, row.out + x * kBlock + lane);
        }
        return;
      }
    }
    if (row.lanes == kBlock) {
      const auto load = [](const float* at) HWY_ATTR { return hn::LoadU(Floats(), at); };
      for (int x = 0; x < row.width; ++x) {
#pragma GCC unroll 4
        for (int lane = 0; lane < kBlock; lane += kLanes)
          hn::StoreU(fold(x, lane, load), d, row.out + x * kBlock + lane);
      }
      return;
    }
    for (int x = 0; x < row.width; x += kLanes) {
      const int rest = std::min(row.width - x, kLanes);
      const auto load = [&](const float* at) HWY_ATTR {
        if (row.step == 1) return load_first(at, rest);
        HWY_ALIGN float lanes[kLanes] = {};
        for (int i = 0; i < rest; ++i) lanes[i] = at[i * row.step];
        return hn::Load(d, lanes);
      };
      store_first(fold(x, 0, load), row.out + x, rest);
    }
  });
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(fold_row);

void fold_window(const WindowRow& row, float* scratch) {
  HWY_DYNAMIC_DISPATCH(fold_row)(row, scratch);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
