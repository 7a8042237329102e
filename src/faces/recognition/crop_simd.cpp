// A crop's row in SIMD; the scalar form is in sampling.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "faces/recognition/crop_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <cstring>

#include "faces/recognition/sampling.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::recognition::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::int32_t, 16>;
using VWords = hn::VFromD<Words>;

// Two neighbours, the left one in the lower byte.
HWY_INLINE std::uint32_t pair_at(const std::uint8_t* pixel) {
  return pixel[0] | static_cast<std::uint32_t>(pixel[1]) << 8;
}

// Samples places with coordinates in 2^-16 pixel.
HWY_INLINE void sample(const SampledRow& row, VWords x, VWords y, std::uint8_t* target) {
  const Words d;
  constexpr std::size_t kMost = 16;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::int32_t columns[kMost], rows[kMost];
  HWY_ALIGN std::uint32_t pixels[kMost];
  hn::Store(hn::ShiftRight<kStepBits>(x), d, columns);
  hn::Store(hn::ShiftRight<kStepBits>(y), d, rows);
  // Loads one by one: a gather would be no faster, and may not read past the last pixel.
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::uint8_t* const upper = row.pixels + rows[i] * row.stride + columns[i];
    pixels[i] = pair_at(upper) | pair_at(upper + row.stride) << 16;
  }
  const hn::RebindToUnsigned<Words> du;
  const auto all = hn::Load(du, pixels);
  const auto byte = hn::Set(du, 0xFFU);
  const auto pixel = [&](auto shifted) HWY_ATTR { return hn::BitCast(d, hn::And(shifted, byte)); };
  const auto weight = [&](VWords place) HWY_ATTR {
    return hn::And(hn::ShiftRight<kStepBits - kWeightBits>(place), hn::Set(d, kWeightOne - 1));
  };
  const auto between = [](VWords first, VWords second, VWords part) HWY_ATTR {
    return hn::Add(hn::ShiftLeft<kWeightBits>(first), hn::Mul(hn::Sub(second, first), part));
  };
  const auto right = weight(x);
  const auto upper = between(pixel(all), pixel(hn::ShiftRight<8>(all)), right);
  const auto lower = between(pixel(hn::ShiftRight<16>(all)), pixel(hn::ShiftRight<24>(all)), right);
  constexpr int kBits = 2 * kWeightBits;
  const auto mixed =
      hn::ShiftRight<kBits>(hn::Add(between(upper, lower, weight(y)), hn::Set(d, 1 << (kBits - 1))));
  const hn::Rebind<std::uint8_t, Words> d8;
  hn::StoreU(hn::DemoteTo(d8, mixed), d8, target);
}

// Returns how many pixels were made: all, or none if they do not fill a vector.
int sample_pixels(const SampledRow& row, std::uint8_t* target) {
  const Words d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (row.count < lanes) return 0;
  const auto lane = hn::Iota(d, 0);
  const auto along = hn::Mul(lane, hn::Set(d, row.step_x)), down = hn::Mul(lane, hn::Set(d, row.step_y));
  for (int i = 0; i < row.count; i += lanes) {
    // The last vector overlaps the one before it.
    if (i + lanes > row.count) i = row.count - lanes;
    sample(row, hn::Add(along, hn::Set(d, row.x + i * row.step_x)),
           hn::Add(down, hn::Set(d, row.y + i * row.step_y)), target + i);
  }
  return row.count;
}

}  // namespace sightline::recognition::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::recognition {
HWY_EXPORT(sample_pixels);

void sample_row(const SampledRow& row, std::uint8_t* target) {
  const Similarity from{0, row.x, row.y, row.step_x, row.step_y};
  for (int i = HWY_DYNAMIC_DISPATCH(sample_pixels)(row, target); i < row.count; ++i) {
    const Place at = place_of(from, i, 0);
    const std::uint8_t* const upper = row.pixels + at.y * row.stride + at.x;
    const std::uint8_t* const lower = upper + row.stride;
    target[i] = mix(upper[0], upper[1], lower[0], lower[1], at);
  }
}
}  // namespace sightline::recognition
#endif  // HWY_ONCE
