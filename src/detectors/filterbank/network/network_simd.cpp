// A network's verification of a window in SIMD: outputs lie in lanes.
//
// A kernel's row is a run of bytes of its input, so that nothing is rearranged: for several pixels at a time
// each word of four inputs is broadcast and meets the weights of a vector of outputs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/filterbank/network/network_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "detectors/filterbank/network/network.hpp"

HWY_BEFORE_NAMESPACE();
#include "base/dot4.hpp"
namespace sightline::filterbank::HWY_NAMESPACE {
using sightline::HWY_NAMESPACE::dot4;
using sightline::HWY_NAMESPACE::VWords;
using sightline::HWY_NAMESPACE::Words;
namespace hn = hwy::HWY_NAMESPACE;

using Bytes = hn::Repartition<std::uint8_t, Words>;
using VBytes = hn::VFromD<Bytes>;
using Layer = PackedNetwork::Layer;
using Picture = PackedNetwork::Picture;

constexpr std::uint8_t kPixelOffset = PackedNetwork::kPixelOffset;

// A multiple of 16 bytes.
HWY_INLINE void fill(std::uint8_t* to, std::ptrdiff_t bytes, std::uint8_t value) {
  const hn::FixedTag<std::uint8_t, 16> d;
  for (std::ptrdiff_t i = 0; i < bytes; i += 16) hn::StoreU(hn::Set(d, value), d, to + i);
}

// --- the window ---

HWY_INLINE void copy_row(const std::uint8_t* from, int count, std::uint8_t* to) {
  const Bytes d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (count < lanes) {
    std::memcpy(to, from, static_cast<std::size_t>(count));
    return;
  }
  for (int x = 0; x + lanes < count; x += lanes) hn::StoreU(hn::LoadU(d, from + x), d, to + x);
  hn::StoreU(hn::LoadU(d, from + count - lanes), d, to + count - lanes);
}

// The sum of what `value_of` makes of vectors of the `count` bytes, whole vectors of them.
template <class ValueOf>
HWY_INLINE std::int64_t sum_of(const std::uint8_t* bytes, std::ptrdiff_t count, const ValueOf& value_of) {
  const Bytes d;
  const hn::Repartition<std::uint64_t, Bytes> d64;
  auto sum = hn::Zero(d64);
  for (std::ptrdiff_t i = 0; i < count; i += static_cast<std::ptrdiff_t>(hn::Lanes(d)))
    sum = hn::Add(sum, hn::SumsOf8(value_of(hn::LoadU(d, bytes + i))));
  return static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(d64, sum)));
}

// Makes `count` bytes independent of brightness and contrast, whole vectors of them. Rounds as the definition
// does: with 32 times the difference and 15 bits, the product has its 1/1024.
HWY_INLINE void stretch(std::uint8_t* bytes, std::ptrdiff_t count, int mean, int gain) {
  const hn::Repartition<std::int16_t, Words> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> du8;
  const hn::Rebind<std::int8_t, decltype(d16)> d8;
  const auto mean16 = hn::Set(d16, static_cast<std::int16_t>(mean));
  const auto gain16 = hn::Set(d16, static_cast<std::int16_t>(gain));
  for (std::ptrdiff_t i = 0; i < count; i += static_cast<std::ptrdiff_t>(hn::Lanes(d16))) {
    const auto difference = hn::Sub(hn::PromoteTo(d16, hn::LoadU(du8, bytes + i)), mean16);
    const auto value = hn::MulFixedPoint15(hn::ShiftLeft<5>(difference), gain16);
    const auto clamped = hn::Max(hn::DemoteTo(d8, value), hn::Set(d8, std::int8_t{-127}));
    hn::StoreU(hn::Xor(hn::BitCast(du8, clamped), hn::Set(du8, kPixelOffset)), du8, bytes + i);
  }
}

