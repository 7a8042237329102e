// Circular LBP codes in SIMD, for the inner loops of files that Highway compiles once per instruction set.
// These include this file after <hwy/highway.h>, so the include guard is special. Results equal
// circular_lbp.hpp bit for bit. Pure functions.
#include "image/circular_lbp.hpp"
#include "image/lbp_simd.hpp"

#if defined(SIGHTLINE_IMAGE_CIRCULAR_LBP_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_IMAGE_CIRCULAR_LBP_SIMD
#undef SIGHTLINE_IMAGE_CIRCULAR_LBP_SIMD
#else
#define SIGHTLINE_IMAGE_CIRCULAR_LBP_SIMD
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {

/// A sample in 1/128 of a gray level, of as many pixels as `d`, a tag of 32-bit words, has lanes.
template <class D>
HWY_INLINE auto lbp_sample(D d, const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample& s) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto pixels_at = [&](const std::uint8_t* at) HWY_ATTR {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, D>(), at));
  };
  const std::uint8_t* const upper = pixel + s.y * stride + s.x;
  if (s.is_pixel()) return hn::ShiftLeft<7>(pixels_at(upper));
  const auto weighted = [&](const std::uint8_t* at, int i) HWY_ATTR {
    return hn::Mul(pixels_at(at), hn::Set(d, std::int32_t{s.weights[i]}));
  };
  return hn::Add(hn::Add(weighted(upper, 0), weighted(upper + 1, 1)),
                 hn::Add(weighted(upper + stride, 2), weighted(upper + stride + 1, 3)));
}

/// Positions of the first pixels of the samples of a circle with eight points and radius 1.
inline constexpr struct {
  int x, y;
} kNearPlaces[8] = {{1, 0}, {0, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 0}, {0, 1}, {0, 0}};

/// A circle of eight points as inner loops take it.
struct PreparedCircle {
  PreparedCircle(const LbpSample* samples, std::ptrdiff_t row_stride) : stride(row_stride) {
    for (int p = 0; p < 8; ++p) {
      const LbpSample& s = samples[p];
      offsets[p] = s.y * stride + s.x;
      is_near = is_near && s.x == kNearPlaces[p].x && s.y == kNearPlaces[p].y;
      pixels |= unsigned{s.is_pixel()} << p;
      upper[p] = static_cast<std::int16_t>(s.weights[0] | s.weights[1] << 8);
      lower[p] = static_cast<std::int16_t>(s.weights[2] | s.weights[3] << 8);
    }
  }
  std::ptrdiff_t stride;
  std::ptrdiff_t offsets[8];  ///< offsets of the samples' first pixels
  std::int16_t upper[8];  ///< two weights of mixed samples, the first in the lower byte; these are below 128
  std::int16_t lower[8];
  unsigned pixels = 0;  ///< bit p: sample p is a pixel
  bool is_near = true;  ///< the samples' first pixels are at kNearPlaces
};

