// Filter stage in SIMD: pixels lie in lanes, filters are broadcast, and a tile of several rows stays in
// registers while the dictionary streams past it. A row's taps are gathered into one vector per row of pixels
// once, and serve the three output rows that touch it.
//
// Operations for one vector of pixels and one filter: float 9 multiply-adds + 4 (absolute value, compare,
// maximum, blend); 8-bit dot product 3 + 4 (absolute value, shift, or with the index, maximum); 16-bit pairs
// 5 + 5.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/filter_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "filterbank/kernels.hpp"

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

// How one row of pixels enters the tile, and the response of one filter to the three rows around an output
// row.
#if SIGHTLINE_VNNI
constexpr int kTileRows = 4;
constexpr int kWords = 3;

struct PixelRow {
  VI32 quad;  // bytes: left, middle, right, 0
};

HWY_INLINE PixelRow load_row(const std::uint8_t* p) {
  return {hn::Or(hn::Or(load_pixels(p - 1), hn::ShiftLeft<8>(load_pixels(p))),
                 hn::ShiftLeft<16>(load_pixels(p + 1)))};
}

HWY_INLINE VI32 respond(const PixelRow* rows, const VI32* words) {
  VI32 sum{_mm512_dpbusd_epi32(_mm512_setzero_si512(), rows[0].quad.raw, words[0].raw)};
  sum.raw = _mm512_dpbusd_epi32(sum.raw, rows[1].quad.raw, words[1].raw);
  sum.raw = _mm512_dpbusd_epi32(sum.raw, rows[2].quad.raw, words[2].raw);
  return sum;
}

const std::int32_t* words_of(const Dictionary& dictionary) {
  return dictionary.quads().data();
}

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

template <int kRows>
HWY_INLINE void filter_tile(GrayView image, const Dictionary& dictionary, int y,
                            ImageView<std::uint32_t> votes) {
  const I32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::int32_t* const words = words_of(dictionary);
  const int count = dictionary.size();
  for (int x = 0; x < image.width(); x += lanes) {
    PixelRow rows[kRows + 2];
    for (int r = 0; r < kRows + 2; ++r) rows[r] = load_row(image.row(y + r - 1) + x);
    VI32 best[kRows];
    for (int r = 0; r < kRows; ++r) best[r] = hn::Zero(d);
    VI32 index = hn::Set(d, 255);
    for (int k = 0; k < count; ++k) {
      VI32 word[kWords];
      for (int i = 0; i < kWords; ++i) word[i] = hn::Set(d, words[k * kWords + i]);
      for (int r = 0; r < kRows; ++r) best[r] = hn::Max(best[r], key_of(respond(rows + r, word), index));
      index = hn::Sub(index, hn::Set(d, 1));
    }
    for (int r = 0; r < kRows; ++r) {
      const VI32 vote = hn::Xor(best[r], hn::Set(d, 255));
      hn::StoreU(hn::BitCast(hn::RebindToUnsigned<I32>(), vote), hn::RebindToUnsigned<I32>(),
                 votes.row(y + r) + x);
    }
  }
}

void filter_rows(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                 ImageView<std::uint32_t> votes) {
  int y = y_begin;
  for (; y + kTileRows <= y_end; y += kTileRows) filter_tile<kTileRows>(image, dictionary, y, votes);
  for (; y < y_end; ++y) filter_tile<1>(image, dictionary, y, votes);
}

// --- the float form
// ---------------------------------------------------------------------------------------------

template <int kRows>
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
      best[r] = hn::Set(d, -1.0F);
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
        const VF32 magnitude = hn::Abs(sum[r]);
        const auto better = hn::Gt(magnitude, best[r]);
        best[r] = hn::Max(best[r], magnitude);
        best_index[r] = hn::IfThenElse(hn::RebindMask(di, better), index, best_index[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      hn::StoreU(best[r], d, responses.row(y + r) + x);
      const hn::Rebind<std::uint8_t, I32> d8;
      hn::StoreU(hn::DemoteTo(d8, best_index[r]), d8, indices.row(y + r) + x);
    }
  }
}

void filter_rows_float(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                       ImageView<float> responses, ImageView<std::uint8_t> indices) {
  constexpr int kRows = HWY_TARGET <= HWY_AVX3 ? 4 : 1;
  const FloatFilter* filters = dictionary.reference().data();
  int y = y_begin;
  for (; y + kRows <= y_end; y += kRows) {
    filter_tile_float<kRows>(image, filters, dictionary.size(), y, responses, indices);
  }
  for (; y < y_end; ++y) filter_tile_float<1>(image, filters, dictionary.size(), y, responses, indices);
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(filter_rows);
HWY_EXPORT(filter_rows_float);

void filter_rows(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                 ImageView<std::uint32_t> votes) {
  HWY_DYNAMIC_DISPATCH(filter_rows)(image, dictionary, y_begin, y_end, votes);
}

void filter_rows_float(GrayView image, const Dictionary& dictionary, int y_begin, int y_end,
                       ImageView<float> responses, ImageView<std::uint8_t> indices) {
  HWY_DYNAMIC_DISPATCH(filter_rows_float)(image, dictionary, y_begin, y_end, responses, indices);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
