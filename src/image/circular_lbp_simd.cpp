// Codes of rows in SIMD; `CircularLbp::code` is the scalar reference.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/circular_lbp_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <type_traits>

#include "image/circular_lbp_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 128 * 255 fits 15 bits: pixels and weighted sums are signed words, which all processors compare.
using Sums = hn::ScalableTag<std::int16_t>;
using Bits = hn::RebindToUnsigned<Sums>;
using VBits = hn::VFromD<Bits>;

HWY_INLINE hn::VFromD<Sums> pixels_at(const std::uint8_t* pixel) {
  const Sums d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, Sums>(), pixel));
}

// Bits [first, last) of the codes of kVectors vectors of pixels, the first of these as bit 0.
template <int kVectors>
HWY_INLINE void make_bits(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples,
                          int first, int last, VBits (&bits)[kVectors]) {
  const Sums d;
  const Bits d_bits;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::VFromD<Sums> middle[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    middle[v] = pixels_at(pixel + v * lanes);
    bits[v] = hn::Set(d_bits, static_cast<std::uint16_t>((1U << (last - first)) - 1));
  }
  for (int p = first; p < last; ++p) {
    const LbpSample& s = samples[p];
    const std::uint8_t* const from = pixel + s.y * stride + s.x;
    const auto bit = hn::Set(d_bits, static_cast<std::uint16_t>(1U << (p - first)));
    const auto clear_where = [&](int v, auto is_darker) HWY_ATTR {
      bits[v] = hn::AndNot(hn::IfThenElseZero(hn::RebindMask(d_bits, is_darker), bit), bits[v]);
    };
    if (s.is_pixel()) {
      for (int v = 0; v < kVectors; ++v) clear_where(v, hn::Gt(middle[v], pixels_at(from + v * lanes)));
      continue;
    }
    const auto weight = [&](int i) HWY_ATTR { return hn::Set(d, static_cast<std::int16_t>(s.weights[i])); };
    const auto w0 = weight(0), w1 = weight(1), w2 = weight(2), w3 = weight(3);
    for (int v = 0; v < kVectors; ++v) {
      const std::uint8_t* const upper = from + v * lanes;
      const std::uint8_t* const lower = upper + stride;
      const auto sum = hn::Add(hn::Add(hn::Mul(pixels_at(upper), w0), hn::Mul(pixels_at(upper + 1), w1)),
                               hn::Add(hn::Mul(pixels_at(lower), w2), hn::Mul(pixels_at(lower + 1), w3)));
      clear_where(v, hn::Gt(hn::ShiftLeft<7>(middle[v]), sum));
    }
  }
}

HWY_INLINE void store(VBits bits, std::uint16_t* codes) {
  hn::StoreU(bits, Bits(), codes);
}

// Codes of kVectors vectors of pixels.
template <int kVectors, typename Code>
HWY_INLINE void make_codes(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples,
                           int points, Code* codes) {
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(Sums()));
  constexpr int kWord = 16;
  VBits bits[kVectors];
  make_bits<kVectors>(pixel, stride, samples, 0, points < kWord ? points : kWord, bits);
  if constexpr (sizeof(Code) <= sizeof(std::uint16_t)) {
    for (int v = 0; v < kVectors; ++v) store(bits[v], codes + v * lanes);
  } else {
    const hn::RepartitionToWide<Bits> d;
    const hn::Half<Bits> half;
    VBits upper[kVectors];
    make_bits<kVectors>(pixel, stride, samples, kWord, points > kWord ? points : kWord, upper);
    for (int v = 0; v < kVectors; ++v) {
      const auto codes_of = [&](auto low, auto high) HWY_ATTR {
        return hn::Or(hn::PromoteTo(d, low), hn::ShiftLeft<kWord>(hn::PromoteTo(d, high)));
      };
      Code* const to = codes + v * lanes;
      hn::StoreU(codes_of(hn::LowerHalf(half, bits[v]), hn::LowerHalf(half, upper[v])), d, to);
      hn::StoreU(codes_of(hn::UpperHalf(half, bits[v]), hn::UpperHalf(half, upper[v])), d, to + lanes / 2);
    }
  }
}

// Codes of `count` pixels; returns how many were made: all, or none if they do not fill a vector.
template <typename Code>
HWY_INLINE int make_row(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples,
                        int points, int count, Code* codes) {
  constexpr int kVectors = 2;
  const int lanes = static_cast<int>(hn::Lanes(Sums()));
  if (count < lanes) return 0;
  int x = 0;
  for (; x + kVectors * lanes <= count; x += kVectors * lanes)
    make_codes<kVectors>(pixel + x, stride, samples, points, codes + x);
  // The last vectors overlap the ones before them rather than to reach past the end.
  for (; x < count; x += lanes) {
    if (x + lanes > count) x = count - lanes;
    make_codes<1>(pixel + x, stride, samples, points, codes + x);
  }
  return count;
}

int lbp_row_8(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples, int /*points*/,
              int count, std::uint8_t* codes) {
  const hn::ScalableTag<std::uint8_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (count < lanes) return 0;
  return with_circle_codes(d, PreparedCircle(samples, stride), [&](const auto& codes_at) HWY_ATTR {
    // The last vector overlaps the one before it rather than to reach past the end.
    for (int x = 0; x < count; x += lanes) {
      if (x + lanes > count) x = count - lanes;
      hn::StoreU(codes_at(pixel + x), d, codes + x);
    }
    return count;
  });
}
int lbp_row_16(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples, int points,
               int count, std::uint16_t* codes) {
  return make_row(pixel, stride, samples, points, count, codes);
}
int lbp_row_32(const std::uint8_t* pixel, std::ptrdiff_t stride, const LbpSample* samples, int points,
               int count, std::uint32_t* codes) {
  return make_row(pixel, stride, samples, points, count, codes);
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline {
HWY_EXPORT(lbp_row_8);
HWY_EXPORT(lbp_row_16);
HWY_EXPORT(lbp_row_32);

namespace {

template <typename Code, typename Function>
void run_row(Function make, GrayView image, const CircularLbp& circle, int y, int x_begin, int x_end,
             Code* codes) {
  const int count = x_end - x_begin;
  const int done =
      make(image.row(y) + x_begin, image.stride(), circle.samples().data(), circle.points(), count, codes);
  for (int x = done; x < count; ++x) codes[x] = static_cast<Code>(circle.code(image, x_begin + x, y));
}

}  // namespace

void circular_lbp_row(GrayView image, const CircularLbp& circle, int y, int x_begin, int x_end,
                      std::uint8_t* codes) {
  run_row(HWY_DYNAMIC_DISPATCH(lbp_row_8), image, circle, y, x_begin, x_end, codes);
}
void circular_lbp_row(GrayView image, const CircularLbp& circle, int y, int x_begin, int x_end,
                      std::uint16_t* codes) {
  run_row(HWY_DYNAMIC_DISPATCH(lbp_row_16), image, circle, y, x_begin, x_end, codes);
}
void circular_lbp_row(GrayView image, const CircularLbp& circle, int y, int x_begin, int x_end,
                      std::uint32_t* codes) {
  run_row(HWY_DYNAMIC_DISPATCH(lbp_row_32), image, circle, y, x_begin, x_end, codes);
}
}  // namespace sightline
#endif  // HWY_ONCE
