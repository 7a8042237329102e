// Codes, counts and contrasts of rows in SIMD; LbpOperator is the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "texture/counting_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <bit>
#include <cstring>

#include "image/circular_lbp_simd.hpp"
#include "image/lbp_simd.hpp"
#include "texture/counting.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::texture::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using sightline::HWY_NAMESPACE::lbp_codes;
using sightline::HWY_NAMESPACE::lbp_sample;
using sightline::HWY_NAMESPACE::with_circle_codes;

using Bytes = hn::ScalableTag<std::uint8_t>;
using VBytes = hn::VFromD<Bytes>;

// Eight codes, the first of which is the lowest byte.
HWY_INLINE void count_word(std::uint64_t word, std::uint32_t* HWY_RESTRICT counts) {
  for (int i = 0; i < 8; ++i) ++counts[i * CodeTables::kCodes + (word >> 8 * i & 0xff)];
}

HWY_INLINE void count_vector(VBytes codes, std::uint32_t* HWY_RESTRICT counts) {
  alignas(64) std::uint64_t words[HWY_MAX_BYTES / 8];
  const hn::Repartition<std::uint64_t, Bytes> d;
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
  hn::Store(codes, Bytes(), reinterpret_cast<std::uint8_t*>(words));
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) count_word(words[i], counts);
#else
  // Uses registers: reading data right after storing them waits for the store.
  static_cast<void>(words);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i)
    count_word(hn::ExtractLane(hn::BitCast(d, codes), i), counts);
#endif
}

// Counts `count` pixels' codes that `codes_at(pixel)` makes a vector at a time, one vector ahead of the
// counting, and returns how many: whole vectors.
template <class CodesAt>
HWY_INLINE int count_row(const std::uint8_t* pixel, int count, const CodesAt& codes_at,
                         std::uint32_t* HWY_RESTRICT counts) {
  const int lanes = static_cast<int>(hn::Lanes(Bytes()));
  if (count < lanes) return 0;
  VBytes codes = codes_at(pixel);
  int x = lanes;
  for (; x + lanes <= count; x += lanes) {
    const VBytes next = codes_at(pixel + x);
    count_vector(codes, counts);
    codes = next;
  }
  count_vector(codes, counts);
  return x;
}

int count_grid(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* /*samples*/, int count,
               std::uint32_t* counts) {
  return count_row(
      pixel, count, [&](const std::uint8_t* at) HWY_ATTR { return lbp_codes(Bytes(), at, stride); }, counts);
}

int count_circle(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples, int count,
                 std::uint32_t* counts) {
  const sightline::HWY_NAMESPACE::PreparedCircle circle(samples, stride);
  return with_circle_codes(Bytes(), circle, [&](const auto& codes_at) HWY_ATTR {
    return count_row(pixel, count, codes_at, counts);
  });
}

struct LoadCodes {
  HWY_INLINE VBytes operator()(const std::uint8_t* codes) const { return hn::LoadU(Bytes(), codes); }
};

int count_made(const std::uint8_t* codes, int count, std::uint32_t* counts) {
  return count_row(codes, count, LoadCodes(), counts);
}

int grid_codes(const std::uint8_t* pixel, std::ptrdiff_t stride, int count, std::uint8_t* codes) {
  const Bytes d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= count; x += lanes) hn::StoreU(lbp_codes(d, pixel + x, stride), d, codes + x);
  return x;
}

// Contrasts of whole vectors of pixels, of samples in 1/128: of brighter ones the number n and the sum B, of
// all the sum S; (B (P - n) - (S - B) n) / (n (P - n)) = (B P - S n) / (n (P - n)).
template <class SampleAt>
HWY_INLINE int contrast_row(const std::uint8_t* pixel, int points, int count, const SampleAt& sample_at,
                            std::uint16_t* contrasts) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::RebindToFloat<decltype(d)> d_float;
  const hn::Rebind<std::uint8_t, decltype(d)> d_bytes;
  const hn::Rebind<std::uint16_t, decltype(d)> d_words;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  const auto all = hn::Set(d, points);
  int x = 0;
  for (; x + lanes <= count; x += lanes) {
    const auto middle = hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(d_bytes, pixel + x)));
    auto darker = zero, brighter_sum = zero, sum = zero;
    for (int p = 0; p < points; ++p) {
      const auto sample = sample_at(d, pixel + x, p);
      const auto is_darker = hn::Gt(middle, sample);
      darker = hn::Sub(darker, hn::VecFromMask(d, is_darker));
      brighter_sum = hn::Add(brighter_sum, hn::IfThenZeroElse(is_darker, sample));
      sum = hn::Add(sum, sample);
    }
    const auto brighter = hn::Sub(all, darker);
    const auto both = hn::Mul(brighter, darker);
    // If all neighbours are of one kind, the dividend is 0.
    const auto divisor = hn::ShiftLeft<7>(hn::Max(both, hn::Set(d, 1)));
    const auto difference = hn::Sub(hn::Mul(brighter_sum, all), hn::Mul(sum, brighter));
    const auto dividend = hn::IfThenElseZero(
        hn::Gt(both, zero),
        hn::Add(hn::Mul(difference, hn::Set(d, kContrastOne)), hn::ShiftRight<1>(divisor)));
    // Off by one at most, as the quotient is below 2^12 and floats have 24 bits.
    auto quotient =
        hn::ConvertTo(d, hn::Div(hn::ConvertTo(d_float, dividend), hn::ConvertTo(d_float, divisor)));
    const auto rest = hn::Sub(dividend, hn::Mul(quotient, divisor));
    quotient = hn::Add(quotient, hn::VecFromMask(d, hn::Lt(rest, zero)));
    quotient = hn::Sub(quotient, hn::VecFromMask(d, hn::Gt(hn::Add(rest, hn::Set(d, 1)), divisor)));
    hn::StoreU(hn::DemoteTo(d_words, quotient), d_words, contrasts + x);
  }
  return x;
}

