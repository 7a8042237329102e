// Filter stage in SIMD: pixels lie in lanes, filters are broadcast, and a tile of several rows stays in
// registers while the dictionary streams past it. A row's taps are gathered into one vector per row of pixels
// once, and serve the three output rows that touch it.
//
// Operations for one vector of pixels and one filter: float 9 multiply-adds + 4 (absolute value, compare,
// maximum, blend); 16-bit pairs 5 + 5 (absolute value, shift, or with the index, maximum); 8-bit dot product
// 2
// + 2.5, in its own form below.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/filterbank/filter_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <bit>
#include <cstring>

#include "detectors/filterbank/kernels.hpp"

HWY_BEFORE_NAMESPACE();
#include "base/vnni_target.hpp"
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using I32 = hn::ScalableTag<std::int32_t>;
using F32 = hn::ScalableTag<float>;
using VI32 = hn::VFromD<I32>;
using VF32 = hn::VFromD<F32>;

// Pixels x .. x + lanes of a row, widened to 32 bits.
HWY_INLINE VI32 load_pixels(const std::uint8_t* pixels) {
  return hn::PromoteTo(I32(), hn::LoadU(hn::Rebind<std::uint8_t, I32>(), pixels));
}

// Loads one row of pixels into the tile, and computes one filter's response to the three rows around an
// output row. With the 8-bit dot product, see below.
#if SIGHTLINE_VNNI
#elif HWY_ARCH_X86
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr int kWords = 5;
using I16 = hn::Repartition<std::int16_t, I32>;

struct PixelRow {
  VI32 pair;   // int16: left, middle
  VI32 right;  // int16: right, 0
};

HWY_INLINE PixelRow load_row(const std::uint8_t* p) {
  return {hn::Or(load_pixels(p - 1), hn::ShiftLeft<16>(load_pixels(p))), load_pixels(p + 1)};
}

// On x86 this is one `pmaddwd`, which keeps every pair in its own lane.
HWY_INLINE VI32 multiply_pairs(VI32 a, VI32 b, VI32 sum) {
  VI32 unused = hn::Zero(I32());
  return hn::ReorderWidenMulAccumulate(I32(), hn::BitCast(I16(), a), hn::BitCast(I16(), b), sum, unused);
}

HWY_INLINE VI32 respond(const PixelRow* rows, const VI32* words) {
  VI32 sum = multiply_pairs(rows[0].pair, words[0], hn::Zero(I32()));
  sum = multiply_pairs(rows[1].pair, words[1], sum);
  sum = multiply_pairs(rows[2].pair, words[2], sum);
  sum = multiply_pairs(hn::Or(rows[0].right, hn::ShiftLeft<16>(rows[1].right)), words[3], sum);
  return multiply_pairs(rows[2].right, words[4], sum);
}

const std::int32_t* words_of(const Dictionary& dictionary) {
  return dictionary.pairs().data();
}
#else
// Anywhere else: 32-bit multiply-adds. The words are those of the 8-bit form, taken apart.
constexpr int kTileRows = 2;
constexpr int kWords = 3;

struct PixelRow {
  VI32 left, middle, right;
};

HWY_INLINE PixelRow load_row(const std::uint8_t* p) {
  return {load_pixels(p - 1), load_pixels(p), load_pixels(p + 1)};
}

HWY_INLINE VI32 respond(const PixelRow* rows, const VI32* words) {
  VI32 sum = hn::Zero(I32());
  for (int r = 0; r < 3; ++r) {
    sum = hn::Add(sum, hn::Mul(rows[r].left, hn::ShiftRight<24>(hn::ShiftLeft<24>(words[r]))));
    sum = hn::Add(sum, hn::Mul(rows[r].middle, hn::ShiftRight<24>(hn::ShiftLeft<16>(words[r]))));
    sum = hn::Add(sum, hn::Mul(rows[r].right, hn::ShiftRight<24>(hn::ShiftLeft<8>(words[r]))));
  }
  return sum;
}

const std::int32_t* words_of(const Dictionary& dictionary) {
  return dictionary.quads().data();
}
#endif

// Orders by |response|, then by falling index; `index` holds 255 - index. (Shift and or: AVX-512's
// one-instruction `vpshldd` was 8% slower on Zen 4.)
HWY_INLINE VI32 key_of(VI32 response, VI32 index) {
  return hn::Or(hn::ShiftLeft<8>(hn::Abs(response)), index);
}

