// Block normalisation and the linear window classifier in SIMD: blocks lie in lanes.
//
// The classifier is a direct convolution over blocks: a row of features serves every window row that covers
// it, so each vector of features is loaded once for up to kRowsAtOnce window rows, whose weights are
// broadcast.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/classify_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "filterbank/kernels.hpp"

HWY_BEFORE_NAMESPACE();
#include "base/dot4.hpp"
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using sightline::HWY_NAMESPACE::dot4;

using F32 = hn::CappedTag<float, kLanePad>;
using I32 = hn::RebindToSigned<F32>;
using VI32 = hn::VFromD<I32>;
static_assert(std::is_same_v<VI32, sightline::HWY_NAMESPACE::VWords>);

// What project_row makes of its sums.
HWY_INLINE void store_components(const VI32* sum, std::ptrdiff_t pitch, std::int32_t* components) {
  const I32 d;
  for (int pair = 0; pair < PreRejection::kPairs; ++pair) {
    const VI32 low = hn::And(hn::ShiftRight<PreRejection::kShift>(sum[2 * pair]), hn::Set(d, 0xFFFF));
    const VI32 high = hn::ShiftLeft<16>(hn::ShiftRight<PreRejection::kShift>(sum[2 * pair + 1]));
    hn::StoreU(hn::Or(low, high), d, components + pair * pitch);
  }
}

void project_row(const std::uint8_t* features, const Grid& grid, const PreRejection& pre_rejection,
                 std::int32_t* components) {
  const I32 d;
  const hn::Repartition<std::uint8_t, I32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = 0; x < grid.columns(); x += lanes) {
    VI32 sum[PreRejection::kRank];
    for (VI32& s : sum) s = hn::Set(d, 1 << (PreRejection::kShift - 1));
    const std::int32_t* word = pre_rejection.basis().data();
    const std::uint8_t* block = features + static_cast<std::ptrdiff_t>(x) * 4;
    for (int quad = 0; quad < grid.quads(); ++quad, block += static_cast<std::ptrdiff_t>(grid.pitch()) * 4) {
      const VI32 value = hn::BitCast(d, hn::LoadU(d8, block));
      for (VI32& s : sum) s = dot4(value, hn::Set(d, *word++), s);
    }
    store_components(sum, grid.pitch(), components + x);
  }
}

