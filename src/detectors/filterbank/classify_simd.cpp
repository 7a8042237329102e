// Block normalisation and the linear window classifier in SIMD: blocks lie in lanes.
//
// The classifier is a direct convolution over blocks: a row of features serves every window row that covers
// it, so each vector of features is loaded once for up to kRowsAtOnce window rows, whose weights are
// broadcast.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/filterbank/classify_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <type_traits>

#include "detectors/filterbank/kernels.hpp"
#include "image/lbp.hpp"

HWY_BEFORE_NAMESPACE();
#include "base/dot4.hpp"
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using sightline::HWY_NAMESPACE::dot4;

using F32 = hn::CappedTag<float, kLanePad>;
using I32 = hn::RebindToSigned<F32>;
using VI32 = hn::VFromD<I32>;
static_assert(std::is_same_v<VI32, sightline::HWY_NAMESPACE::VWords>);

// Blocks and ranks whose components are computed at once: as many sums as fit in the registers.
constexpr int kProjectedVectors = static_cast<int>(hn::MaxLanes(I32())) < kLanePad ? 2 : 1;
constexpr int kProjectedBlocks = kProjectedVectors * static_cast<int>(hn::MaxLanes(I32()));
constexpr int kRanksAtOnce = PreRejection::kRank / kProjectedVectors;
static_assert(kLanePad % kProjectedBlocks == 0);

// The components of these blocks, whose features are `pitch` bytes apart from quad to quad.
HWY_INLINE void project(const std::uint8_t* features, std::ptrdiff_t pitch, const PreRejection& pre_rejection,
                        std::ptrdiff_t components_pitch, std::int32_t* components) {
  const I32 d;
  const hn::Repartition<std::uint8_t, I32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const std::vector<std::int32_t>& basis = pre_rejection.basis();
  for (int rank = 0; rank < PreRejection::kRank; rank += kRanksAtOnce) {
    VI32 sum[kRanksAtOnce][kProjectedVectors];
    for (auto& sums : sum) {
      for (VI32& s : sums) s = hn::Set(d, 1 << (PreRejection::kShift - 1));
    }
    const std::uint8_t* quad = features;
    for (std::size_t i = rank; i < basis.size(); i += PreRejection::kRank, quad += pitch) {
      VI32 value[kProjectedVectors];
      for (int v = 0; v < kProjectedVectors; ++v)
        value[v] = hn::BitCast(d, hn::LoadU(d8, quad + static_cast<std::ptrdiff_t>(v) * lanes * 4));
      for (int r = 0; r < kRanksAtOnce; ++r) {
        const VI32 coefficients = hn::Set(d, basis[i + r]);
        for (int v = 0; v < kProjectedVectors; ++v) sum[r][v] = dot4(value[v], coefficients, sum[r][v]);
      }
    }
    for (int r = 0; r < kRanksAtOnce; r += 2, components += components_pitch) {
      for (int v = 0; v < kProjectedVectors; ++v) {
        const VI32 low = hn::And(hn::ShiftRight<PreRejection::kShift>(sum[r][v]), hn::Set(d, 0xFFFF));
        const VI32 high = hn::ShiftLeft<16>(hn::ShiftRight<PreRejection::kShift>(sum[r + 1][v]));
        hn::StoreU(hn::Or(low, high), d, components + v * lanes);
      }
    }
  }
}

void project_row(const std::uint8_t* features, const Grid& grid, const PreRejection& pre_rejection,
                 std::int32_t* components) {
  for (int x = 0; x < grid.columns(); x += kProjectedBlocks) {
    project(features + static_cast<std::ptrdiff_t>(x) * 4, static_cast<std::ptrdiff_t>(grid.pitch()) * 4,
            pre_rejection, grid.pitch(), components + x);
  }
}

