// Histogram stage: one cell after the other, its bins side by side, so that the square roots of one are
// computed while the responses of the next are added up. Only the square roots are worth SIMD.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/histogram_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "filterbank/kernels.hpp"
#include "image/lbp.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, kLanePad>;
using I32 = hn::RebindToSigned<F32>;

constexpr int kCellsAtOnce = 4;  // the width of a transposed block of roots
constexpr int kTables = 2;
constexpr int kMaxBins = round_up(kMaxFilters + kUniformLbpBins, kLanePad);
using Tables = std::int32_t[kTables][kMaxBins];
using CellRoots = float[kCellsAtOnce][kMaxBins];

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

// The same of a response with a pattern, which is counted `patterns` bins on.
HWY_INLINE void add_response_and_pattern(const std::uint32_t* packed_response, int patterns,
                                         std::int32_t* sums) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(packed_response);
  std::uint16_t response;
  std::memcpy(&response, bytes + 1, sizeof response);
  sums[bytes[0]] += response;
  ++sums[patterns + bytes[3]];
}

// The responses of a cell, whose width is kWidth unless that is 0, into the tables in turn: neighbouring
// responses are often for the same bin, whose next addition would wait for the one before.
template <bool kPatterns, int kWidth>
HWY_INLINE void add_responses(const std::uint32_t* response_map, std::ptrdiff_t stride, int width, int height,
                              int patterns, Tables& tables) {
  if constexpr (kWidth > 0) width = kWidth;
  const auto add = [&](const std::uint32_t* packed_response, std::int32_t* sums) HWY_ATTR {
    if constexpr (kPatterns) {
      add_response_and_pattern(packed_response, patterns, sums);
    } else {
      add_response(packed_response, sums);
    }
  };
  for (int y = 0; y < height; ++y, response_map += stride) {
    int x = 0;
    for (; x + 1 < width; x += 2) {
      add(response_map + x, tables[0]);
      add(response_map + x + 1, tables[1]);
    }
    if (x < width) add(response_map + x, tables[y % 2]);
  }
}

// Unrolled for the widths that a few computed scales an octave lead to.
template <bool kPatterns>
HWY_INLINE void add_responses(const std::uint32_t* response_map, std::ptrdiff_t stride, int width, int height,
                              int patterns, Tables& tables) {
  switch (width) {
    case 7:
      return add_responses<kPatterns, 7>(response_map, stride, width, height, patterns, tables);
    case 8:
      return add_responses<kPatterns, 8>(response_map, stride, width, height, patterns, tables);
    case 9:
      return add_responses<kPatterns, 9>(response_map, stride, width, height, patterns, tables);
    default:
      return add_responses<kPatterns, 0>(response_map, stride, width, height, patterns, tables);
  }
}

// Square roots of the tables' sums times `scale`; returns the sum of all. Leaves the tables empty.
HWY_INLINE std::int32_t take_roots(Tables& tables, int bins, float scale, float* roots) {
  const F32 df;
  const I32 di;
  auto total = hn::Zero(di);
  for (int bin = 0; bin < bins; bin += static_cast<int>(hn::Lanes(df))) {
    const auto both = hn::Add(hn::Load(di, tables[0] + bin), hn::Load(di, tables[1] + bin));
    const auto sum = hn::And(both, hn::Set(di, 0xFFFFFF));
    for (std::int32_t* const table : tables) hn::Store(hn::Zero(di), di, table + bin);
    total = hn::Add(total, sum);
    hn::Store(hn::Sqrt(hn::Mul(hn::ConvertTo(df, sum), hn::Set(df, scale))), df, roots + bin);
  }
  return hn::GetLane(hn::SumOfLanes(di, total));
}

// [cell][bin] to [bin][cell].
HWY_INLINE void transpose(const CellRoots& cells, int bins, std::ptrdiff_t pitch, float* roots) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  for (int bin = 0; bin < bins; bin += 4, roots += 4 * pitch) {
    const auto a = hn::Load(d, cells[0] + bin);
    const auto b = hn::Load(d, cells[1] + bin);
    const auto c = hn::Load(d, cells[2] + bin);
    const auto e = hn::Load(d, cells[3] + bin);
    const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, a, b));
    const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, a, b));
    const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, c, e));
    const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, c, e));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, low01, low23)), d, roots);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23)), d, roots + pitch);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, high01, high23)), d, roots + 2 * pitch);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23)), d, roots + 3 * pitch);
  }
}

template <bool kPatterns>
void make_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
              int cell_y, float* roots, std::int32_t* totals) {
  const int bins = grid.cell_bins();
  const int top = edges.rows[cell_y];
  const int height = edges.rows[cell_y + 1] - top;
  alignas(64) Tables tables = {};
  alignas(64) CellRoots cell_roots;
  for (int x0 = 0; x0 < grid.columns(); x0 += kCellsAtOnce) {
    for (int i = 0; i < kCellsAtOnce; ++i) {
      const int x = x0 + i;
      totals[x] = 0;
      if (x >= grid.cells_x) {
        std::fill_n(cell_roots[i], bins, 0.0F);
        continue;
      }
      const int left = edges.columns[x];
      const int width = edges.columns[x + 1] - left;
      add_responses<kPatterns>(response_map.row(top) + left, response_map.stride(), width, height, grid.bins,
                               tables);
      const float scale = 64.0F / static_cast<float>(width * height);
      std::int32_t total = take_roots(tables, bins, scale, cell_roots[i]);
      if constexpr (kPatterns) total -= width * height;  // every pixel has a pattern
      totals[x] = static_cast<std::int32_t>(std::ceil(static_cast<float>(total) * scale));
    }
    transpose(cell_roots, bins, grid.roots_pitch(), roots + x0);
  }
}

void histogram_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
                   int cell_y, float* roots, std::int32_t* totals) {
  const auto make = grid.patterns > 0 ? &make_row<true> : &make_row<false>;
  make(response_map, edges, grid, cell_y, roots, totals);
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(histogram_row);

void histogram_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
                   int cell_y, float* roots, std::int32_t* totals) {
  HWY_DYNAMIC_DISPATCH(histogram_row)(response_map, edges, grid, cell_y, roots, totals);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