// A vector of blocks after the other, all its features; with a pre-rejection, these are projected on their
// way.
template <bool kProject>
HWY_INLINE void normalise(const float* roots, const std::int32_t* totals, const Grid& grid, int epsilon,
                          const PreRejection* pre_rejection, std::uint8_t* features,
                          std::int32_t* components) {
  const F32 df;
  const I32 di;
  const hn::Repartition<std::uint8_t, I32> d8;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const std::ptrdiff_t pitch = grid.pitch();
  const std::ptrdiff_t roots_pitch = grid.roots_pitch();
  // Added to a number from 0 to 255, it leaves the nearest integer, the even one of two, in the low byte of
  // what is otherwise its own bits: cheaper than a conversion. Those bits are the same in all four features
  // of a word, and so is what they add up to.
  constexpr float kRounder = 12582912;  // 1.5 * 2^23
  const auto rounder = hn::Set(df, kRounder);
  constexpr std::uint32_t kExcess = std::bit_cast<std::uint32_t>(kRounder) * 0x01010101U;
  const VI32 excess = hn::Set(di, static_cast<std::int32_t>(kExcess));
  const std::ptrdiff_t cell_size = static_cast<std::ptrdiff_t>(grid.bins) * pitch;  // bytes of features
  // Of features that have been projected few are read again.
  const bool past_cache = kProject && reinterpret_cast<std::uintptr_t>(features) % 64 == 0;
  for (int x = 0; x < grid.columns(); x += lanes) {
    // The last vector of a row reads one cell past it: what is there must be finite, and counts for nothing.
    const std::int32_t* t = totals + x;
    const auto sum = hn::Add(hn::Add(hn::Add(hn::LoadU(di, t), hn::LoadU(di, t + 1)),
                                     hn::Add(hn::LoadU(di, t + pitch), hn::LoadU(di, t + pitch + 1))),
                             hn::Set(di, epsilon));
    const auto used =
        hn::And(hn::Gt(sum, hn::Zero(di)), hn::Lt(hn::Iota(di, x), hn::Set(di, grid.blocks_x())));
    const auto quotient = hn::Div(hn::Set(df, 255.0F), hn::Sqrt(hn::ConvertTo(df, sum)));
    const auto factor = hn::IfThenElseZero(hn::RebindMask(df, used), quotient);
    VI32 along[PreRejection::kRank];
    for (VI32& a : along) a = hn::Set(di, 1 << (PreRejection::kShift - 1));
    // All four cells of a block for one quad after the other: they share the lines that they are read from.
    const float* root = roots + x;
    std::uint8_t* out = features + static_cast<std::ptrdiff_t>(x) * 4;
    // Four features of one quad.
    const auto put = [&](const float* from, auto scale, int quad, std::uint8_t* to) HWY_ATTR {
      const auto feature = [&](int i) HWY_ATTR {  // at most 255: no bin holds more than its block
        return hn::BitCast(di, hn::Add(hn::Mul(hn::LoadU(df, from + i * roots_pitch), scale), rounder));
      };
      const VI32 low = hn::Add(feature(0), hn::ShiftLeft<8>(feature(1)));
      const VI32 high = hn::Add(feature(2), hn::ShiftLeft<8>(feature(3)));
      const VI32 word = hn::Sub(hn::Add(low, hn::ShiftLeft<16>(high)), excess);
      const auto bytes = hn::BitCast(d8, word);
      if (past_cache) {
        hn::Stream(bytes, d8, to);
      } else {
        hn::StoreU(bytes, d8, to);
      }
      if constexpr (kProject) {
        const std::int32_t* basis =
            pre_rejection->basis().data() + static_cast<std::ptrdiff_t>(quad) * PreRejection::kRank;
        for (int r = 0; r < PreRejection::kRank; ++r) along[r] = dot4(word, hn::Set(di, basis[r]), along[r]);
      }
    };
    for (int bin = 0; bin < grid.bins; bin += 4, root += 4 * roots_pitch, out += 4 * pitch) {
      for (int cell = 0; cell < kBlockCells; ++cell) {
        put(root + (cell / 2) * grid.roots_row() + cell % 2, factor, (cell * grid.bins + bin) / 4,
            out + cell * cell_size);
      }
    }
    const auto pattern_factor =
        hn::IfThenElseZero(hn::RebindMask(df, hn::Lt(hn::Iota(di, x), hn::Set(di, grid.blocks_x()))),
                           hn::Set(df, kPatternFactor));
    out += (kBlockCells - 1) * cell_size;
    for (int pattern = 0; pattern < grid.patterns; pattern += 4, root += 4 * roots_pitch, out += 4 * pitch)
      put(root, pattern_factor, (kBlockCells * grid.bins + pattern) / 4, out);
    if constexpr (kProject) store_components(along, pitch, components + x);
  }
  if (past_cache) hwy::FlushStream();
}

void normalise_row(const float* roots, const std::int32_t* totals, const Grid& grid, int epsilon,
                   std::uint8_t* features) {
  normalise<false>(roots, totals, grid, epsilon, nullptr, features, nullptr);
}

void normalise_and_project_row(const float* roots, const std::int32_t* totals, const Grid& grid, int epsilon,
                               const PreRejection& pre_rejection, std::uint8_t* features,
                               std::int32_t* components) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  normalise<true>(roots, totals, grid, epsilon, &pre_rejection, features, components);
#else  // too few registers for both
  normalise<false>(roots, totals, grid, epsilon, nullptr, features, nullptr);
  HWY_NAMESPACE::project_row(features, grid, pre_rejection, components);
#endif
}

