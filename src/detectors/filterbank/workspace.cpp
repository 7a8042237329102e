#include "detectors/filterbank/workspace.hpp"

namespace sightline::filterbank {

void CellScratch::resize(const Grid& grid) {
  for (Row& row : rows_) {
    row.roots.resize(grid.roots_row());
    row.patterns.resize(grid.patterns_row());
    row.totals.resize(grid.totals_row());
  }
}

CellRow CellScratch::row(int y) {
  Row& row = rows_[y % 2];
  return {row.roots.data(), row.patterns.data(), row.totals.data()};
}

void FilterbankWorkspace::bind_images() {
  auto* const memory = reinterpret_cast<std::uint8_t*>(images.data());
  for (Level& level : levels) {
    if (level.is_computed) level.image.bind(memory + level.layout.images, level.plan.size);
  }
}

void FilterbankWorkspace::bind_response_maps() {
  auto* const memory = reinterpret_cast<std::uint32_t*>(response_map.data());
  for (Level& level : levels) {
    if (!level.is_computed) continue;
    level.response_map.bind(memory + level.layout.response_map, level.plan.size,
                            response_map_stride(level.plan.size.width));
  }
}

void FilterbankWorkspace::bind_features() {
  auto* const memory = reinterpret_cast<std::uint8_t*>(features.data());
  for (Level& level : levels) {
    level.features.bind(memory + 4 * level.layout.features,
                        level.grid.features_row() * level.grid.blocks_y());
  }
}

}  // namespace sightline::filterbank
