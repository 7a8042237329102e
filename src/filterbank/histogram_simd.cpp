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

void histogram_row(ImageView<const std::uint32_t> votes, const Grid& grid, int cell_y, float* roots,
                   std::int32_t* totals) {
  const hn::CappedTag<float, kCellsAtOnce> df;
  const hn::RebindToSigned<decltype(df)> di;
  const int lanes = static_cast<int>(hn::Lanes(df));
  const int pitch = grid.pitch();
  alignas(64) std::int32_t sums[kMaxFilters * kCellsAtOnce];

  for (int x0 = 0; x0 < pitch; x0 += kCellsAtOnce) {
    const int cells = std::clamp(grid.cells_x - x0, 0, kCellsAtOnce);
    std::memset(sums, 0, sizeof(std::int32_t) * grid.bins * kCellsAtOnce);
    for (int y = cell_y * kCell; cells > 0 && y < (cell_y + 1) * kCell; ++y) {
      const std::uint32_t* vote = votes.row(y) + x0 * kCell;
      for (int cell = 0; cell < cells; ++cell) {
        for (int i = 0; i < kCell; ++i, ++vote) {
          sums[vote_index(*vote) * kCellsAtOnce + cell] += static_cast<std::int32_t>(vote_response(*vote));
        }
      }
    }
    for (int lane = 0; lane < kCellsAtOnce; lane += lanes) {
      auto total = hn::Zero(di);
      for (int bin = 0; bin < grid.bins; ++bin) {
        const auto sum = hn::Load(di, sums + bin * kCellsAtOnce + lane);
        total = hn::Add(total, sum);
        hn::Store(hn::Sqrt(hn::ConvertTo(df, sum)), df,
                  roots + static_cast<std::size_t>(bin) * pitch + x0 + lane);
      }
      hn::Store(total, di, totals + x0 + lane);
    }
  }
}

}  // namespace sightline::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::filterbank {
HWY_EXPORT(histogram_row);

void histogram_row(ImageView<const std::uint32_t> votes, const Grid& grid, int cell_y, float* roots,
                   std::int32_t* totals) {
  HWY_DYNAMIC_DISPATCH(histogram_row)(votes, grid, cell_y, roots, totals);
}
}  // namespace sightline::filterbank
#endif  // HWY_ONCE