// The rows lie with gaps between them, each the right border of one and the left border of the next row, and
// are treated like one run of bytes.
HWY_INLINE void normalise(GrayView window, const Picture& picture, std::uint8_t* to) {
  const Bytes d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const int border = picture.border;
  const int width = window.width();
  const std::ptrdiff_t pitch = picture.pitch;
  const std::ptrdiff_t run = pitch * window.height();
  std::uint8_t* begin = to + border * pitch;
  for (int y = 0; y < window.height(); ++y) {
    std::uint8_t* row = begin + border + y * pitch;
    copy_row(window.row(y), width, row);
    fill(row + width, PackedNetwork::kWindowGap, 0);
  }
  std::fill_n(begin, border, std::uint8_t{0});
  hn::StoreU(hn::Zero(d), d, begin + run);
  const std::ptrdiff_t bytes = (run + lanes - 1) / lanes * lanes;

  const std::int64_t n = static_cast<std::int64_t>(width) * window.height();
  const std::int64_t sum = sum_of(begin, bytes, [](VBytes v) HWY_ATTR { return v; });
  const int mean = static_cast<int>((sum + n / 2) / n);
  const VBytes middle = hn::Set(d, static_cast<std::uint8_t>(mean));
  // The zeros in the gaps lie `mean` from it.
  const std::int64_t deviation =
      sum_of(begin, bytes,
             [&](VBytes v)
                 HWY_ATTR { return hn::Or(hn::SaturatedSub(v, middle), hn::SaturatedSub(middle, v)); }) -
      (bytes - n) * mean;
  stretch(begin, bytes, mean, static_cast<int>(32 * 1024 * n / std::max(deviation, 4 * n)));

  std::fill_n(to, border * pitch + border, kPixelOffset);
  for (int y = 0; y < window.height(); ++y)
    fill(begin + border + width + y * pitch, PackedNetwork::kWindowGap, kPixelOffset);
  std::fill_n(begin + run, border * pitch, kPixelOffset);
}

// --- convolutions ---

// Zeros all round: a row's right border and the next row's left border are one run.
HWY_INLINE void clear_border(const Picture& picture, std::uint8_t* to) {
  if (picture.border == 0) return;
  const std::ptrdiff_t side = picture.border_bytes();
  std::uint8_t* row = to + picture.border * picture.pitch;
  fill(to, row + side - to, 0);
  for (int y = 0; y < picture.size.height; ++y, row += picture.pitch)
    fill(row + side + picture.row_bytes(), 2 * side, 0);
  fill(row, picture.border * picture.pitch, 0);
}

HWY_INLINE std::int32_t word_at(const std::uint8_t* bytes) {
  std::int32_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

using VFloats = hn::VFromD<hn::Rebind<float, Words>>;

// Still has to be rounded and clamped. Clamps first, because more than 32 bits cannot be rounded.
HWY_INLINE VFloats scaled(VWords sum, VFloats scale) {
  const hn::Rebind<float, Words> d;
  return hn::Min(hn::Mul(hn::ConvertTo(d, sum), scale), hn::Set(d, 255.0F));
}

#undef SIGHTLINE_PACKED_OUTPUTS
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
#define SIGHTLINE_PACKED_OUTPUTS 1
#if HWY_TARGET <= HWY_AVX3
// Four vectors of outputs one after the other. Packing clamps.
HWY_INLINE VBytes bytes_of(VFloats a, VFloats b, VFloats c, VFloats d) {
  const __m512i low = _mm512_packs_epi32(_mm512_cvtps_epi32(a.raw), _mm512_cvtps_epi32(b.raw));
  const __m512i high = _mm512_packs_epi32(_mm512_cvtps_epi32(c.raw), _mm512_cvtps_epi32(d.raw));
  // Every 128 bits of it have four outputs of each of the vectors.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return VBytes{_mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high))};
}
#else
HWY_INLINE VBytes bytes_of(VFloats a, VFloats b, VFloats c, VFloats d) {
  const __m256i low = _mm256_packs_epi32(_mm256_cvtps_epi32(a.raw), _mm256_cvtps_epi32(b.raw));
  const __m256i high = _mm256_packs_epi32(_mm256_cvtps_epi32(c.raw), _mm256_cvtps_epi32(d.raw));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return VBytes{_mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order)};
}
#endif
#else
#define SIGHTLINE_PACKED_OUTPUTS 0
#endif

