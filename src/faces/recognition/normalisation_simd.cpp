// Blurs and differences of crops in SIMD; normalisation.cpp has the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "faces/recognition/normalisation_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "faces/recognition/normalisation.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::recognition::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 32 of them: rows of sums are multiples of that, see kRowUnit.
using Sums = hn::CappedTag<std::int16_t, 32>;
using Words = hn::RepartitionToWide<Sums>;
using VSums = hn::VFromD<Sums>;
using VWords = hn::VFromD<Words>;

constexpr std::int32_t kSumsZero = 1 << 15;  // offset subtracted from sums of rows, so that they fit signed
                                             // words

// Sums of a row, whose first pixel is `row` and around which as many pixels can be read as weights reach.
void blur_row(const std::uint8_t* row, int width, const std::uint8_t* weights, int reach,
              std::int16_t* sums) {
  const hn::RebindToUnsigned<Sums> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto pixels = [&](const std::uint8_t* from)
                          HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(d8, from)); };
  for (int x = 0; x < width; x += lanes) {
    auto sum = hn::Mul(pixels(row + x), hn::Set(d, weights[0]));
    for (int i = 1; i <= reach; ++i) {
      const auto both = hn::Add(pixels(row + x - i), pixels(row + x + i));
      sum = hn::Add(sum, hn::Mul(both, hn::Set(d, weights[i])));
    }
    const Sums signed_d;
    const auto without = hn::Xor(sum, hn::Set(d, static_cast<std::uint16_t>(kSumsZero)));
    hn::Store(hn::BitCast(signed_d, without), signed_d, sums + x);
  }
}

// Two vectors of words: what InterleaveLower and InterleaveUpper make of one of sums.
struct Pair {
  VWords lower, upper;
};

// The columns' sums of a vector of pixels of row y. `sums` has rows of `stride`, of which there are `height`.
HWY_INLINE Pair blur_columns(const std::int16_t* sums, std::ptrdiff_t stride, int height, int y,
                             const std::uint8_t* weights, int reach) {
  const Sums d;
  const Words dw;
  Pair total{hn::Zero(dw), hn::Zero(dw)}, rest = total;  // lanes that some processors add up last
  const auto add = [&](VSums first, VSums second, int weight) HWY_ATTR {
    const auto both = hn::Set(d, static_cast<std::int16_t>(weight));
    total.lower = hn::ReorderWidenMulAccumulate(dw, hn::InterleaveLower(d, first, second), both, total.lower,
                                                rest.lower);
    total.upper = hn::ReorderWidenMulAccumulate(dw, hn::InterleaveUpper(d, first, second), both, total.upper,
                                                rest.upper);
  };
  add(hn::Load(d, sums + y * stride), hn::Zero(d), weights[0]);
  for (int i = 1; i <= reach; ++i) {
    add(hn::Load(d, sums + std::max(y - i, 0) * stride),
        hn::Load(d, sums + std::min(y + i, height - 1) * stride), weights[i]);
  }
  const auto zero = hn::Set(dw, kSumsZero << 8);
  return {hn::Add(hn::RearrangeToOddPlusEven(total.lower, rest.lower), zero),
          hn::Add(hn::RearrangeToOddPlusEven(total.upper, rest.upper), zero)};
}

// Back to pixels in their order.
HWY_INLINE void store_pixels(Pair levels, std::uint8_t* pixels) {
  const Sums d;
  const hn::Rebind<std::uint8_t, Sums> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::ReorderDemote2To(d, levels.lower, levels.upper)), d8, pixels);
}

// A row of a blur alone.
void round_row(const std::int16_t* sums, std::ptrdiff_t stride, Size size, int y, const std::uint8_t* weights,
               int reach, std::uint8_t* pixels) {
  const Words dw;
  const int lanes = static_cast<int>(hn::Lanes(Sums()));
  const auto half = hn::Set(dw, 1 << 15);
  for (int x = 0; x < size.width; x += lanes) {
    Pair v = blur_columns(sums + x, stride, size.height, y, weights, reach);
    v.lower = hn::ShiftRight<16>(hn::Add(v.lower, half));
    v.upper = hn::ShiftRight<16>(hn::Add(v.upper, half));
    store_pixels(v, pixels + x);
  }
}