constexpr int kMaxQuads = kMaxFilters + kUniformLbpBins / 4 + 1;
constexpr int kSlack = 2 * kLanePad;  // quads that are written past a block's last
using BlockQuads = std::uint32_t[kLanePad][kMaxQuads + kSlack];
using QuadBlocks = std::uint32_t[kMaxQuads + kSlack][kLanePad];

// Four vectors of features, the nearest integers to `value * factor`, 0 to 255, as bytes in order.
HWY_INLINE void store_features(const float* values, hn::VFromD<F32> factor, std::uint8_t* bytes) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto product = [&](std::size_t i)
                           HWY_ATTR { return hn::Mul(hn::LoadU(d, values + i * lanes), factor); };
  // On x86, the plain conversion without Highway's treatment of values out of range; and packing within parts
  // of 128 bits, then put in order.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const auto feature = [&](std::size_t i) HWY_ATTR { return _mm512_cvtps_epi32(product(i).raw); };
  const __m512i words = _mm512_packus_epi16(_mm512_packs_epi32(feature(0), feature(1)),
                                            _mm512_packs_epi32(feature(2), feature(3)));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_storeu_si512(bytes, _mm512_permutexvar_epi32(order, words));
#elif HWY_TARGET == HWY_AVX2
  const auto feature = [&](std::size_t i) HWY_ATTR { return _mm256_cvtps_epi32(product(i).raw); };
  const __m256i words = _mm256_packus_epi16(_mm256_packs_epi32(feature(0), feature(1)),
                                            _mm256_packs_epi32(feature(2), feature(3)));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes), _mm256_permutevar8x32_epi32(words, order));
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
  const auto feature = [&](std::size_t i) HWY_ATTR { return _mm_cvtps_epi32(product(i).raw); };
  const __m128i words =
      _mm_packus_epi16(_mm_packs_epi32(feature(0), feature(1)), _mm_packs_epi32(feature(2), feature(3)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), words);
#else
  const hn::Rebind<std::uint8_t, F32> d8;
  for (std::size_t i = 0; i < 4; ++i)
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(product(i))), d8, bytes + i * lanes);
#endif
}

// [block][quad] to [quad][block].
HWY_INLINE void transpose(const BlockQuads& blocks, int quads, QuadBlocks& out) {
  const hn::FixedTag<std::uint32_t, 4> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  for (int quad = 0; quad < quads; quad += 4) {
    for (int x = 0; x < kLanePad; x += 4) {
      const auto a = hn::LoadU(d, blocks[x] + quad);
      const auto b = hn::LoadU(d, blocks[x + 1] + quad);
      const auto c = hn::LoadU(d, blocks[x + 2] + quad);
      const auto e = hn::LoadU(d, blocks[x + 3] + quad);
      const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, a, b));
      const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, a, b));
      const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, c, e));
      const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, c, e));
      hn::Store(hn::BitCast(d, hn::InterleaveLower(dw, low01, low23)), d, out[quad] + x);
      hn::Store(hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23)), d, out[quad + 1] + x);
      hn::Store(hn::BitCast(d, hn::InterleaveLower(dw, high01, high23)), d, out[quad + 2] + x);
      hn::Store(hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23)), d, out[quad + 3] + x);
    }
  }
}