// `sum`, of `to_step` bytes a pixel.
template <int kVectors, int kPixels>
HWY_INLINE void store_outputs(const VWords (&sum)[kPixels][kVectors], const float* scales, std::uint8_t* to,
                              std::ptrdiff_t to_step) {
  const hn::Rebind<float, Words> df;
  const int lanes = static_cast<int>(hn::Lanes(df));
  VFloats scale[kVectors];
  for (int v = 0; v < kVectors; ++v) scale[v] = hn::LoadU(df, scales + v * lanes);
#if SIGHTLINE_PACKED_OUTPUTS
  if constexpr (kVectors == 2 && kPixels % 2 == 0) {
    const hn::Half<Bytes> half;
    for (int p = 0; p < kPixels; p += 2, to += 2 * to_step) {
      const VBytes bytes = bytes_of(scaled(sum[p][0], scale[0]), scaled(sum[p][1], scale[1]),
                                    scaled(sum[p + 1][0], scale[0]), scaled(sum[p + 1][1], scale[1]));
      hn::StoreU(hn::LowerHalf(half, bytes), half, to);
      hn::StoreU(hn::UpperHalf(half, bytes), half, to + to_step);
    }
    return;
  }
#endif
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kVectors == 1 && kPixels % 4 == 0) {
    for (int p = 0; p < kPixels; p += 4, to += 4 * to_step) {
      const VBytes bytes = bytes_of(scaled(sum[p][0], scale[0]), scaled(sum[p + 1][0], scale[0]),
                                    scaled(sum[p + 2][0], scale[0]), scaled(sum[p + 3][0], scale[0]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_castsi512_si128(bytes.raw));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + to_step), _mm512_extracti32x4_epi32(bytes.raw, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * to_step), _mm512_extracti32x4_epi32(bytes.raw, 2));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * to_step), _mm512_extracti32x4_epi32(bytes.raw, 3));
    }
    return;
  }
#endif
  const hn::Rebind<std::uint8_t, Words> d8;
  for (int p = 0; p < kPixels; ++p) {
    for (int v = 0; v < kVectors; ++v) {
      const auto value = hn::NearestInt(scaled(sum[p][v], scale[v]));
      hn::StoreU(hn::DemoteTo(d8, value), d8, to + p * to_step + v * lanes);
    }
  }
}

// Input and output of `outputs_of` for its first pixel.
struct Place {
  const std::uint8_t* from;
  std::ptrdiff_t from_pitch;
  std::ptrdiff_t step;  ///< bytes of `from` from one pixel to the next
  std::uint8_t* to;
  std::ptrdiff_t to_step;
};

// kVectors vectors of outputs, from `output` on, for kPixels pixels of a row. The length of a kernel's row
// and the step are constants unless they are 0.
template <int kVectors, int kPixels, int kRowWords, int kStep>
HWY_INLINE void outputs_of(const Layer& layer, int output, const Place& place) {
  const Words d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int row_words = kRowWords > 0 ? kRowWords : layer.row_words;
  const std::ptrdiff_t step = kStep > 0 ? kStep : place.step;
  const std::int32_t* weights[kVectors];
  VWords sum[kPixels][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const int o = output + v * lanes;
    weights[v] =
        layer.weights[static_cast<std::size_t>(o / kChannelUnit) * layer.size * row_words].words.data() +
        o % kChannelUnit;
    const VWords bias = hn::LoadU(d, layer.bias.data() + o);
    for (int p = 0; p < kPixels; ++p) sum[p][v] = bias;
  }
  const std::uint8_t* row = place.from;
  std::ptrdiff_t next = 0;
  for (int y = 0; y < layer.size; ++y, row += place.from_pitch) {
    for (int i = 0; i < row_words; ++i, next += kChannelUnit) {
      VWords weight[kVectors];
      for (int v = 0; v < kVectors; ++v) weight[v] = hn::LoadU(d, weights[v] + next);
      for (int p = 0; p < kPixels; ++p) {
        const VWords values = hn::Set(d, word_at(row + p * step + static_cast<std::ptrdiff_t>(i) * 4));
        for (int v = 0; v < kVectors; ++v) sum[p][v] = dot4(values, weight[v], sum[p][v]);
      }
    }
  }
  store_outputs<kVectors, kPixels>(sum, layer.scale.data() + output, place.to, place.to_step);
}

