// SIMD sources include this file right after HWY_BEFORE_NAMESPACE(), once per instruction set, so the include
// guard is special. Brings base/vnni_target.hpp with it.
//
// Dot product of bytes. Without VNNI, the sum of two neighbouring products must fit in 16 signed bits; the
// code that makes the weights ensures it.
#include "base/vnni_target.hpp"

#if defined(SIGHTLINE_DOT4) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_DOT4
#undef SIGHTLINE_DOT4
#else
#define SIGHTLINE_DOT4
#endif

namespace sightline::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Words of four bytes, at most 16 of them.
using Words = hn::CappedTag<std::int32_t, 16>;
using VWords = hn::VFromD<Words>;

// sum + dot product of four unsigned bytes and four signed weights in each lane.
HWY_INLINE VWords dot4(VWords values, VWords weights, VWords sum) {
#if SIGHTLINE_VNNI
  return VWords{_mm512_dpbusd_epi32(sum.raw, values.raw, weights.raw)};
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return VWords{_mm512_add_epi32(
      sum.raw, _mm512_madd_epi16(_mm512_maddubs_epi16(values.raw, weights.raw), _mm512_set1_epi16(1)))};
#elif HWY_TARGET == HWY_AVX2
  return VWords{_mm256_add_epi32(
      sum.raw, _mm256_madd_epi16(_mm256_maddubs_epi16(values.raw, weights.raw), _mm256_set1_epi16(1)))};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  return VWords{
      _mm_add_epi32(sum.raw, _mm_madd_epi16(_mm_maddubs_epi16(values.raw, weights.raw), _mm_set1_epi16(1)))};
#else
  const Words d;
  const hn::RebindToUnsigned<Words> du;
  const auto unsigned_byte = [&](auto shifted) {
    return hn::BitCast(d, hn::ShiftRight<24>(hn::BitCast(du, shifted)));
  };
  sum = hn::Add(
      sum, hn::Mul(unsigned_byte(hn::ShiftLeft<24>(values)), hn::ShiftRight<24>(hn::ShiftLeft<24>(weights))));
  sum = hn::Add(
      sum, hn::Mul(unsigned_byte(hn::ShiftLeft<16>(values)), hn::ShiftRight<24>(hn::ShiftLeft<16>(weights))));
  sum = hn::Add(
      sum, hn::Mul(unsigned_byte(hn::ShiftLeft<8>(values)), hn::ShiftRight<24>(hn::ShiftLeft<8>(weights))));
  return hn::Add(sum, hn::Mul(unsigned_byte(values), hn::ShiftRight<24>(weights)));
#endif
}

// sum + dot product of four signed bytes and four signed bytes in each lane, whatever they are.
HWY_INLINE VWords dot4_signed(VWords values, VWords weights, VWords sum) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  const hn::Repartition<std::int16_t, Words> d16;
  const auto lower = [&](VWords bytes)
                         HWY_ATTR { return hn::ShiftRight<8>(hn::ShiftLeft<8>(hn::BitCast(d16, bytes))); };
  const auto upper = [&](VWords bytes) HWY_ATTR { return hn::ShiftRight<8>(hn::BitCast(d16, bytes)); };
#if HWY_TARGET <= HWY_AVX3
  const auto products = [](auto a, auto b) HWY_ATTR { return VWords{_mm512_madd_epi16(a.raw, b.raw)}; };
#elif HWY_TARGET == HWY_AVX2
  const auto products = [](auto a, auto b) HWY_ATTR { return VWords{_mm256_madd_epi16(a.raw, b.raw)}; };
#else
  const auto products = [](auto a, auto b) HWY_ATTR { return VWords{_mm_madd_epi16(a.raw, b.raw)}; };
#endif
  return hn::Add(sum,
                 hn::Add(products(lower(values), lower(weights)), products(upper(values), upper(weights))));
#else
  const auto signed_byte = [](auto shifted) { return hn::ShiftRight<24>(shifted); };
  sum =
      hn::Add(sum, hn::Mul(signed_byte(hn::ShiftLeft<24>(values)), signed_byte(hn::ShiftLeft<24>(weights))));
  sum =
      hn::Add(sum, hn::Mul(signed_byte(hn::ShiftLeft<16>(values)), signed_byte(hn::ShiftLeft<16>(weights))));
  sum = hn::Add(sum, hn::Mul(signed_byte(hn::ShiftLeft<8>(values)), signed_byte(hn::ShiftLeft<8>(weights))));
  return hn::Add(sum, hn::Mul(signed_byte(values), signed_byte(weights)));
#endif
}

}  // namespace sightline::HWY_NAMESPACE

#endif
