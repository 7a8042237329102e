// Readies a slot for a frame size: geometry, work lists and buffers of all levels.
#include <algorithm>

#include "cascade/opencl/stages.hpp"

namespace sightline::cascade {

using opencl::checked;
using opencl::upload;

void OpenClStages::plan_geometry(OpenClSlot& slot, const CascadeWorkspace& w) const {
  checked(w.layout.plane * w.layout.planes);
  checked(w.layout.image_bytes);
  std::vector<cl_int> tables;
  const auto add_table = [&](const SampleAxis& axis) {
    const auto at = static_cast<cl_int>(tables.size() / 2);
    for (std::size_t k = 0; k < axis.first.size(); ++k)
      tables.insert(tables.end(), {axis.first[k], static_cast<cl_int>(axis.weight[k])});
    return at;
  };
  std::int64_t words = 0;
  slot.levels.clear();
  slot.windows.clear();
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const Level& level = w.layout.levels[l];
    DeviceLevel d{};
    d.width = level.size.width;
    d.height = level.size.height;
    d.image_offset = checked(level.image);
    d.image_stride = level.image_stride;
    d.origin = checked(level.origin);
    d.step = level.step;
    d.columns_offset = add_table(w.levels[l].samples.columns);
    d.rows_offset = add_table(w.levels[l].samples.rows);
    d.windows_x = level.windows.width;
    d.windows_y = level.windows.height;
    d.bits_offset = checked(words);
    d.bits_stride = (level.windows.width + kTileX - 1) / kTileX;
    words += static_cast<std::int64_t>(d.bits_stride) * level.windows.height;
    slot.levels.push_back(d);
    slot.windows.push_back({d.windows_x, d.windows_y, d.step});
  }
  slot.bits_bytes = checked(words) * static_cast<std::int64_t>(sizeof(cl_uint));
  upload(slot.queue, slot.tables, tables);
  const DeviceCascade cascade = pack_cascade(detector_->model(), tuning_.tiled ? layout_of_tile() : w.layout);
  upload(slot.queue, slot.nodes, cascade.nodes);
  upload(slot.queue, slot.corners, cascade.corners);
  const DeviceCascade whole = tuning_.tiled ? pack_cascade(detector_->model(), w.layout) : DeviceCascade{};
  upload(slot.queue, slot.frame_nodes, tuning_.tiled ? whole.nodes : cascade.nodes);
  upload(slot.queue, slot.frame_corners, tuning_.tiled ? whole.corners : cascade.corners);
}

// Which work-group works where, for the workspace's partition of the frame.
void OpenClStages::plan_work(OpenClSlot& slot, const CascadeWorkspace& w) const {
  std::vector<opencl::Tile> resize, rows, columns, anti, diagonal, scan;
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const LevelWork& work = w.levels[l];
    DeviceLevel& level = slot.levels[l];
    level.first_row = work.image.begin;
    level.last_row = work.image.end;
    if (work.windows.empty()) continue;
    const int height = work.image.end - work.image.begin;
    const opencl::Steps image_rows{work.image.begin, work.image.end, 1};
    const opencl::Steps whole{0, 1, 1};
    add_tiles(resize, l, {work.image.begin, work.image.end, kResizeRows}, {0, level.width, 4 * kResizeGroup});
    add_tiles(rows, l, image_rows);
    add_tiles(columns, l, whole, {0, level.width + 1, kColumnGroup});
    add_tiles(anti, l, whole, {0, level.width + height - 1, kColumnGroup});
    add_tiles(diagonal, l, whole, {0, level.width + height + 1, kColumnGroup});
    add_tiles(scan, l, {work.windows.begin, work.windows.end, tuning_.tile_rows},
              {0, level.windows_x, kTileX});
  }
  upload(slot.queue, slot.level_buffer, slot.levels);
  slot.resize_tiles.assign(slot.queue, resize);
  slot.row_tiles.assign(slot.queue, rows);
  slot.column_tiles.assign(slot.queue, columns);
  slot.anti_tiles.assign(slot.queue, anti);
  slot.diagonal_tiles.assign(slot.queue, diagonal);
  slot.scan_tiles.assign(slot.queue, scan);
}

void OpenClStages::make_scratch(OpenClSlot& slot, const CascadeWorkspace& workspace,
                                std::size_t stage) const {
  if (stage == kIntegral && tilted_)
    slot.fit(slot.anti, workspace.layout.plane * static_cast<std::int64_t>(sizeof(cl_uint)));
  if (stage == kScan) slot.fit(slot.bits, slot.bits_bytes);
}

}  // namespace sightline::cascade