/// Weighted sums of every other pixel, one word each: the lower byte of `weights` times the pixel plus the
/// upper byte times its right neighbour. `d` is a tag of signed words.
template <class D>
HWY_INLINE auto weighted_pairs(D d, const std::uint8_t* pixel, std::int16_t weights) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto pairs = hn::LoadU(hn::Repartition<std::uint8_t, D>(), pixel);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  const auto both = hn::Set(d, weights);
#if HWY_TARGET <= HWY_AVX3
  return hn::VFromD<D>{_mm512_maddubs_epi16(pairs.raw, both.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::VFromD<D>{_mm256_maddubs_epi16(pairs.raw, both.raw)};
#else
  return hn::VFromD<D>{_mm_maddubs_epi16(pairs.raw, both.raw)};
#endif
#else
  const hn::RebindToUnsigned<D> d_unsigned;
  const auto words = hn::BitCast(d_unsigned, pairs);
  const auto left = hn::BitCast(d, hn::And(words, hn::Set(d_unsigned, std::uint16_t{255})));
  const auto right = hn::BitCast(d, hn::ShiftRight<8>(words));
  return hn::Add(hn::Mul(left, hn::Set(d, static_cast<std::int16_t>(weights & 255))),
                 hn::Mul(right, hn::Set(d, static_cast<std::int16_t>(weights >> 8))));
#endif
}

/// kPixels if the samples that are pixels are unknown in advance.
inline constexpr unsigned kAnyPixels = ~0U;
/// Samples that are pixels if the radius is whole: left, right, above and below.
inline constexpr unsigned kEvenPixels = 0x55;

/// Codes of eight points of as many pixels as `d`, a tag of bytes, has lanes.
/// @tparam kPixels  PreparedCircle::pixels, or kAnyPixels
/// @tparam kNear    PreparedCircle::is_near: samples share pixels, which are then loaded once (9 loads, not
/// 21)
template <unsigned kPixels, bool kNear, class D, class V = hwy::HWY_NAMESPACE::VFromD<D>>
HWY_INLINE V circular_lbp_codes(D d, const std::uint8_t* pixel, const PreparedCircle& circle) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Repartition<std::int16_t, D> d_words;
  const hn::RebindToUnsigned<decltype(d_words)> d_unsigned;
  const V middle = hn::LoadU(d, pixel);
  // 128 times the pixel, of the even pixels and of the odd ones between them.
  const auto words = hn::BitCast(d_unsigned, middle);
  const auto even =
      hn::BitCast(d_words, hn::ShiftLeft<7>(hn::And(words, hn::Set(d_unsigned, std::uint16_t{255}))));
  const auto odd = hn::BitCast(d_words, hn::ShiftLeft<7>(hn::ShiftRight<8>(words)));
  V codes = hn::Zero(d);
  auto mixed = hn::Zero(d_words);  // bits of mixed samples: of an even pixel in the lower byte of its word
  for (int p = 0; p < 8; ++p) {
    const std::uint8_t* const upper =
        pixel + (kNear ? kNearPlaces[p].y * circle.stride + kNearPlaces[p].x : circle.offsets[p]);
    if (((kPixels == kAnyPixels ? circle.pixels : kPixels) >> p & 1U) != 0) {
      codes =
          with_bit_where_at_least(d, codes, hn::LoadU(d, upper), middle, static_cast<std::uint8_t>(1U << p));
      continue;
    }
    const std::uint8_t* const lower = upper + circle.stride;
    const auto sum_even = hn::Add(weighted_pairs(d_words, upper, circle.upper[p]),
                                  weighted_pairs(d_words, lower, circle.lower[p]));
    const auto sum_odd = hn::Add(weighted_pairs(d_words, upper + 1, circle.upper[p]),
                                 weighted_pairs(d_words, lower + 1, circle.lower[p]));
    mixed = with_bit_where_at_least(d_words, mixed, sum_even, even, static_cast<std::int16_t>(1U << p));
    mixed = with_bit_where_at_least(d_words, mixed, sum_odd, odd, static_cast<std::int16_t>(1U << (p + 8)));
  }
  return hn::Or(codes, hn::BitCast(d, mixed));
}

/// The same as something to be called. (A lambda would not be inlined.)
template <unsigned kPixels, bool kNear, class D>
struct CircleCodes {
  HWY_INLINE auto operator()(const std::uint8_t* pixel) const {
    return circular_lbp_codes<kPixels, kNear>(D(), pixel, circle);
  }
  const PreparedCircle& circle;
};

/// Calls `use` once, with the CircleCodes that suit the circle best.
template <class D, class Use>
HWY_INLINE auto with_circle_codes(D /*tag*/, const PreparedCircle& circle, const Use& use) {
  if (circle.pixels == kEvenPixels && circle.is_near) return use(CircleCodes<kEvenPixels, true, D>{circle});
  if (circle.pixels == kEvenPixels) return use(CircleCodes<kEvenPixels, false, D>{circle});
  return use(CircleCodes<kAnyPixels, false, D>{circle});
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
