#include "detectors/filterbank/filtered_levels.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::filterbank {
namespace {

std::vector<std::int32_t> edges_of(int cells, int response_map, double ratio, double first) {
  std::vector<std::int32_t> edges(static_cast<std::size_t>(std::max(cells, 0)) + 1);
  for (int i = 0; i <= cells; ++i)
    edges[i] = std::min(static_cast<std::int32_t>(std::floor(first + i * kCell * ratio + 0.5)), response_map);
  return edges;
}

}  // namespace

CellEdges::CellEdges(const Grid& grid, int first)
    : columns(edges_of(grid.cells_x, first + grid.cells_x * kCell, 1, first)),
      rows(edges_of(grid.cells_y, first + grid.cells_y * kCell, 1, first)) {}

CellEdges::CellEdges(const Grid& grid, Size response_map, double ratio, double first)
    : columns(edges_of(grid.cells_x, response_map.width, ratio, first)),
      rows(edges_of(grid.cells_y, response_map.height, ratio, first)) {}

std::vector<int> filtered_levels(std::span<const PyramidLevel> levels, double step, int per_octave) {
  const int count = static_cast<int>(levels.size());
  const double apart = per_octave > 0 ? std::log(2.0) / (per_octave * std::log(step)) : 1;
  const int every = std::max(1, static_cast<int>(std::lround(apart)));
  std::vector<int> computed(levels.size());
  for (int i = 0; i < count; ++i) {
    const int finer = i / every * every;
    const bool nearer_to_coarser = 2 * (i - finer) > every;
    computed[i] = nearer_to_coarser && finer + every < count ? finer + every : finer;
    // Cells have at most 16x16 responses.
    if (levels[i].scale > 2 * levels[computed[i]].scale || 2 * levels[i].scale < levels[computed[i]].scale)
      computed[i] = i;
  }
  return computed;
}

}  // namespace sightline::filterbank