// Keys of one contrast mode: if sensitive, an index has seven bits, and the lowest bit is the sign.
template <ContrastMode kContrast>
struct Keys {
  static VI32 index(int k) {
    return hn::Set(I32(), kContrast == ContrastMode::insensitive ? 255 - k : 255 - (2 * k + 1));
  }
  static VI32 of(VI32 response, VI32 index) {
    const VI32 key = key_of(response, index);
    if constexpr (kContrast == ContrastMode::insensitive) return key;
    return hn::Or(key,
                  hn::BitCast(I32(), hn::ShiftRight<31>(hn::BitCast(hn::RebindToUnsigned<I32>(), response))));
  }
  static VI32 packed_response(VI32 key, int filters) {
    const I32 d;
    if constexpr (kContrast == ContrastMode::insensitive) return hn::Xor(key, hn::Set(d, 255));
    const VI32 index = hn::Sub(hn::Set(d, 127), hn::ShiftRight<1>(hn::And(key, hn::Set(d, 255))));
    const VI32 negative = hn::Sub(hn::Zero(d), hn::And(key, hn::Set(d, 1)));
    return hn::Or(hn::AndNot(hn::Set(d, 255), key), hn::Add(index, hn::And(negative, hn::Set(d, filters))));
  }
};

#if SIGHTLINE_VNNI
// A patch's eight differences from its middle pixel fill two dot products where its nine pixels need three,
// and two vectors of responses become one of 16 bits before the search for the largest: 8 dot products and 10
// other operations for 64 pixels and one filter, instead of 12 and 16. On Zen 4, dot product, absolute value
// and comparison share two pipes, and these are busy all the time. The few pixels for which 8 or 16 bits are
// too narrow are collected and done with nine pixels in three dot products.
constexpr int kSpan = 64;
constexpr int kSpanVectors = kSpan / 16;

// Pixels that wait for their response.
struct WidePixels {
  int count = 0;
  int x[kSpan + 16];
  int y[kSpan + 16];
};

template <ContrastMode kContrast>
HWY_NOINLINE void filter_wide_pixels(GrayView image, const Dictionary& dictionary, const WidePixels& pixels,
                                     int begin, int count, ImageView<std::uint32_t> response_map) {
  const I32 d;
  alignas(64) std::uint32_t taps[3][16] = {};  // bytes: left, middle, right, 0
  for (int i = 0; i < count; ++i) {
    for (int r = 0; r < 3; ++r) {
      std::memcpy(&taps[r][i], image.row(pixels.y[begin + i] + r - 1) + pixels.x[begin + i] - 1, 4);
      taps[r][i] &= 0xFFFFFF;
    }
  }
  VI32 quad[3];
  for (int r = 0; r < 3; ++r) quad[r] = hn::BitCast(d, hn::Load(hn::RebindToUnsigned<I32>(), taps[r]));
  VI32 best = hn::Zero(d);
  const std::int32_t* word = dictionary.quads().data();
  for (int k = 0; k < dictionary.size(); ++k, word += 3) {
    VI32 response = hn::Zero(d);
    for (int r = 0; r < 3; ++r)
      response.raw = _mm512_dpbusd_epi32(response.raw, quad[r].raw, _mm512_set1_epi32(word[r]));
    best = hn::Max(best, Keys<kContrast>::of(response, Keys<kContrast>::index(k)));
  }
  alignas(64) std::int32_t done[16];
  hn::Store(Keys<kContrast>::packed_response(best, dictionary.size()), d, done);
  for (int i = 0; i < count; ++i)
    response_map.at(pixels.x[begin + i], pixels.y[begin + i]) = static_cast<std::uint32_t>(done[i]);
}

template <ContrastMode kContrast>
void add_wide_pixels(GrayView image, const Dictionary& dictionary, std::uint64_t which, int x, int y,
                     WidePixels& pixels, ImageView<std::uint32_t> response_map) {
  for (; which != 0; which &= which - 1, ++pixels.count) {
    pixels.x[pixels.count] = x + std::countr_zero(which);
    pixels.y[pixels.count] = y;
  }
  for (; pixels.count >= 16; pixels.count -= 16)
    filter_wide_pixels<kContrast>(image, dictionary, pixels, pixels.count - 16, 16, response_map);
}

