// Moves between layouts, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/move_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>

#include "network/cpu/move.hpp"
#include "network/cpu/rest_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

// --- transposed matrices

using Quad = hn::FixedTag<float, 4>;

// Column j of out's rows is row j of the input. `from(i)` and `to(j)` give addresses of 4 floats.
template <typename From, typename To>
HWY_INLINE void transpose_quad(const From& from, const To& to) {
  const Quad d;
  const auto a = hn::LoadU(d, from(0)), b = hn::LoadU(d, from(1)), c = hn::LoadU(d, from(2)),
             e = hn::LoadU(d, from(3));
  const auto ab = hn::InterleaveLower(d, a, b), ab2 = hn::InterleaveUpper(d, a, b),
             ce = hn::InterleaveLower(d, c, e), ce2 = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce, ab), d, to(0));
  hn::StoreU(hn::ConcatUpperUpper(d, ce, ab), d, to(1));
  hn::StoreU(hn::ConcatLowerLower(d, ce2, ab2), d, to(2));
  hn::StoreU(hn::ConcatUpperUpper(d, ce2, ab2), d, to(3));
}

// to(j)[i] = from(i)[j], where `from` and `to` give addresses of rows.
template <typename From, typename To>
HWY_INLINE void transpose_rows(std::int64_t rows, std::int64_t columns, const From& from, const To& to) {
  constexpr std::int64_t kAtOnce = 8;  // columns, so that what is read and written stays in the cache
  const std::int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (std::int64_t begin = 0; begin < whole_columns; begin += kAtOnce) {
    const std::int64_t end = std::min(begin + kAtOnce, whole_columns);
    for (std::int64_t i = 0; i < whole_rows; i += 4) {
      for (std::int64_t j = begin; j < end; j += 4)
        transpose_quad([&](int r) { return from(i + r) + j; }, [&](int r) { return to(j + r) + i; });
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) to(j)[i] = from(i)[j];
  }
}

// --- channels

// How many channels from `c` on, before `end`, have their points side by side.
template <typename T>
int planes(const Channels<T>& all, int c, int end) {
  int n = 0;
  while (c + n < end && all.step_of(c + n) == 1) ++n;
  return n;
}

// Copies N lanes of each point.
template <int N>
void copy_whole_lanes(const float* from, std::ptrdiff_t from_step, float* to, std::ptrdiff_t to_step,
                      int points) {
  const Floats d;
  for (int p = 0; p < points; ++p, from += from_step, to += to_step) {
#pragma GCC unroll 4
    for (int lane = 0; lane < N; lane += kLanes) hn::StoreU(hn::LoadU(d, from + lane), d, to + lane);
  }
}
void copy_lanes(const float* from, std::ptrdiff_t from_step, float* to, std::ptrdiff_t to_step, int lanes,
                int points) {
  if (lanes == kBlock) return copy_whole_lanes<kBlock>(from, from_step, to, to_step, points);
  if (lanes == 1) {
    for (int p = 0; p < points; ++p) to[p * to_step] = from[p * from_step];
    return;
  }
  for (int p = 0; p < points; ++p, from += from_step, to += to_step) {
    for (int lane = 0; lane < lanes; lane += kLanes)
      store_first(load_first(from + lane, lanes - lane), to + lane, lanes - lane);
  }
}

void copy(const Channels<const float>& from, const Channels<float>& to, int channels, int points) {
  for (int c = 0; c < channels;) {
    const int end = std::min(channels, c + static_cast<int>(kBlock));
    const int from_lanes = from.side_by_side(c, end), to_lanes = to.side_by_side(c, end);
    const int from_planes = planes(from, c, end), to_planes = planes(to, c, end);
    const int rows = std::min(from_planes, to_planes), lanes = std::min(from_lanes, to_lanes);
    const int into_lanes = std::min(from_planes, to_lanes), into_planes = std::min(from_lanes, to_planes);
    const int most = std::max({rows, lanes, into_lanes, into_planes});
    const std::ptrdiff_t from_step = from.step_of(c), to_step = to.step_of(c);
    const auto from_channel = [&](std::int64_t i) { return from.first[c + i]; };
    const auto to_channel = [&](std::int64_t i) { return to.first[c + i]; };
    if (rows == most) {
      for (int i = 0; i < most; ++i) std::copy_n(from_channel(i), points, to_channel(i));
    } else if (lanes == most) {
      copy_lanes(from.first[c], from_step, to.first[c], to_step, most, points);
    } else if (into_lanes == most) {
      transpose_rows(most, points, from_channel, [&](std::int64_t p) { return to.first[c] + p * to_step; });
    } else {
      transpose_rows(
          points, most, [&](std::int64_t p) { return from.first[c] + p * from_step; }, to_channel);
    }
    c += most;
  }
}

void pick_whole(const float* from, const std::int32_t* points, int count, float* to) {
  const Floats d;
  for (int p = 0; p < count; ++p, to += kBlock) {
#pragma GCC unroll 4
    for (int lane = 0; lane < kBlock; lane += kLanes)
      hn::StoreU(hn::LoadU(d, from + points[p] + lane), d, to + lane);
  }
}

void pick_some(const PointVectors& vectors, const std::int32_t* places, const std::int32_t* keys,
               std::int32_t key, float* to) {
  const auto [from, points, count, reach] = vectors;
  if constexpr (kVectors == 1) {
    const Floats d;
    const hn::RebindToSigned<Floats> whole;
    const auto indices = hn::IndicesFromVec(d, hn::LoadU(whole, places));
    const auto is_wanted = hn::RebindMask(d, hn::Eq(hn::LoadU(whole, keys), hn::Set(whole, key)));
    for (int p = 0; p < count; ++p)
      hn::BlendedStore(hn::TableLookupLanes(load_first(from + points[p], reach), indices), is_wanted, d,
                       to + p * kBlock);
    return;
  }
  for (int lane = 0; lane < kBlock; ++lane) {
    if (keys[lane] != key) continue;
    for (int p = 0; p < count; ++p) to[p * kBlock + lane] = from[points[p] + places[lane]];
  }
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(copy);
HWY_EXPORT(pick_whole);
HWY_EXPORT(pick_some);

void copy_channels(const Channels<const float>& from, const Channels<float>& to, int channels, int points) {
  HWY_DYNAMIC_DISPATCH(copy)(from, to, channels, points);
}
void pick_points(const float* from, const std::int32_t* points, int count, float* to) {
  HWY_DYNAMIC_DISPATCH(pick_whole)(from, points, count, to);
}
void pick_lanes(const PointVectors& vectors, const std::int32_t* places, const std::int32_t* keys,
                std::int32_t key, float* to) {
  HWY_DYNAMIC_DISPATCH(pick_some)(vectors, places, keys, key, to);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