// Differences relative to the wider blur, in 2^16 per level.
HWY_INLINE VWords relative(VWords differences, VWords away) {
  const Words dw;
  const auto numerator = hn::ShiftLeft<kRelativeBits>(differences);
  const auto denominator = hn::Add(hn::ShiftRight<8>(away), hn::Set(dw, kDarkness));
  // Doubles hold both exactly, and no quotient of theirs is rounded up to a whole number that it is below.
  const hn::Half<Words> dh;
  const hn::Rebind<double, decltype(dh)> df;
  const auto lower = hn::Div(hn::PromoteTo(df, hn::LowerHalf(dh, numerator)),
                             hn::PromoteTo(df, hn::LowerHalf(dh, denominator)));
  const auto upper = hn::Div(hn::PromoteTo(df, hn::UpperHalf(dh, numerator)),
                             hn::PromoteTo(df, hn::UpperHalf(dh, denominator)));
  const auto quotient = hn::Combine(dw, hn::DemoteTo(dh, upper), hn::DemoteTo(dh, lower));
  const auto most = hn::Set(dw, kMostRelative);
  return hn::Min(hn::Max(quotient, hn::Neg(most)), most);
}

// A row of differences, in the order of Pair; returns the sum of their magnitudes. `crop` is the row's pixels
// where there is no inner blur, else null.
std::uint32_t difference_row(const std::int16_t* inner, const std::uint8_t* inner_weights, int inner_reach,
                             const std::uint8_t* crop, const std::int16_t* outer,
                             const std::uint8_t* outer_weights, int outer_reach, bool is_relative,
                             std::ptrdiff_t stride, Size size, int y, std::int32_t* differences) {
  const Sums d;
  const Words dw;
  const hn::Rebind<std::uint8_t, Sums> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto rounding = hn::Set(dw, 128);
  auto sum = hn::Zero(dw);
  for (int x = 0; x < size.width; x += lanes) {
    Pair from;
    if (crop != nullptr) {
      const auto pixels = hn::PromoteTo(d, hn::LoadU(d8, crop + x));
      from.lower = hn::BitCast(dw, hn::InterleaveLower(d, hn::Zero(d), pixels));
      from.upper = hn::BitCast(dw, hn::InterleaveUpper(d, hn::Zero(d), pixels));
    } else {
      from = blur_columns(inner + x, stride, size.height, y, inner_weights, inner_reach);
    }
    const Pair away = blur_columns(outer + x, stride, size.height, y, outer_weights, outer_reach);
    auto lower = hn::ShiftRight<8>(hn::Add(hn::Sub(from.lower, away.lower), rounding));
    auto upper = hn::ShiftRight<8>(hn::Add(hn::Sub(from.upper, away.upper), rounding));
    if (is_relative) {
      lower = relative(lower, away.lower);
      upper = relative(upper, away.upper);
    }
    hn::Store(lower, dw, differences + x);
    hn::Store(upper, dw, differences + x + lanes / 2);
    sum = hn::Add(sum, hn::Add(hn::Abs(lower), hn::Abs(upper)));
  }
  return static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(dw, sum)));
}

// A row of pixels of its differences.
void scale_row(const std::int32_t* differences, int width, std::int32_t mean, std::int32_t gain,
               std::uint8_t* pixels) {
  const Words dw;
  const int lanes = static_cast<int>(hn::Lanes(Sums()));
  const auto most = hn::Set(dw, kLargestDifference * mean), least = hn::Neg(most);
  const auto scaled = [&](const std::int32_t* from) HWY_ATTR {
    const auto clamped = hn::Min(hn::Max(hn::Load(dw, from), least), most);
    const auto product = hn::Add(hn::Mul(clamped, hn::Set(dw, gain)), hn::Set(dw, 1 << 15));
    return hn::Add(hn::ShiftRight<16>(product), hn::Set(dw, 128));
  };
  for (int x = 0; x < width; x += lanes)
    store_pixels({scaled(differences + x), scaled(differences + x + lanes / 2)}, pixels + x);
}

}  // namespace sightline::recognition::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::recognition {
HWY_EXPORT(blur_row);
HWY_EXPORT(round_row);
HWY_EXPORT(difference_row);
HWY_EXPORT(scale_row);