// kLanePad blocks after the other: all features of each side by side, as its cells have them, then
// transposed, projected where there is a pre-rejection, and written.
template <bool kProject>
HWY_INLINE void normalise(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                          const PreRejection* pre_rejection, std::uint8_t* features,
                          std::int32_t* components) {
  const F32 df;
  const I32 di;
  const hn::Repartition<std::uint8_t, I32> d8;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const std::ptrdiff_t pitch = grid.pitch();
  const int half = 2 * grid.bins;  // filter features of two neighbouring cells
  alignas(64) float factors[kLanePad];
  alignas(64) BlockQuads blocks;
  alignas(64) QuadBlocks quads;
  // Projected features are seldom read again.
  const bool past_cache = kProject && reinterpret_cast<std::uintptr_t>(features) % 64 == 0;
  for (int x0 = 0; x0 < grid.columns(); x0 += kLanePad) {
    for (int i = 0; i < kLanePad; i += lanes) {
      // The last vector of a row reads one cell past it: its content does not matter.
      const std::int32_t* const t = upper.totals + x0 + i;
      const std::int32_t* const u = lower.totals + x0 + i;
      const auto sum = hn::Add(hn::Add(hn::Add(hn::LoadU(di, t), hn::LoadU(di, t + 1)),
                                       hn::Add(hn::LoadU(di, u), hn::LoadU(di, u + 1))),
                               hn::Set(di, epsilon));
      const auto quotient = hn::Div(hn::Set(df, 255.0F), hn::Sqrt(hn::ConvertTo(df, sum)));
      const auto used = hn::RebindMask(df, hn::Gt(sum, hn::Zero(di)));
      hn::Store(hn::IfThenElseZero(used, quotient), df, factors + i);
    }
    for (int i = 0; i < kLanePad; ++i) {
      const int x = x0 + i;
      auto* const block = reinterpret_cast<std::uint8_t*>(blocks[i]);
      if (x >= grid.blocks_x()) {
        std::fill_n(block, grid.quads() * 4, std::uint8_t{0});
        continue;
      }
      const auto factor = hn::Set(df, factors[i]);
      for (int f = 0; f < half; f += 4 * lanes)
        store_features(upper.roots + x * grid.bins + f, factor, block + f);
      for (int f = 0; f < half; f += 4 * lanes)
        store_features(lower.roots + x * grid.bins + f, factor, block + half + f);
      for (int f = 0; f < grid.patterns; f += 4 * lanes)
        hn::StoreU(hn::LoadU(d8, upper.patterns + x * grid.patterns + f), d8, block + 2 * half + f);
    }
    transpose(blocks, grid.quads(), quads);
    std::uint8_t* out = features + static_cast<std::ptrdiff_t>(x0) * 4;
    for (int quad = 0; quad < grid.quads(); ++quad, out += pitch * 4) {
      for (int i = 0; i < kLanePad; i += lanes) {
        const auto bytes = hn::BitCast(d8, hn::Load(hn::RebindToUnsigned<I32>(), quads[quad] + i));
        if (past_cache) {
          hn::Stream(bytes, d8, out + 4 * i);
        } else {
          hn::StoreU(bytes, d8, out + 4 * i);
        }
      }
    }
    if constexpr (kProject) {
      for (int i = 0; i < kLanePad; i += kProjectedBlocks) {
        project(reinterpret_cast<const std::uint8_t*>(quads[0] + i), 4 * kLanePad, *pre_rejection, pitch,
                components + x0 + i);
      }
    }
  }
  if (past_cache) hwy::FlushStream();
}

void normalise_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                   std::uint8_t* features) {
  normalise<false>(upper, lower, grid, epsilon, nullptr, features, nullptr);
}

void normalise_and_project_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                               const PreRejection& pre_rejection, std::uint8_t* features,
                               std::int32_t* components) {
  normalise<true>(upper, lower, grid, epsilon, &pre_rejection, features, components);
}

// Dot products of the convolution below. Quads: four 8-bit features and weights; Pairs: two 16-bit components
// and weights.
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

void normalise_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                   std::uint8_t* features) {
  HWY_DYNAMIC_DISPATCH(normalise_row)(upper, lower, grid, epsilon, features);
}

void normalise_and_project_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                               const PreRejection& pre_rejection, std::uint8_t* features,
                               std::int32_t* components) {
  HWY_DYNAMIC_DISPATCH(normalise_and_project_row)
  (upper, lower, grid, epsilon, pre_rejection, features, components);
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
            "weights must be between -" + std::to_string(kMaxWeight) + " and " + std::to_string(kMaxWeight));
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