// Words of four bytes, one of each of q: those of pixels 4v .. 4v + 4 of every 16 in words[v], as unpacking
// leaves them.
HWY_INLINE void interleave(const __m512i* q, __m512i* words) {
  const __m512i low01 = _mm512_unpacklo_epi8(q[0], q[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(q[0], q[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(q[2], q[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(q[2], q[3]);
  words[0] = _mm512_unpacklo_epi16(low01, low23);
  words[1] = _mm512_unpackhi_epi16(low01, low23);
  words[2] = _mm512_unpacklo_epi16(high01, high23);
  words[3] = _mm512_unpackhi_epi16(high01, high23);
}

// Stores the first `count` responses of a span, whole vectors. `best` and `index` hold pixels 0 .. 8 and 8 ..
// 16 of every 16. Returns where 15 bits were too narrow for the response.
HWY_INLINE std::uint64_t store_responses(const __m512i* best, const __m512i* index, int count,
                                         std::uint32_t* response_map) {
  __m512i v[kSpanVectors];
  for (int half = 0; half < 2; ++half) {
    const __m512i low = _mm512_or_si512(_mm512_slli_epi16(best[half], 8), index[half]);
    const __m512i high = _mm512_srli_epi16(best[half], 8);
    v[2 * half] = _mm512_unpacklo_epi16(low, high);
    v[2 * half + 1] = _mm512_unpackhi_epi16(low, high);
  }
  const __m512i front01 = _mm512_shuffle_i32x4(v[0], v[1], 0x44);
  const __m512i front23 = _mm512_shuffle_i32x4(v[2], v[3], 0x44);
  const __m512i back01 = _mm512_shuffle_i32x4(v[0], v[1], 0xEE);
  const __m512i back23 = _mm512_shuffle_i32x4(v[2], v[3], 0xEE);
  v[0] = _mm512_shuffle_i32x4(front01, front23, 0x88);
  v[1] = _mm512_shuffle_i32x4(front01, front23, 0xDD);
  v[2] = _mm512_shuffle_i32x4(back01, back23, 0x88);
  v[3] = _mm512_shuffle_i32x4(back01, back23, 0xDD);
  const __m512i limit = _mm512_set1_epi32(0x7FFF << 8);
  std::uint64_t wide = 0;
  for (int i = 0; i < kSpanVectors && 16 * i < count; ++i) {
    _mm512_storeu_si512(response_map + 16 * i, v[i]);
    wide |= std::uint64_t{_mm512_cmpge_epu32_mask(v[i], limit)} << (16 * i);
  }
  return wide;
}

// Pixels [x, x + kSpan) of row y. Returns those without response.
template <ContrastMode kContrast>
HWY_INLINE std::uint64_t filter_span(GrayView image, const Dictionary& dictionary, int x, int y,
                                     ImageView<std::uint32_t> response_map) {
  const int count = image.width() - x;
  const __mmask64 used = count >= kSpan ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
  const auto load = [&](int dx, int dy) { return _mm512_maskz_loadu_epi8(used, image.row(y + dy) + x + dx); };
  const __m512i middle = load(0, 0);
  __m512i ring[8] = {load(-1, -1), load(0, -1), load(1, -1), load(-1, 0),
                     load(1, 0),   load(-1, 1), load(0, 1),  load(1, 1)};
  __m512i lowest = middle, highest = middle;
  for (__m512i& q : ring) {
    lowest = _mm512_min_epu8(lowest, q);
    highest = _mm512_max_epu8(highest, q);
    q = _mm512_xor_si512(_mm512_sub_epi8(q, middle), _mm512_set1_epi8(-128));
  }
  const std::uint64_t far =
      _mm512_movepi8_mask(_mm512_or_si512(_mm512_sub_epi8(highest, middle), _mm512_sub_epi8(middle, lowest)));
  if (std::popcount(far) > kSpan / 2) return used;  // the rest is not worth its pass

  __m512i upper[kSpanVectors], lower[kSpanVectors];
  interleave(ring, upper);
  interleave(ring + 4, lower);
  __m512i best[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  __m512i index[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  __m512i winner[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};  // signed response
  __m512i current = _mm512_setzero_si512();
  const std::int32_t* word = dictionary.rings().data();
  for (int k = 0; k < dictionary.size(); ++k, word += 3) {
    const __m512i upper_word = _mm512_set1_epi32(word[0]);
    const __m512i lower_word = _mm512_set1_epi32(word[1]);
    const __m512i base = _mm512_set1_epi32(word[2]);
    const auto respond_to = [&](int v) {
      return _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(base, upper[v], upper_word), lower[v], lower_word);
    };
    for (int half = 0; half < 2; ++half) {
      // -2^15, which saturation can leave, keeps its size as an unsigned number.
      const __m512i response = _mm512_packs_epi32(respond_to(2 * half), respond_to(2 * half + 1));
      const __m512i size = _mm512_abs_epi16(response);
      const __mmask32 better = _mm512_cmpgt_epu16_mask(size, best[half]);
      index[half] = _mm512_mask_mov_epi16(index[half], better, current);
      if constexpr (kContrast == ContrastMode::sensitive)
        winner[half] = _mm512_mask_mov_epi16(winner[half], better, response);
      best[half] = _mm512_max_epu16(best[half], size);
    }
    current = _mm512_add_epi16(current, _mm512_set1_epi16(1));
  }
  if constexpr (kContrast == ContrastMode::sensitive) {
    const __m512i below_zero = _mm512_set1_epi16(static_cast<std::int16_t>(dictionary.size()));
    for (int half = 0; half < 2; ++half) {
      const __mmask32 negative = _mm512_movepi16_mask(winner[half]);
      index[half] = _mm512_mask_add_epi16(index[half], negative, index[half], below_zero);
    }
  }
  return (far | store_responses(best, index, count, response_map.row(y) + x)) & used;
}

template <ContrastMode kContrast>
void filter_all(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                ImageView<std::uint32_t> response_map) {
  WidePixels wide;
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < image.width(); x += kSpan) {
      const std::uint64_t without = filter_span<kContrast>(image, dictionary, x, y, response_map);
      if (without != 0) add_wide_pixels<kContrast>(image, dictionary, without, x, y, wide, response_map);
    }
  }
  filter_wide_pixels<kContrast>(image, dictionary, wide, 0, wide.count, response_map);
}
#else
template <ContrastMode kContrast, int kRows>
HWY_INLINE void filter_tile(GrayView image, const Dictionary& dictionary, int y,
                            ImageView<std::uint32_t> response_map) {
  const I32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::int32_t* const words = words_of(dictionary);
  const int count = dictionary.size();
  for (int x = 0; x < image.width(); x += lanes) {
    PixelRow rows[kRows + 2];
    for (int r = 0; r < kRows + 2; ++r) rows[r] = load_row(image.row(y + r - 1) + x);
    VI32 best[kRows];
    for (int r = 0; r < kRows; ++r) best[r] = hn::Zero(d);
    VI32 index = Keys<kContrast>::index(0);
    for (int k = 0; k < count; ++k) {
      VI32 word[kWords];
      for (int i = 0; i < kWords; ++i) word[i] = hn::Set(d, words[k * kWords + i]);
      for (int r = 0; r < kRows; ++r)
        best[r] = hn::Max(best[r], Keys<kContrast>::of(respond(rows + r, word), index));
      index = hn::Sub(index, hn::Set(d, kContrast == ContrastMode::insensitive ? 1 : 2));
    }
    for (int r = 0; r < kRows; ++r) {
      const VI32 packed_response = Keys<kContrast>::packed_response(best[r], count);
      hn::StoreU(hn::BitCast(hn::RebindToUnsigned<I32>(), packed_response), hn::RebindToUnsigned<I32>(),
                 response_map.row(y + r) + x);
    }
  }
}

template <ContrastMode kContrast>
void filter_all(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                ImageView<std::uint32_t> response_map) {
  int y = y_begin;
  for (; y + kTileRows <= y_end; y += kTileRows)
    filter_tile<kContrast, kTileRows>(image, dictionary, y, response_map);
  for (; y < y_end; ++y) filter_tile<kContrast, 1>(image, dictionary, y, response_map);
}
#endif

void filter_rows(GrayView image, const Dictionary& dictionary, ContrastMode contrast, int y_begin, int y_end,
                 ImageView<std::uint32_t> response_map) {
  const auto filter = contrast == ContrastMode::sensitive ? &filter_all<ContrastMode::sensitive>
                                                          : &filter_all<ContrastMode::insensitive>;
  filter(image, dictionary, y_begin, y_end, response_map);
}

// --- the float form
// ---------------------------------------------------------------------------------------------

template <ResponseMode kMode, int kRows>
HWY_INLINE void filter_tile_float(GrayView image, const FloatFilter* filters, int count, int y,
                                  ImageView<float> responses, ImageView<std::uint8_t> indices) {
  const F32 d;
  const I32 di;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < image.width(); x += lanes) {
    VF32 pixels[kRows + 2][3];
    for (int r = 0; r < kRows + 2; ++r) {
      for (int i = 0; i < 3; ++i)
        pixels[r][i] = hn::ConvertTo(d, load_pixels(image.row(y + r - 1) + x + i - 1));
    }
    VF32 best[kRows];
    VI32 best_index[kRows];
    for (int r = 0; r < kRows; ++r) {
      best[r] = hn::Set(d, kMode == ResponseMode::magnitude ? -1.0F : 0.0F);
      best_index[r] = hn::Zero(di);
    }
    for (int k = 0; k < count; ++k) {
      VF32 sum[kRows];
      const VF32 first = hn::Set(d, filters[k][0]);
      for (int r = 0; r < kRows; ++r) sum[r] = hn::Mul(pixels[r][0], first);
      for (int i = 1; i < kTaps; ++i) {
        const VF32 c = hn::Set(d, filters[k][i]);
        for (int r = 0; r < kRows; ++r) sum[r] = hn::MulAdd(pixels[r + i / 3][i % 3], c, sum[r]);
      }
      const VI32 index = hn::Set(di, k);
      for (int r = 0; r < kRows; ++r) {
        const VF32 size = kMode == ResponseMode::magnitude ? hn::Abs(sum[r]) : sum[r];
        const auto better = hn::Gt(size, best[r]);
        best[r] = hn::Max(best[r], size);
        best_index[r] = hn::IfThenElse(hn::RebindMask(di, better), index, best_index[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      if constexpr (kMode == ResponseMode::value)
        best[r] = hn::IfThenElseZero(hn::Ge(best[r], hn::Set(d, kLeastResponse)), best[r]);
      hn::StoreU(best[r], d, responses.row(y + r) + x);
      const hn::Rebind<std::uint8_t, I32> d8;
      hn::StoreU(hn::DemoteTo(d8, best_index[r]), d8, indices.row(y + r) + x);
    }
  }
}

template <ResponseMode kMode>
void filter_all_float(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                      ImageView<float> responses, ImageView<std::uint8_t> indices) {
  constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 4 : 1;
  const FloatFilter* filters = dictionary.reference().data();
  int y = y_begin;
  for (; y + kRows <= y_end; y += kRows) {
    filter_tile_float<kMode, kRows>(image, filters, dictionary.size(), y, responses, indices);
  }
  for (; y < y_end; ++y)
    filter_tile_float<kMode, 1>(image, filters, dictionary.size(), y, responses, indices);
}

void filter_rows_float(GrayView image, const Dictionary& dictionary, ResponseMode mode, int y_begin,
                       int y_end, ImageView<float> responses, ImageView<std::uint8_t> indices) {
  const auto filter = mode == ResponseMode::value ? &filter_all_float<ResponseMode::value>
                                                  : &filter_all_float<ResponseMode::magnitude>;
  filter(image, dictionary, y_begin, y_end, responses, indices);
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(filter_rows);
HWY_EXPORT(filter_rows_float);

void filter_rows(GrayView image, const Dictionary& dictionary, ContrastMode contrast, int y_begin, int y_end,
                 ImageView<std::uint32_t> response_map) {
  HWY_DYNAMIC_DISPATCH(filter_rows)(image, dictionary, contrast, y_begin, y_end, response_map);
}

void filter_rows_float(GrayView image, const Dictionary& dictionary, ResponseMode mode, int y_begin,
                       int y_end, ImageView<float> responses, ImageView<std::uint8_t> indices) {
  HWY_DYNAMIC_DISPATCH(filter_rows_float)(image, dictionary, mode, y_begin, y_end, responses, indices);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
