// Histogram stage: sixteen neighbouring cells at a time, so that the bins being added to (100 lines of a
// cache) stay in the first-level cache. Only the square roots are worth SIMD.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/histogram_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "filterbank/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::filterbank::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kCellsAtOnce = kLanePad;

// Two rows of a cell into two tables: neighbouring votes are often for the same bin, whose next addition
// would wait for the one before.
HWY_INLINE void add_votes(const std::uint32_t* upper, const std::uint32_t* lower, int count,
                          std::int32_t* sums, std::int32_t* lower_sums) {
  for (int i = 0; i < count; ++i) {
    sums[vote_index(upper[i]) * kCellsAtOnce] += static_cast<std::int32_t>(vote_response(upper[i]));
    lower_sums[vote_index(lower[i]) * kCellsAtOnce] += static_cast<std::int32_t>(vote_response(lower[i]));
  }
}

void histogram_row(ImageView<const std::uint32_t> votes, const CellEdges& edges, const Grid& grid, int cell_y,
                   float* roots, std::int32_t* totals) {
  const hn::CappedTag<float, kCellsAtOnce> df;
  const hn::RebindToSigned<decltype(df)> di;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const int pitch = grid.pitch();
  const int top = edges.rows[cell_y];
  const int bottom = edges.rows[cell_y + 1];
  alignas(64) std::int32_t sums[kMaxFilters * kCellsAtOnce];
  alignas(64) std::int32_t lower_sums[kMaxFilters * kCellsAtOnce];
  static constexpr std::uint32_t kNoVotes[2 * kCell] = {};
  alignas(64) float pixels[kCellsAtOnce];
  std::fill_n(pixels, kCellsAtOnce, 1.0F);

  for (int x0 = 0; x0 < grid.cells_x; x0 += kCellsAtOnce) {
    const int cells = std::min(grid.cells_x - x0, kCellsAtOnce);
    const std::int32_t* const columns = edges.columns.data() + x0;
    for (int cell = 0; cell < cells; ++cell)
      pixels[cell] = static_cast<float>((columns[cell + 1] - columns[cell]) * (bottom - top));
    std::memset(sums, 0, sizeof(std::int32_t) * grid.bins * kCellsAtOnce);
    std::memset(lower_sums, 0, sizeof(std::int32_t) * grid.bins * kCellsAtOnce);
    for (int y = top; y < bottom; y += 2) {
      const std::uint32_t* upper = votes.row(y);
      const std::uint32_t* lower = y + 1 < bottom ? votes.row(y + 1) : kNoVotes;
      for (int cell = 0; cell < cells; ++cell) {
        const std::int32_t begin = columns[cell];
        const int width = columns[cell + 1] - begin;
        const std::uint32_t* below = lower == kNoVotes ? kNoVotes : lower + begin;
        if (width == kCell) {  // unrolled
          add_votes(upper + begin, below, kCell, sums + cell, lower_sums + cell);
        } else {
          add_votes(upper + begin, below, width, sums + cell, lower_sums + cell);
        }
      }
    }
    for (int lane = 0; lane < kCellsAtOnce; lane += lanes) {
      const auto scale = hn::Div(hn::Set(df, 64.0F), hn::Load(df, pixels + lane));
      auto total = hn::Zero(di);
      for (int bin = 0; bin < grid.bins; ++bin) {
        const auto sum = hn::Add(hn::Load(di, sums + bin * kCellsAtOnce + lane),
                                 hn::Load(di, lower_sums + bin * kCellsAtOnce + lane));
        total = hn::Add(total, sum);
        hn::Store(hn::Sqrt(hn::Mul(hn::ConvertTo(df, sum), scale)), df,
                  roots + static_cast<std::size_t>(bin) * pitch + x0 + lane);
      }
      hn::Store(hn::ConvertTo(di, hn::Ceil(hn::Mul(hn::ConvertTo(df, total), scale))), di,
                totals + x0 + lane);
    }
  }
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(histogram_row);

void histogram_row(ImageView<const std::uint32_t> votes, const CellEdges& edges, const Grid& grid, int cell_y,
                   float* roots, std::int32_t* totals) {
  HWY_DYNAMIC_DISPATCH(histogram_row)(votes, edges, grid, cell_y, roots, totals);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
