// Local binary patterns in SIMD, a byte a pixel, for the inner loops of files that Highway compiles once per
// instruction set. These include this file after <hwy/highway.h>, so the include guard is special. Results
// equal lbp.hpp bit for bit. Pure functions.
#include "image/lbp.hpp"

#if defined(SIGHTLINE_IMAGE_LBP_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_IMAGE_LBP_SIMD
#undef SIGHTLINE_IMAGE_LBP_SIMD
#else
#define SIGHTLINE_IMAGE_LBP_SIMD
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sightline::HWY_NAMESPACE {

/// Codes with a bit more where a >= b: bytes without a sign, or words with one. The bit is in no code yet.
template <class D, class V = hwy::HWY_NAMESPACE::VFromD<D>, class T = hwy::HWY_NAMESPACE::TFromD<D>>
HWY_INLINE V with_bit_where_at_least(D d, V codes, V a, V b, T bit) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V bits = hn::Set(d, bit);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // Comparisons give masks there, and additions accept masks, which saves a conversion to a vector.
  if constexpr (sizeof(V) == 64) {
    if constexpr (sizeof(T) == 1)
      return V{_mm512_mask_add_epi8(codes.raw, _mm512_cmpge_epu8_mask(a.raw, b.raw), codes.raw, bits.raw)};
    else
      return V{_mm512_mask_add_epi16(codes.raw, _mm512_cmpge_epi16_mask(a.raw, b.raw), codes.raw, bits.raw)};
  }
#endif
  if constexpr (sizeof(T) == 1)
    return hn::Or(codes, hn::IfThenElseZero(hn::Eq(hn::Max(a, b), a), bits));
  else
    return hn::Or(codes, hn::AndNot(hn::VecFromMask(d, hn::Gt(b, a)), bits));
}

/// Codes of one pixel per lane of `d`, a tag of bytes, from `pixel` on. Rows are `stride` bytes apart. Reads
/// the pixels and all their neighbours.
template <class D, class V = hwy::HWY_NAMESPACE::VFromD<D>>
HWY_INLINE V lbp_codes(D d, const std::uint8_t* pixel, std::ptrdiff_t stride) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V middle = hn::LoadU(d, pixel);
  V codes = hn::Zero(d);
  for (int i = 0; i < 8; ++i) {
    const auto [dx, dy] = kLbpNeighbours[i];
    codes = with_bit_where_at_least(d, codes, hn::LoadU(d, pixel + dy * stride + dx), middle,
                                    static_cast<std::uint8_t>(1U << i));
  }
  return codes;
}

/// Bins of codes. The table of 256 is looked up sixteen entries at a time, by the lower half of a code, and
/// what belongs to its upper half is kept.
template <class D, class V = hwy::HWY_NAMESPACE::VFromD<D>>
HWY_INLINE V uniform_lbp(D d, V codes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V low = hn::And(codes, hn::Set(d, std::uint8_t{15}));
  const V high = hn::ShiftRight<4>(codes);
  V bins = hn::Zero(d);
  for (std::size_t i = 0; i < 16; ++i) {
    const V entries = hn::TableLookupBytes(hn::LoadDup128(d, kUniformLbp.data() + 16 * i), low);
    bins = hn::Or(bins, hn::IfThenElseZero(hn::Eq(high, hn::Set(d, static_cast<std::uint8_t>(i))), entries));
  }
  return bins;
}

}  // namespace sightline::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