GrayView Normaliser::run(GrayView crop, const Normalisation& normalisation) {
  if (normalisation == Normalisation{}) return crop;
  constexpr int kRowUnit = 32;  // the most sums that a vector has
  const int width = crop.width(), height = crop.height();
  const int padded = (width + kRowUnit - 1) / kRowUnit * kRowUnit;
  const auto stride = static_cast<std::ptrdiff_t>(padded);
  const auto elements = static_cast<std::size_t>(padded) * static_cast<std::size_t>(height);
  result_.resize(padded, height);
  row_.resize(static_cast<std::size_t>(padded + 2 * kMostBlurReach));
  inner_.resize(elements);
  outer_.resize(elements);
  const std::span<const std::uint8_t> inner = blur_weights(normalisation.inner);
  const std::span<const std::uint8_t> outer = blur_weights(normalisation.outer);
  const int inner_reach = static_cast<int>(inner.size()) - 1,
            outer_reach = static_cast<int>(outer.size()) - 1;
  std::uint8_t* const middle = row_.data() + kMostBlurReach;
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* const from = crop.row(y);
    std::fill_n(row_.data(), kMostBlurReach, from[0]);
    std::memcpy(middle, from, static_cast<std::size_t>(width));
    std::fill(middle + width, row_.data() + row_.size(), from[width - 1]);
    const auto blur = [&](int deviation, const std::span<const std::uint8_t> weights, int reach,
                          std::int16_t* sums) {
      if (deviation == 0) return;
      HWY_DYNAMIC_DISPATCH(blur_row)(middle, width, weights.data(), reach, sums + y * stride);
      // Padding after the row's end is equal for all blurs, so it has no effect.
      std::fill(sums + y * stride + width, sums + (y + 1) * stride, std::int16_t{0});
    };
    blur(normalisation.inner, inner, inner_reach, inner_.data());
    blur(normalisation.outer, outer, outer_reach, outer_.data());
  }
  const GrayView result{result_.view().data(), width, height, result_.stride()};
  if (normalisation.outer == 0) {
    for (int y = 0; y < height; ++y) {
      HWY_DYNAMIC_DISPATCH(round_row)
      (inner_.data(), stride, crop.size(), y, inner.data(), inner_reach, result_.view().row(y));
    }
    return result;
  }
  differences_.resize(elements);
  std::uint64_t sum = 0;
  for (int y = 0; y < height; ++y) {
    if (normalisation.inner == 0) {
      // Past the row's end, uses the outer blur's value: its sums are 0, so it is half of the range.
      std::memcpy(middle, crop.row(y), static_cast<std::size_t>(width));
      std::fill(middle + width, row_.data() + row_.size(), std::uint8_t{128});
    }
    sum += HWY_DYNAMIC_DISPATCH(difference_row)(inner_.data(), inner.data(), inner_reach,
                                                normalisation.inner == 0 ? middle : nullptr, outer_.data(),
                                                outer.data(), outer_reach, normalisation.is_relative, stride,
                                                crop.size(), y, differences_.data() + y * stride);
  }
  const auto pixels = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  const auto mean = static_cast<std::int32_t>(std::max<std::uint64_t>(sum / pixels, kLeastMean));
  for (int y = 0; y < height; ++y) {
    HWY_DYNAMIC_DISPATCH(scale_row)
    (differences_.data() + y * stride, width, mean, (kMeanDifference << 16) / mean, result_.view().row(y));
  }
  return result;
}

}  // namespace sightline::recognition
#endif  // HWY_ONCE
