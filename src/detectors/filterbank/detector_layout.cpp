// Geometry, memory and partitions of the filter-bank detector's frames.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "detectors/filterbank/detector.hpp"

namespace sightline::filterbank {
namespace {

// Rows a band: enough work to be worth a task, few enough to spread over the threads.
constexpr int kImageRows = 32;
constexpr int kCellRows = 4;
constexpr int kBlockRows = 12;  // a band computes one row of cells more than it has rows of blocks
constexpr int kWindowRows = 16;

void include(Rows& rows, Rows more) {
  if (more.empty()) return;
  rows = rows.empty() ? more : Rows{std::min(rows.begin, more.begin), std::max(rows.end, more.end)};
}

// Plans the rows that each stage has to compute on each level for the partition's windows.
void plan_rows(std::vector<Level>& levels, const WindowShape& window, int patch) {
  for (Level& level : levels) level.rows = {};
  for (Level& level : levels) {
    if (level.windows.empty()) continue;
    LevelRows& rows = level.rows;
    rows.blocks = {level.windows.begin, level.windows.end + window.blocks_y() - 1};
    rows.cells = {rows.blocks.begin, rows.blocks.end + 1};
    Level& computed = levels[level.source_level];
    const bool to_the_end = rows.cells.end == level.grid.cells_y;
    include(computed.rows.response_map,
            {level.edges.rows[rows.cells.begin],
             to_the_end ? computed.plan.size.height : level.edges.rows[rows.cells.end]});
  }
  for (Level& level : levels) {
    const Rows response_map = level.rows.response_map;
    const int border = patch / 2;
    if (!response_map.empty()) {
      level.rows.image = {std::max(response_map.begin - border, 0),
                          std::min(response_map.end + border, level.plan.size.height)};
    }
  }
}

// The border of a computed level reaches as far as those of all levels whose cells sum up its responses.
void widen_borders(std::vector<PyramidLevel>& levels, std::span<const int> computed, int border) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    PyramidLevel& source = levels[computed[i]];
    const int reach = static_cast<int>(std::ceil(border * levels[i].scale / source.scale));
    const int more = std::max(reach - source.border, 0);
    source.border += more;
    source.size = {source.size.width + 2 * more, source.size.height + 2 * more};
  }
}

}  // namespace

// Geometry and memory of all levels, for frames of this size.
void FilterbankDetector::lay_out(FilterbankWorkspace& w) const {
  const Size frame = w.frame.size();
  std::vector<PyramidLevel> plan = plan_pyramid(frame, model_.window.pixels(), pyramid_);
  const std::vector<int> computed = filtered_levels(plan, pyramid_.step, options_.computed_scales);
  widen_borders(plan, computed, pyramid_.border);
  std::int64_t pixels = 0;  // about 11 bytes each, for responses and features
  for (const PyramidLevel& level : plan)
    pixels += static_cast<std::int64_t>(level.size.width) * level.size.height;
  check_pyramid_size(frame, pixels);
  const bool exact = options_.arithmetic == Arithmetic::exact;
  int octaves = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (verifies_ || computed[i] == static_cast<int>(i)) octaves = std::max(octaves, plan[i].octave);
  }
  w.plan_octaves(octaves);
  const std::vector<Size> octave_sizes = w.octave_sizes();
  w.levels.resize(plan.size());

  LevelLayout next;
  next.features = kFirstElement;
  const auto take = [](std::int64_t& end, std::int64_t count) {
    return std::exchange(end, end + (count + 63) / 64 * 64);
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    Level& level = w.levels[i];
    level.plan = plan[i];
    const Size size = plan[i].size;
    level.first_cell = plan[i].border - pyramid_.border;
    const Grid grid({size.width - 2 * level.first_cell, size.height - 2 * level.first_cell}, model_.bins(),
                    model_.descriptor.pattern_bins());
    level.grid = grid;
    level.source_level = computed[i];
    level.is_computed = computed[i] == static_cast<int>(i);
    level.layout = {};
    level.resizer = nullptr;
    if (level.is_computed || verifies_) {
      level.resizer = std::make_unique<Resizer>(level_resizer(plan[i], octave_sizes));
    }
    if (level.is_computed) {
      level.edges = CellEdges(grid, level.first_cell);
      level.layout.images = take(next.images, PaddedImage::bytes_for(size));
      level.layout.response_map =
          take(next.response_map, static_cast<std::int64_t>(response_map_stride(size.width)) * size.height);
    } else {
      const PyramidLevel& source = plan[computed[i]];
      const double ratio = plan[i].scale / source.scale;
      level.edges = CellEdges(grid, source.size, ratio, source.border - plan[i].border * ratio);
    }
    level.windows_x = grid.cells_x - model_.window.cells_x + 1;
    level.windows_y = grid.cells_y - model_.window.cells_y + 1;
    const auto pitch = static_cast<std::size_t>(grid.pitch());
    const auto scores = pitch * level.windows_y;
    if (exact) {
      level.layout.features =
          take(next.features, static_cast<std::int64_t>(grid.features_row() / 4) * grid.blocks_y());
      level.scores.resize(scores);
      if (pre_rejects_) level.components.resize(PreRejection::kPairs * pitch * grid.blocks_y());
      if (model_.classifier == ClassifierKind::distance)
        level.scratch.resize(scores + pitch * grid.blocks_y());
    }
    if (describes_in_float()) {
      const auto cells = static_cast<std::size_t>(grid.cells_x) * grid.cells_y;
      level.responses.resize(size.width, size.height);
      level.indices.resize(size.width, size.height);
      level.float_histograms.resize(cells * (model_.bins() + model_.descriptor.pattern_bins()));
      if (!exact)
        level.float_features.resize(cells * model_.descriptor.block_features(model_.dictionary.size()));
      if (!exact) level.float_scores.resize(scores);
    }
  }
  w.images.plan(next.images);
  w.response_map.plan(next.response_map * 4);
  w.features.plan(next.features * 4);
}

// The work of a frame is the pixels of its levels. A partition ends inside a level at a row of windows; only
// there do neighbouring partitions compute some rows both, those that windows of either side see.
void FilterbankDetector::plan_partition(FilterbankWorkspace& w, Partition partition) const {
  std::vector<LevelCost> costs;
  for (const Level& level : w.levels) {
    const Size size = level.plan.size;
    costs.push_back({static_cast<double>(size.width) * size.height, level.windows_y});
  }
  const std::vector<Rows> windows = partition_windows(costs, partition);
  for (std::size_t i = 0; i < w.levels.size(); ++i) w.levels[i].windows = windows[i];
  plan_rows(w.levels, model_.window, model_.descriptor.patch);
  for (auto* bands : {&w.image_bands, &w.filter_bands, &w.cell_bands, &w.block_bands, &w.window_bands})
    bands->clear();
  for (std::size_t i = 0; i < w.levels.size(); ++i) {
    const LevelRows& rows = w.levels[i].rows;
    const int index = static_cast<int>(i);
    add_bands(w.image_bands, index, rows.image, kImageRows);
    add_bands(w.filter_bands, index, rows.response_map, kImageRows);
    add_bands(w.cell_bands, index, rows.cells, kCellRows);
    add_bands(w.block_bands, index, rows.blocks, kBlockRows);
    add_bands(w.window_bands, index, w.levels[i].windows, kWindowRows);
  }
}

}  // namespace sightline::filterbank
