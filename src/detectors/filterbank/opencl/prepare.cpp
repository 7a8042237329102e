// Readies a slot for a frame size: geometry, work lists and buffers of all pyramid levels.
#include <algorithm>

#include "detectors/filterbank/opencl/stages.hpp"

namespace sightline::filterbank {
namespace {

using opencl::checked;
using opencl::Tile;
using opencl::upload;

// Tiles of all levels; `rows` and `columns` say for each level where they begin and end.
std::vector<Tile> make_tiles(const FilterbankWorkspace& workspace, int step_y, const auto& rows, int step_x,
                             const auto& columns) {
  std::vector<Tile> tiles;
  for (std::size_t l = 0; l < workspace.levels.size(); ++l) {
    const Rows y = rows(workspace.levels[l]);
    const Rows x = columns(workspace.levels[l]);
    opencl::add_tiles(tiles, l, {y.begin, y.end, step_y}, {x.begin, x.end, step_x});
  }
  return tiles;
}

cl_int reserve(std::int64_t& next, std::int64_t count) {
  const std::int64_t at = next;
  next += (count + 63) / 64 * 64;
  checked(next);
  return checked(at);
}

}  // namespace

// Lays out all buffers. Inter-stage buffers have the workspace's layout.
void OpenClStages::plan_geometry(OpenClSlot& slot, const FilterbankWorkspace& workspace) const {
  slot.sizes = {};
  slot.sizes.totals = slot.sizes.features = kFirstElement;
  std::vector<opencl::OctavePyramid::Level> images;
  std::vector<cl_int> tables;
  const auto add_edges = [&](const std::vector<std::int32_t>& edges) {
    const auto at = static_cast<cl_int>(tables.size());
    tables.insert(tables.end(), edges.begin(), edges.end());
    return at;
  };
  slot.levels.clear();
  slot.windows.clear();
  slot.widest_pitch = 0;
  for (const Level& level : workspace.levels) {
    DeviceLevel d{};
    d.width = level.plan.size.width;
    d.height = level.plan.size.height;
    if (level.is_computed) {
      d.image_stride = static_cast<cl_int>(PaddedImage::stride_for(d.width));
      d.image_offset = checked(level.layout.images + PaddedImage::first_pixel(d.width));
    }
    images.push_back(
        {level.resizer.get(), level.plan.octave, level.plan.size, d.image_offset, d.image_stride});
    d.response_map_stride = response_map_stride(workspace.levels[level.source_level].plan.size.width);
    d.response_map_offset = checked(workspace.levels[level.source_level].layout.response_map);
    d.cell_columns_offset = add_edges(level.edges.columns);
    d.cell_rows_offset = add_edges(level.edges.rows);
    d.cells_x = level.grid.cells_x;
    d.cells_y = level.grid.cells_y;
    d.pitch = level.grid.pitch();
    d.roots_offset =
        reserve(slot.sizes.roots, static_cast<std::int64_t>(bins_ + patterns_) * d.pitch * d.cells_y);
    d.totals_offset = reserve(slot.sizes.totals, static_cast<std::int64_t>(d.pitch) * d.cells_y);
    d.features_offset = exact_ ? checked(level.layout.features)
                               : reserve(slot.sizes.features, static_cast<std::int64_t>(kBlockCells) * bins_ *
                                                                  d.pitch * (d.cells_y - 1));
    d.first_cell = level.first_cell;
    d.windows_x = level.windows_x;
    d.windows_y = level.windows_y;
    d.scores_offset = reserve(slot.sizes.scores, static_cast<std::int64_t>(d.pitch) * d.windows_y);
    slot.widest_pitch = std::max(slot.widest_pitch, d.pitch);
    slot.levels.push_back(d);
    slot.windows.push_back({d.windows_x, d.windows_y});
  }
  upload(slot.queue, slot.level_buffer, slot.levels);
  slot.pyramid.plan(slot.queue, workspace.octave_sizes(), images);
  slot.luma_bytes = static_cast<std::size_t>(slot.pyramid.octave_bytes());
  upload(slot.queue, slot.tables, tables);
}

// Assigns work-groups and rows to areas of the workspace's partition.
void OpenClStages::plan_work(OpenClSlot& slot, const FilterbankWorkspace& w) const {
  const KernelTuning& t = tuning_;
  const auto rows = [&](auto member) { return [member](const Level& level) { return level.rows.*member; }; };
  const auto windows = [](const Level& level) { return level.windows; };
  const auto assign = [&](opencl::WorkList& list, int step_y, const auto& of_rows, int step_x,
                          const auto& of_columns) {
    list.assign(slot.queue, make_tiles(w, step_y, of_rows, step_x, of_columns));
  };
  std::vector<opencl::ImageRows> image_rows;
  for (const Level& level : w.levels) image_rows.push_back({level.rows.image.begin, level.rows.image.end});
  slot.pyramid.plan_rows(slot.queue, image_rows);
  assign(slot.filter_tiles, t.filter_rows * t.filter_group_rows, rows(&LevelRows::response_map),
         t.filter_width * t.filter_group, [](const Level& level) {
           return Rows{0, level.plan.size.width};
         });
  assign(slot.histogram_tiles, 1, rows(&LevelRows::cells), t.histogram_cells, [](const Level& level) {
    return Rows{0, level.grid.pitch()};
  });
  assign(slot.classify_tiles, t.classify_rows, windows, t.classify_width * t.classify_group,
         [](const Level& level) {
           return Rows{0, level.windows_x};
         });
  const auto one = [](const Level&) { return Rows{0, 1}; };
  assign(slot.cell_rows, 1, rows(&LevelRows::cells), 1, one);
  assign(slot.block_rows, 1, rows(&LevelRows::blocks), 1, one);
  assign(slot.window_rows, 1, windows, 1, one);
}

std::size_t OpenClStages::bytes_of(const OpenClSlot& slot, FilterbankWorkspace& workspace,
                                   std::size_t resource) const {
  if (!exact_ && resource == kFeatures) return static_cast<std::size_t>(slot.sizes.features * 4);
  return OpenClStagesOf::bytes_of(slot, workspace, resource);
}

void OpenClStages::make_scratch(OpenClSlot& slot, const FilterbankWorkspace& workspace,
                                std::size_t stage) const {
  // Slack at the ends: vectors read past the last element of a level, never write past it.
  const auto make = [&](opencl::Buffer& buffer, std::int64_t bytes) {
    slot.fit(buffer, bytes + static_cast<std::int64_t>(InterStageBuffer::kSlack));
  };
  const auto& sizes = slot.sizes;
  if (!exact_ && (stage == kFilter || stage == kHistogram))
    make(slot.indices, static_cast<std::int64_t>(workspace.response_map.bytes() / 4));
  if (stage == kHistogram) {
    make(slot.roots, sizes.roots * 4);
    make(slot.totals, sizes.totals * 4);
  }
  if (stage == kVerify) make_verify_scratch(slot);
  if (stage != kClassify) return;
  make(slot.scores, sizes.scores * (exact_ ? 4 : 8));
  if (!exact_) return;
  if (detector_->pre_rejects()) {
    make(slot.components, sizes.totals * 4 * PreRejection::kRank);
    make(slot.estimates, sizes.scores * 4);
  }
  if (detector_->model().classifier == ClassifierKind::distance) {
    make(slot.products, sizes.scores * 4);
    make(slot.energies, sizes.totals * 4);
  }
}

}  // namespace sightline::filterbank
