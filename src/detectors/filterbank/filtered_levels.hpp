#pragma once
/// Selection of the pyramid levels that are filtered, and approximation of the others' histograms.
///
/// Neighbouring levels show nearly the same structure, and the filters' responses change slowly with scale
/// (Dollar et al., "Fast Feature Pyramids for Object Detection", 2014). So only some levels, those at
/// *computed* scales, are resized and filtered; at an *approximated* scale between them, a level sums up the
/// responses of the nearest computed level by cells of its own size there: 8 pixels of the level are
/// `8 * scale / computed scale` pixels of the computed one. Cells' edges are rounded to whole pixels, every
/// response belongs to one cell, and sums are scaled by 64 / (pixels of the cell).
///
/// The nearest level on either side: responses of the next coarser one alone cost a fifth of a point of score
/// where people have detail, those of the next finer one add as much on backgrounds.

#include <cstdint>
#include <span>
#include <vector>

#include "detectors/filterbank/layout.hpp"
#include "image/pyramid.hpp"

namespace sightline::filterbank {

/// Cell (x, y) covers columns [columns[x], columns[x + 1]) and rows [rows[y], rows[y + 1]) of the responses.
struct CellEdges {
  std::vector<std::int32_t> columns;  ///< cells_x + 1 of them, ascending
  std::vector<std::int32_t> rows;     ///< cells_y + 1

  CellEdges() = default;
  /// Cells of 8x8 pixels, the first of which begins at pixel (`first`, `first`) of the responses.
  explicit CellEdges(const Grid& grid, int first = 0);
  /// Cells of 8x8 pixels of a level, in responses of a level of size `response_map` (pixels) at `ratio` times
  /// the resolution, 1/2 to 2: a cell has at most 16x16 responses, whose sum float holds exactly.
  /// @param first  start of the first cell, in pixels of the responses along both axes, >= 0
  CellEdges(const Grid& grid, Size response_map, double ratio, double first = 0);
};

/// For each level, the index of the computed level whose responses it uses: its own if it is computed. An
/// octave has `per_octave` computed scales, each at the level nearest to its ideal scale; the first level is
/// always computed. 0: all levels are computed.
/// @param step  ratio of neighbouring levels' scales, above 1
std::vector<int> filtered_levels(std::span<const PyramidLevel> levels, double step, int per_octave);

}  // namespace sightline::filterbank