// `from` and `to`: the first value of a picture whose border is right, and of one whose border is not
// touched.
template <int kVectors, int kPixels, int kRowWords, int kStep>
HWY_INLINE void convolve_outputs(const Layer& layer, int output, const Picture& input,
                                 const std::uint8_t* from, const Picture& to_picture, std::uint8_t* to) {
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(layer.stride) * input.channels;
  const int width = to_picture.size.width;
  for (int y = 0; y < to_picture.size.height; ++y) {
    const std::uint8_t* from_row = from + y * layer.stride * input.pitch;
    std::uint8_t* to_row = to + y * to_picture.pitch + output;
    for (int x = 0; x < width; x += kPixels) {
      const int first = std::min(x, width - kPixels);  // the last ones may be made twice
      outputs_of<kVectors, kPixels, kRowWords, kStep>(
          layer, output,
          {from_row + first * step, input.pitch, step,
           to_row + static_cast<std::ptrdiff_t>(first) * layer.outputs, layer.outputs});
    }
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr int kSumsAtOnce = 16;  // uses half of 32 registers
#else
constexpr int kSumsAtOnce = 8;
#endif

template <int kVectors>
HWY_INLINE void convolve_vectors(const Layer& layer, int output, const Picture& input,
                                 const std::uint8_t* from, const Picture& to_picture, std::uint8_t* to) {
  constexpr int kPixels = kSumsAtOnce / kVectors;
  const int width = to_picture.size.width;
  if (width < 4) return convolve_outputs<kVectors, 1, 0, 0>(layer, output, input, from, to_picture, to);
  if (width < kPixels) return convolve_outputs<kVectors, 4, 0, 0>(layer, output, input, from, to_picture, to);
  if (input.channels > 1)
    return convolve_outputs<kVectors, kPixels, 0, 0>(layer, output, input, from, to_picture, to);
  // Windows: short rows of kernels.
  if (layer.row_words == 2 && layer.stride == 2) {
    convolve_outputs<kVectors, kPixels, 2, 2>(layer, output, input, from, to_picture, to);
  } else if (layer.row_words == 2) {
    convolve_outputs<kVectors, kPixels, 2, 1>(layer, output, input, from, to_picture, to);
  } else if (layer.stride == 2) {
    convolve_outputs<kVectors, kPixels, 1, 2>(layer, output, input, from, to_picture, to);
  } else {
    convolve_outputs<kVectors, kPixels, 1, 1>(layer, output, input, from, to_picture, to);
  }
}

HWY_INLINE void convolve(const Layer& layer, const Picture& input, const std::uint8_t* from,
                         const Picture& to_picture, std::uint8_t* to) {
  const int lanes = static_cast<int>(hn::Lanes(Words()));
  to += to_picture.border * to_picture.pitch + to_picture.border_bytes();
  int output = 0;
  for (; output + 2 * lanes <= layer.outputs; output += 2 * lanes)
    convolve_vectors<2>(layer, output, input, from, to_picture, to);
  if (output < layer.outputs) convolve_vectors<1>(layer, output, input, from, to_picture, to);
}

// --- all of it ---

HWY_INLINE std::int32_t sum_of(std::span<const std::int8_t> head, const std::uint8_t* values) {
  const Words d;
  const Bytes d8;
  VWords sum = hn::Zero(d);
  for (std::size_t i = 0; i < head.size(); i += hn::Lanes(d8)) {
    const VBytes weights = hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(head.data()) + i);
    sum = dot4(hn::BitCast(d, hn::LoadU(d8, values + i)), hn::BitCast(d, weights), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

NetworkSums run_network(const PackedNetwork& network, GrayView window, std::uint8_t* scratch) {
  const std::span<const Picture> pictures = network.pictures();
  const std::uint8_t* from = scratch + pictures[0].offset;
  normalise(window, pictures[0], scratch + pictures[0].offset);
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    std::uint8_t* to = scratch + pictures[i + 1].offset;
    clear_border(pictures[i + 1], to);
    convolve(network.layers()[i], pictures[i], from, pictures[i + 1], to);
    from = to;
  }
  NetworkSums sums{sum_of(network.head(0), from), {}};
  for (std::size_t i = 1; i < network.heads(); ++i) sums.box[i - 1] = sum_of(network.head(i), from);
  return sums;
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(run_network);

NetworkSums run_network(const PackedNetwork& network, GrayView window, std::uint8_t* scratch) {
  return HWY_DYNAMIC_DISPATCH(run_network)(network, window, scratch);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