int grid_contrasts(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* /*samples*/, int points,
                   int count, std::uint16_t* contrasts) {
  return contrast_row(
      pixel, points, count,
      [&](auto d, const std::uint8_t* at, int p) HWY_ATTR {
        const auto [dx, dy] = kLbpNeighbours[p];
        const hn::Rebind<std::uint8_t, decltype(d)> d_bytes;
        return hn::ShiftLeft<7>(hn::PromoteTo(d, hn::LoadU(d_bytes, at + dy * stride + dx)));
      },
      contrasts);
}

int circle_contrasts(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples, int points,
                     int count, std::uint16_t* contrasts) {
  return contrast_row(
      pixel, points, count,
      [&](auto d, const std::uint8_t* at, int p) HWY_ATTR { return lbp_sample(d, at, stride, samples[p]); },
      contrasts);
}

}  // namespace sightline::texture::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::texture {
HWY_EXPORT(count_grid);
HWY_EXPORT(count_circle);
HWY_EXPORT(count_made);
HWY_EXPORT(grid_codes);
HWY_EXPORT(grid_contrasts);
HWY_EXPORT(circle_contrasts);

namespace {

const LbpSample* samples_of(const LbpOperator& one) {
  return one.is_grid() ? nullptr : one.circle().samples().data();
}

}  // namespace

void count_codes(const LbpOperator& one, GrayView image, int y, int x_begin, int x_end, CodeTables& tables) {
  const std::uint8_t* const pixel = image.row(y) + x_begin;
  const int count = x_end - x_begin;
  std::uint32_t* const counts = tables.counts.data();
  const int done =
      one.is_grid()
          ? HWY_DYNAMIC_DISPATCH(count_grid)(pixel, image.stride(), nullptr, count, counts)
          : HWY_DYNAMIC_DISPATCH(count_circle)(pixel, image.stride(), samples_of(one), count, counts);
  for (int x = x_begin + done; x < x_end; ++x) ++counts[one.code(image, x, y)];
}

void count_bytes(const std::uint8_t* codes, int count, CodeTables& tables) {
  std::uint32_t* const counts = tables.counts.data();
  for (int i = HWY_DYNAMIC_DISPATCH(count_made)(codes, count, counts); i < count; ++i) ++counts[codes[i]];
}

template <typename Code>
void make_codes(const LbpOperator& one, GrayView image, int y, int x_begin, int x_end, Code* codes) {
  if (!one.is_grid()) {
    circular_lbp_row(image, one.circle(), y, x_begin, x_end, codes);
    return;
  }
  int x = x_begin;
  if constexpr (sizeof(Code) == 1)
    x += HWY_DYNAMIC_DISPATCH(grid_codes)(image.row(y) + x_begin, image.stride(), x_end - x_begin, codes);
  for (; x < x_end; ++x) codes[x - x_begin] = static_cast<Code>(one.code(image, x, y));
}
template void make_codes(const LbpOperator&, GrayView, int, int, int, std::uint8_t*);
template void make_codes(const LbpOperator&, GrayView, int, int, int, std::uint16_t*);
template void make_codes(const LbpOperator&, GrayView, int, int, int, std::uint32_t*);

void make_contrasts(const LbpOperator& one, GrayView image, int y, int x_begin, int x_end,
                    std::uint16_t* contrasts) {
  const std::uint8_t* const pixel = image.row(y) + x_begin;
  const int count = x_end - x_begin;
  const int done =
      one.is_grid()
          ? HWY_DYNAMIC_DISPATCH(grid_contrasts)(pixel, image.stride(), nullptr, 8, count, contrasts)
          : HWY_DYNAMIC_DISPATCH(circle_contrasts)(pixel, image.stride(), samples_of(one), one.points(),
                                                   count, contrasts);
  for (int x = done; x < count; ++x)
    contrasts[x] = static_cast<std::uint16_t>(one.contrast(image, x_begin + x, y));
}

}  // namespace sightline::texture
#endif  // HWY_ONCE
