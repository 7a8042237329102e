// Features of many samples at a time; `features.cpp` has the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/cascade/training/features_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "detectors/cascade/training/features.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::cascade::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void take_patterns(const PatternCorners& corners, const std::uint16_t* sums, std::uint8_t* patterns) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  using V = hn::Vec<decltype(d)>;
  const hn::RebindToSigned<decltype(d)> di;
  for (std::size_t s = 0; s < kTogether; s += hn::Lanes(d)) {
    V blocks[3][3], upper[3];
    for (int row = 0; row < 4; ++row) {
      V at[4];
      for (int c = 0; c < 4; ++c) at[c] = hn::LoadU(d, sums + corners.at[4 * row + c] + s);
      for (int c = 0; c < 3; ++c) {
        const V across = hn::Sub(at[c + 1], at[c]);
        if (row > 0) blocks[row - 1][c] = hn::Sub(across, upper[c]);
        upper[c] = across;
      }
    }
    const V middle = blocks[1][1];
    V pattern = hn::Zero(d);
    const auto add = [&](V block, std::uint16_t bit) HWY_ATTR {
      const auto is_bright = hn::Eq(hn::Max(block, middle), block);
      pattern = hn::Or(pattern, hn::IfThenElseZero(is_bright, hn::Set(d, bit)));
    };
    add(blocks[0][0], 128);
    add(blocks[0][1], 64);
    add(blocks[0][2], 32);
    add(blocks[1][2], 16);
    add(blocks[2][2], 8);
    add(blocks[2][1], 4);
    add(blocks[2][0], 2);
    add(blocks[1][0], 1);
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, pattern)), d8, patterns + s);
  }
}

void take_values(const ValueCorners& corners, const std::int32_t* sums, const float* norms, float* values) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  for (std::size_t s = 0; s < kTogether; s += hn::Lanes(df)) {
    auto value = hn::Zero(df);
    for (int r = 0; r < corners.rects; ++r) {
      const auto at = [&](int c) HWY_ATTR { return hn::LoadU(di, sums + corners.at[r][c] + s); };
      const auto sum = hn::Sub(hn::Add(at(0), at(3)), hn::Add(at(1), at(2)));
      // Whole numbers below 2^24: exact.
      value = hn::Add(value, hn::Mul(hn::Set(df, corners.weights[r]), hn::ConvertTo(df, sum)));
    }
    hn::StoreU(hn::Mul(value, hn::LoadU(df, norms + s)), df, values + s);
  }
}

ValueRange range_of(const float* values, std::size_t count) {
  const hn::ScalableTag<float> df;
  auto low = hn::LoadU(df, values), high = low;
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto value = hn::LoadU(df, values + i);
    low = hn::Min(low, value);
    high = hn::Max(high, value);
  }
  const float lowest = hn::GetLane(hn::MinOfLanes(df, low)), highest = hn::GetLane(hn::MaxOfLanes(df, high));
  return {lowest, highest, highest > lowest ? 256 / (highest - lowest) : 0};
}

void take_bins(const float* values, std::size_t count, const ValueRange& range, std::uint8_t* bins) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<std::uint8_t, decltype(df)> d8;
  const auto lowest = hn::Set(df, range.lowest), scale = hn::Set(df, range.bins), last = hn::Set(df, 255.0F);
  for (std::size_t i = 0; i < count; i += hn::Lanes(df)) {
    const auto at = hn::Mul(hn::Sub(hn::LoadU(df, values + i), lowest), scale);
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(di, hn::Min(hn::Max(at, hn::Zero(df)), last))), d8, bins + i);
  }
}

}  // namespace sightline::cascade::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::cascade {
HWY_EXPORT(take_patterns);
HWY_EXPORT(take_values);
HWY_EXPORT(range_of);
HWY_EXPORT(take_bins);

void take_patterns(const PatternCorners& corners, const std::uint16_t* sums, std::uint8_t* patterns) {
  HWY_DYNAMIC_DISPATCH(take_patterns)(corners, sums, patterns);
}

void take_values(const ValueCorners& corners, const std::int32_t* sums, const float* norms, float* values) {
  HWY_DYNAMIC_DISPATCH(take_values)(corners, sums, norms, values);
}

ValueRange range_of(const float* values, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(range_of)(values, count);
}

void take_bins(const float* values, std::size_t count, const ValueRange& range, std::uint8_t* bins) {
  HWY_DYNAMIC_DISPATCH(take_bins)(values, count, range, bins);
}

}  // namespace sightline::cascade
#endif  // HWY_ONCE
