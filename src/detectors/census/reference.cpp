// The scan in plain scalar code: what all other forms are checked against.
#include <algorithm>

#include "detectors/census/scan.hpp"

namespace sightline::census::reference {

std::vector<std::int32_t> limits_of(const Model& model, std::span<const std::int32_t> lowest) {
  std::vector<std::int32_t> limits;
  for (const Stage& stage : model.stages) limits.push_back(stage.threshold);
  for (std::size_t view = 0; view < model.views.size(); ++view) {
    std::int32_t& last = limits[static_cast<std::size_t>(model.views[view].end) - 1];
    last = static_cast<std::int32_t>(
        std::clamp(std::int64_t{last} - lowest[view], std::int64_t{-1}, std::int64_t{kMaxThreshold}));
  }
  return limits;
}

void scan_tile(const Model& model, std::span<const std::int32_t> lowest, GrayView image,
               const WindowTile& tile, std::vector<Accepted>& accepted, std::span<std::int64_t> left) {
  const std::vector<std::int32_t> limits = limits_of(model, lowest);
  for (int view = 0; view < static_cast<int>(model.views.size()); ++view) {
    const int begin = model.first_stage(view), end = model.views[static_cast<std::size_t>(view)].end;
    for (int y = tile.y; y < tile.y + tile.rows; ++y) {
      for (int x = tile.x; x < tile.x + tile.columns; ++x) {
        const WindowResult result = run_stages(model, limits, view, [&](int dx, int dy, int cell) {
          return census_code(image, x + dx, y + dy, cell);
        });
        for (int s = 0; s < result.passed && !left.empty(); ++s) ++left[static_cast<std::size_t>(begin + s)];
        if (begin + result.passed == end)
          accepted.push_back(
              {view, x, y, model.stages[static_cast<std::size_t>(end) - 1].threshold - result.sum});
      }
    }
  }
}

}  // namespace sightline::census::reference
