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

void add_votes(const std::uint32_t* votes, int count, std::int32_t* sums) {
  for (int i = 0; i < count; ++i)
    sums[vote_index(votes[i]) * kCellsAtOnce] += static_cast<std::int32_t>(vote_response(votes[i]));
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
  alignas(64) float pixels[kCellsAtOnce];
  std::fill_n(pixels, kCellsAtOnce, 1.0F);

  for (int x0 = 0; x0 < grid.cells_x; x0 += kCellsAtOnce) {
    const int cells = std::min(grid.cells_x - x0, kCellsAtOnce);
    const std::int32_t* const columns = edges.columns.data() + x0;
    for (int cell = 0; cell < cells; ++cell)
      pixels[cell] = static_cast<float>((columns[cell + 1] - columns[cell]) * (bottom - top));
    std::memset(sums, 0, sizeof(std::int32_t) * grid.bins * kCellsAtOnce);
    for (int y = top; y < bottom; ++y) {
      const std::uint32_t* row = votes.row(y);
      for (int cell = 0; cell < cells; ++cell) {
        const int width = columns[cell + 1] - columns[cell];
        if (width == kCell) {  // unrolled
          add_votes(row + columns[cell], kCell, sums + cell);
        } else {
          add_votes(row + columns[cell], width, sums + cell);
        }
      }
    }
    for (int lane = 0; lane < kCellsAtOnce; lane += lanes) {
      const auto scale = hn::Div(hn::Set(df, 64.0F), hn::Load(df, pixels + lane));
      auto total = hn::Zero(di);
      for (int bin = 0; bin < grid.bins; ++bin) {
        const auto sum = hn::Load(di, sums + bin * kCellsAtOnce + lane);
        total = hn::Add(total, sum);
        hn::Store(hn::Sqrt(hn::Mul(hn::ConvertTo(df, sum), scale)), df,
                  roots + static_cast<std::size_t>(bin) * pitch + x0 + lane);
      }
      hn::Store(hn::NearestInt(hn::Mul(hn::ConvertTo(df, total), scale)), di, totals + x0 + lane);
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
