// Histogram stage: one cell after the other, its bins side by side, so that the square roots of one are
// computed while the responses of the next are added up. SIMD pays only for the processing of the sums.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/filterbank/histogram_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "detectors/filterbank/kernels.hpp"
#include "detectors/filterbank/pattern_features.hpp"
#include "image/lbp.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, kLanePad>;
using I32 = hn::RebindToSigned<F32>;
using U8 = hn::CappedTag<std::uint8_t, 4 * kLanePad>;

constexpr int kTables = 4;
constexpr int kMaxBins = round_up(kMaxFilters, kLanePad);
constexpr int kMaxPatterns = 256;  // values of a byte; only kUniformLbpBins are used

// A cell's responses are added up in several tables in turn: neighbours are often for the same bin, whose
// next addition would wait for the one before.
struct Tables {
  alignas(64) std::int32_t sums[kTables][kMaxBins] = {};
  alignas(64) std::uint8_t counts[kTables][kMaxPatterns] = {};
};

// Adds a response to a sum of which only the lower 24 bits count: no sum is larger. So the response need not
// be taken apart from the byte behind the response.
HWY_INLINE void add_response(const std::uint32_t* packed_response, std::int32_t* sums) {
  static_assert(std::endian::native == std::endian::little);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(packed_response);
  std::uint32_t response;
  std::memcpy(&response, bytes + 1, sizeof response);
  std::int32_t& sum = sums[bytes[0]];
  sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + response);
}

// The same of a response with a pattern. One part is loaded by itself since loads and shifts are both scarce.
HWY_INLINE void add_response_and_pattern(const std::uint32_t* packed_response, std::int32_t* sums,
                                         std::uint8_t* counts) {
  std::uint16_t response;
  std::memcpy(&response, reinterpret_cast<const std::uint8_t*>(packed_response) + 1, sizeof response);
  sums[response_bin(*packed_response)] += response;
  ++counts[response_pattern(*packed_response)];
}

// The responses of a cell, whose width is kWidth unless that is 0.
template <bool kPatterns, int kWidth>
HWY_INLINE void add_responses(const std::uint32_t* response_map, std::ptrdiff_t stride, int width, int height,
                              Tables& tables) {
  if constexpr (kWidth > 0) width = kWidth;
  for (int y = 0; y < height; ++y, response_map += stride) {
#pragma GCC unroll 16
    for (int x = 0; x < width; ++x) {
      const int table = x % kTables;
      if constexpr (kPatterns) {
        add_response_and_pattern(response_map + x, tables.sums[table], tables.counts[table]);
      } else {
        add_response(response_map + x, tables.sums[table]);
      }
    }
  }
}

// Unrolled for the widths that a few computed scales an octave lead to.
template <bool kPatterns>
HWY_INLINE void add_responses(const std::uint32_t* response_map, std::ptrdiff_t stride, int width, int height,
                              Tables& tables) {
  switch (width) {
    case 7:
      return add_responses<kPatterns, 7>(response_map, stride, width, height, tables);
    case 8:
      return add_responses<kPatterns, 8>(response_map, stride, width, height, tables);
    case 9:
      return add_responses<kPatterns, 9>(response_map, stride, width, height, tables);
    default:
      return add_responses<kPatterns, 0>(response_map, stride, width, height, tables);
  }
}

// Square roots of the tables' sums times `scale`, whole vectors; returns the sum of all. Leaves the sums 0.
HWY_INLINE std::int32_t take_roots(Tables& tables, int bins, float scale, float* roots) {
  const F32 df;
  const I32 di;
  auto total = hn::Zero(di);
  for (int bin = 0; bin < bins; bin += static_cast<int>(hn::Lanes(df))) {
    auto sum = hn::Zero(di);
    for (auto& sums : tables.sums) {
      sum = hn::Add(sum, hn::Load(di, sums + bin));
      hn::Store(hn::Zero(di), di, sums + bin);
    }
    sum = hn::And(sum, hn::Set(di, 0xFFFFFF));
    total = hn::Add(total, sum);
    hn::StoreU(hn::Sqrt(hn::Mul(hn::ConvertTo(df, sum), hn::Set(df, scale))), df, roots + bin);
  }
  return hn::GetLane(hn::SumOfLanes(di, total));
}

// Features of the tables' counts, whole vectors. Leaves the counts 0. Each table has a quarter of the pixels
// of a cell, 64 at most. A sum of 256, one more than a byte can be, becomes 255, whose feature is the same:
// all of a cell's pixels, as near as a byte can tell.
HWY_INLINE void take_patterns(Tables& tables, int patterns, const PatternFeatures& features,
                              std::uint8_t* out) {
  const U8 d;
  for (int pattern = 0; pattern < patterns; pattern += static_cast<int>(hn::Lanes(d))) {
    auto count = hn::Zero(d);
    for (auto& counts : tables.counts) {
      count = hn::SaturatedAdd(count, hn::Load(d, counts + pattern));
      hn::Store(hn::Zero(d), d, counts + pattern);
    }
    // The features of sixteen counts at a time, as long as there are counts above.
    auto feature = hn::Zero(d);
    auto above = hn::SaturatedSub(count, hn::Set(d, 15));
    for (const std::uint8_t* sixteen = features.data();; sixteen += 16) {
      // Other counts have their highest bit set now, and find 0; so do, on some targets, indices above 15.
      const auto index = hn::And(hn::SaturatedAdd(count, hn::Set(d, 0x70)), hn::Set(d, 0x8F));
      feature = hn::Or(feature, hn::TableLookupBytesOr0(hn::LoadDup128(d, sixteen), index));
      if (hn::AllTrue(d, hn::Eq(above, hn::Zero(d)))) break;
      above = hn::SaturatedSub(above, hn::Set(d, 16));
      count = hn::Sub(count, hn::Set(d, 16));
    }
    hn::StoreU(feature, d, out + pattern);
  }
}

template <bool kPatterns>
void make_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
              int cell_y, const CellRow& cells) {
  const int top = edges.rows[cell_y];
  const int height = edges.rows[cell_y + 1] - top;
  Tables tables;
  for (int x = 0; x < grid.cells_x; ++x) {
    const int left = edges.columns[x];
    const int width = edges.columns[x + 1] - left;
    const int pixels = width * height;
    add_responses<kPatterns>(response_map.row(top) + left, response_map.stride(), width, height, tables);
    const float scale = 64.0F / static_cast<float>(pixels);
    const std::int32_t total = take_roots(tables, grid.bins, scale, cells.roots + x * grid.bins);
    cells.totals[x] = static_cast<std::int32_t>(std::ceil(static_cast<float>(total) * scale));
    if constexpr (kPatterns)
      take_patterns(tables, grid.patterns, pattern_features(pixels), cells.patterns + x * grid.patterns);
  }
  std::fill(cells.totals + grid.cells_x, cells.totals + grid.columns(), 0);
}

void histogram_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
                   int cell_y, const CellRow& cells) {
  const auto make = grid.patterns > 0 ? &make_row<true> : &make_row<false>;
  make(response_map, edges, grid, cell_y, cells);
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(histogram_row);

void histogram_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
                   int cell_y, const CellRow& cells) {
  HWY_DYNAMIC_DISPATCH(histogram_row)(response_map, edges, grid, cell_y, cells);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