// What a word of four bytes is to the convolution below: four 8-bit features and weights, or two 16-bit
// components and weights.
struct Quads {
  static HWY_INLINE VI32 dot(VI32 values, VI32 weights, VI32 sum) { return dot4(values, weights, sum); }
};
struct Pairs {
  static HWY_INLINE VI32 dot(VI32 values, VI32 weights, VI32 sum) {
#if SIGHTLINE_VNNI
    return VI32{_mm512_dpwssd_epi32(sum.raw, values.raw, weights.raw)};
#elif HWY_ARCH_X86
    // On x86 this is one `pmaddwd`, which keeps every pair in its own lane.
    const hn::Repartition<std::int16_t, I32> d16;
    VI32 unused = hn::Zero(I32());
    return hn::ReorderWidenMulAccumulate(I32(), hn::BitCast(d16, values), hn::BitCast(d16, weights), sum,
                                         unused);
#else
    const auto low = [](VI32 v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
    return hn::Add(sum, hn::Add(hn::Mul(low(values), low(weights)),
                                hn::Mul(hn::ShiftRight<16>(values), hn::ShiftRight<16>(weights))));
#endif
  }
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr int kRowsAtOnce = 8;  // 32 registers
#else
constexpr int kRowsAtOnce = 4;
#endif

// One row of features, kRows window rows of which the first uses row `block_y` of the weights and every next
// one the row before, kVectors vectors of windows.
template <class Word, int kRows, int kVectors>
HWY_INLINE void accumulate(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights,
                           int block_y, std::int32_t* scores) {
  const I32 d;
  const hn::Repartition<std::uint8_t, I32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const int pitch = grid.pitch();
  VI32 sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::LoadU(d, scores + r * pitch + v * lanes);
  }
  const std::ptrdiff_t weight_row =
      static_cast<std::ptrdiff_t>(weights.window().blocks_x()) * weights.quads();
  const std::int32_t* word = weights.row(block_y);
  for (int bx = 0; bx < weights.window().blocks_x(); ++bx) {
    const std::uint8_t* block = features + static_cast<std::ptrdiff_t>(bx) * 4;
    for (int quad = 0; quad < weights.quads();
         ++quad, ++word, block += static_cast<std::ptrdiff_t>(pitch) * 4) {
      VI32 value[kVectors];
      for (int v = 0; v < kVectors; ++v) value[v] = hn::BitCast(d, hn::LoadU(d8, block + v * lanes * 4));
      for (int r = 0; r < kRows; ++r) {
        const VI32 weight = hn::Set(d, word[-r * weight_row]);
        for (int v = 0; v < kVectors; ++v) sum[r][v] = Word::dot(value[v], weight, sum[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, scores + r * pitch + v * lanes);
  }
}

template <class Word, int kRows>
HWY_INLINE void accumulate_row(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights,
                               int block_y, std::int32_t* scores) {
  const int lanes = static_cast<int>(hn::Lanes(I32()));
  const int windows = grid.cells_x - weights.window().cells_x + 1;
  int x = 0;
  for (; x + lanes < windows; x += 2 * lanes) {
    accumulate<Word, kRows, 2>(features + static_cast<std::ptrdiff_t>(x) * 4, grid, weights, block_y,
                               scores + x);
  }
  if (x < windows)
    accumulate<Word, kRows, 1>(features + static_cast<std::ptrdiff_t>(x) * 4, grid, weights, block_y,
                               scores + x);
}

template <class Word, int kRows>
HWY_INLINE void accumulate_rows(int rows, const std::uint8_t* features, const Grid& grid,
                                const PackedWeights& weights, int block_y, std::int32_t* scores) {
  if (rows == kRows) {
    accumulate_row<Word, kRows>(features, grid, weights, block_y, scores);
  } else if constexpr (kRows > 1) {
    accumulate_rows<Word, kRows - 1>(rows, features, grid, weights, block_y, scores);
  }
}

// `values`: [block y][weights.quads()][block x] words.
template <class Word>
HWY_INLINE void convolve_rows(const std::uint8_t* values, const Grid& grid, const PackedWeights& weights,
                              int y_begin, int y_end, std::int32_t* scores) {
  const int reach = weights.window().blocks_y();
  const std::ptrdiff_t values_row = static_cast<std::ptrdiff_t>(weights.quads()) * grid.pitch() * 4;
  for (int y = y_begin; y < y_end - 1 + reach; ++y) {
    const int first = std::max(y_begin, y - reach + 1);
    const int last = std::min(y_end, y + 1);
    for (int row = first; row < last; row += kRowsAtOnce) {
      accumulate_rows<Word, kRowsAtOnce>(std::min(kRowsAtOnce, last - row), values + y * values_row, grid,
                                         weights, y - row,
                                         scores + static_cast<std::ptrdiff_t>(row) * grid.pitch());
    }
  }
}

void classify_rows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights, int y_begin,
                   int y_end, std::int32_t* scores) {
  convolve_rows<Quads>(features, grid, weights, y_begin, y_end, scores);
}

// The blocks of a row of a window lie in lanes, for one quad after the other; at most eight, so that windows
// of the usual width leave few lanes unused.
using WindowI32 = hn::CappedTag<std::int32_t, PackedWeights::kColumns>;
using VWindowI32 = hn::VFromD<WindowI32>;

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
HWY_INLINE VWindowI32 dot4(VWindowI32 features, VWindowI32 weights, VWindowI32 sum) {
#if SIGHTLINE_VNNI
  // Half of a long vector: g++ 12 makes the form of another instruction set of the short one.
  return VWindowI32{_mm512_castsi512_si256(_mm512_dpbusd_epi32(_mm512_castsi256_si512(sum.raw),
                                                               _mm512_castsi256_si512(features.raw),
                                                               _mm512_castsi256_si512(weights.raw)))};
#else
  return VWindowI32{_mm256_add_epi32(
      sum.raw, _mm256_madd_epi16(_mm256_maddubs_epi16(features.raw, weights.raw), _mm256_set1_epi16(1)))};
#endif
}
#endif

template <int kWindows>
HWY_INLINE void sum_windows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights,
                            const int* columns, int y, std::int32_t* sums) {
  const WindowI32 d;
  const hn::Repartition<std::uint8_t, WindowI32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(grid.pitch()) * 4;
  const int blocks_x = weights.window().blocks_x();
  constexpr int kPrefetch = 24;
  VWindowI32 sum[kWindows];
  for (VWindowI32& s : sum) s = hn::Zero(d);
  for (int by = 0; by < weights.window().blocks_y(); ++by) {
    const std::int32_t* words = weights.columns(by);
    const std::uint8_t* row = features + (y + by) * grid.features_row();
    for (int quad = 0; quad < grid.quads(); ++quad, row += pitch, words += weights.columns_pitch()) {
      // Too far apart for the processor to see it coming.
      hwy::Prefetch(row + kPrefetch * pitch + columns[0] * 4);
      hwy::Prefetch(row + kPrefetch * pitch + (columns[kWindows - 1] + blocks_x) * 4);
      for (int bx = 0; bx < blocks_x; bx += lanes) {
        const VWindowI32 weight = hn::LoadU(d, words + bx);
        for (int i = 0; i < kWindows; ++i) {
          const auto bytes = hn::LoadU(d8, row + static_cast<std::ptrdiff_t>(columns[i] + bx) * 4);
          sum[i] = dot4(hn::BitCast(d, bytes), weight, sum[i]);
        }
      }
    }
  }
  for (int i = 0; i < kWindows; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(d, sum[i]));
}

void classify_windows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights,
                      std::span<const int> columns, int y, std::int32_t* sums) {
  switch (columns.size()) {
    case 1:
      return sum_windows<1>(features, grid, weights, columns.data(), y, sums);
    case 2:
      return sum_windows<2>(features, grid, weights, columns.data(), y, sums);
    case 3:
      return sum_windows<3>(features, grid, weights, columns.data(), y, sums);
    default:
      static_assert(kWindowsAtOnce == 4);
      return sum_windows<4>(features, grid, weights, columns.data(), y, sums);
  }
}

void estimate_rows(const std::int32_t* components, const Grid& grid, const PreRejection& pre_rejection,
                   int y_begin, int y_end, std::int32_t* sums) {
  convolve_rows<Pairs>(reinterpret_cast<const std::uint8_t*>(components), grid, pre_rejection.weights(),
                       y_begin, y_end, sums);
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <string>

#include "base/error.hpp"

namespace sightline::filterbank {
HWY_EXPORT(normalise_row);
HWY_EXPORT(normalise_and_project_row);
HWY_EXPORT(classify_rows);
HWY_EXPORT(estimate_rows);
HWY_EXPORT(classify_windows);
HWY_EXPORT(project_row);

void normalise_row(const float* roots, const std::int32_t* totals, const Grid& grid, int epsilon,
                   std::uint8_t* features) {
  HWY_DYNAMIC_DISPATCH(normalise_row)(roots, totals, grid, epsilon, features);
}

void normalise_and_project_row(const float* roots, const std::int32_t* totals, const Grid& grid, int epsilon,
                               const PreRejection& pre_rejection, std::uint8_t* features,
                               std::int32_t* components) {
  HWY_DYNAMIC_DISPATCH(normalise_and_project_row)
  (roots, totals, grid, epsilon, pre_rejection, features, components);
}

void classify_rows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights, int y_begin,
                   int y_end, std::int32_t* scores) {
  HWY_DYNAMIC_DISPATCH(classify_rows)(features, grid, weights, y_begin, y_end, scores);
}

void estimate_rows(const std::int32_t* components, const Grid& grid, const PreRejection& pre_rejection,
                   int y_begin, int y_end, std::int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(estimate_rows)(components, grid, pre_rejection, y_begin, y_end, sums);
}

void project_row(const std::uint8_t* features, const Grid& grid, const PreRejection& pre_rejection,
                 std::int32_t* components) {
  HWY_DYNAMIC_DISPATCH(project_row)(features, grid, pre_rejection, components);
}

void classify_windows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights,
                      std::span<const int> columns, int y, std::int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(classify_windows)(features, grid, weights, columns, y, sums);
}

PackedWeights::PackedWeights(std::span<const std::int8_t> weights, WindowShape window, int filter_bins,
                             int pattern_bins)
    : window_(window), quads_((kBlockCells * round_up(filter_bins, 4) + round_up(pattern_bins, 4)) / 4) {
  words_.assign(static_cast<std::size_t>(window.blocks()) * quads_, 0);
  std::size_t next = 0;
  const auto pack = [&](int count, std::int32_t* words) {  // a run of weights that begins with a quad
    for (int i = 0; i < count; ++i, ++next) {
      const int weight = weights[next];
      if (std::abs(weight) > kMaxWeight) {
        throw Error(
            ExitCode::model, "classifier weight " + std::to_string(next) + " is " + std::to_string(weight),
            "weights must lie between -" + std::to_string(kMaxWeight) + " and " + std::to_string(kMaxWeight));
      }
      words[i / 4] = static_cast<std::int32_t>(static_cast<std::uint32_t>(words[i / 4]) |
                                               (static_cast<std::uint32_t>(weight) & 0xFFU) << (8 * (i % 4)));
    }
  };
  const int cell_quads = round_up(filter_bins, 4) / 4;
  std::int32_t* words = words_.data();
  for (int block = 0; block < window.blocks(); ++block, words += quads_) {
    for (int cell = 0; cell < kBlockCells; ++cell) pack(filter_bins, words + cell * cell_quads);
    pack(pattern_bins, words + kBlockCells * cell_quads);
  }
  columns_.assign(static_cast<std::size_t>(window.blocks_y()) * quads_ * columns_pitch(), 0);
  for (int block = 0; block < window.blocks(); ++block) {
    for (int quad = 0; quad < quads_; ++quad) {
      const int row = block / window.blocks_x() * quads_ + quad;
      columns_[static_cast<std::size_t>(row) * columns_pitch() + block % window.blocks_x()] =
          words_[static_cast<std::size_t>(block) * quads_ + quad];
    }
  }
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
