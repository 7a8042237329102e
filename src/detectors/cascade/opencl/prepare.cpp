// Readies a slot for a frame size: geometry, work lists and buffers of all levels.
#include <algorithm>

#include "detectors/cascade/opencl/stages.hpp"

namespace sightline::cascade {

using opencl::checked;
using opencl::upload;

void OpenClStages::plan_geometry(OpenClSlot& slot, const CascadeWorkspace& w) const {
  const auto& levels = w.layout.levels;
  slot.integral.plan(slot.queue, w.layout, std::vector<SheetLevel>(levels.begin(), levels.end()));
  std::vector<opencl::ResampledPyramid::Level> images;
  std::int64_t words = 0;
  slot.levels.clear();
  slot.windows.clear();
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const Level& level = w.layout.levels[l];
    DeviceLevel d{};
    images.push_back({&w.levels[l].samples, level.size, level.image, level.image_stride});
    d.origin = checked(level.origin);
    d.step = level.step;
    d.windows_x = level.windows.width;
    d.windows_y = level.windows.height;
    d.bits_offset = checked(words);
    d.bits_stride = (level.windows.width + kTileX - 1) / kTileX;
    words += static_cast<std::int64_t>(d.bits_stride) * level.windows.height;
    slot.levels.push_back(d);
    slot.windows.push_back({d.windows_x, d.windows_y, d.step});
  }
  slot.bits_bytes = checked(words) * static_cast<std::int64_t>(sizeof(cl_uint));
  slot.pyramid.plan(slot.queue, images);
  const DeviceCascade cascade = pack_cascade(detector_->model(), tuning_.tiled ? layout_of_tile() : w.layout);
  upload(slot.queue, slot.nodes, cascade.nodes);
  upload(slot.queue, slot.corners, cascade.corners);
  const DeviceCascade whole = tuning_.tiled ? pack_cascade(detector_->model(), w.layout) : DeviceCascade{};
  upload(slot.queue, slot.frame_nodes, tuning_.tiled ? whole.nodes : cascade.nodes);
  upload(slot.queue, slot.frame_corners, tuning_.tiled ? whole.corners : cascade.corners);
}

// Assigns work-groups to areas of the workspace's partition.
void OpenClStages::plan_work(OpenClSlot& slot, const CascadeWorkspace& w) const {
  std::vector<opencl::ImageRows> rows;
  std::vector<opencl::Tile> scan;
  slot.reduced_groups = 0;
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const LevelWork& work = w.levels[l];
    slot.levels[l].last_row = work.image.end;
    rows.push_back({work.image.begin, work.image.end});
    const opencl::Steps tile_rows{work.windows.begin, work.windows.end, tuning_.tile_rows};
    if (tuning_.scan == "reduced") {
      const std::size_t before = scan.size();
      opencl::add_tiles(scan, l, tile_rows);
      slot.reduced_groups = std::max(slot.reduced_groups, scan.size() - before);
    } else {
      opencl::add_tiles(scan, l, tile_rows, {0, slot.levels[l].windows_x, kTileX});
    }
  }
  upload(slot.queue, slot.level_buffer, slot.levels);
  slot.pyramid.plan_rows(slot.queue, rows);
  slot.integral.plan_rows(slot.queue, rows);
  slot.scan_tiles.assign(slot.queue, scan);
}

void OpenClStages::make_scratch(OpenClSlot& slot, const CascadeWorkspace& /*workspace*/,
                                std::size_t stage) const {
  if (stage == kIntegral) slot.integral.make_scratch(context());
  if (stage == kScan) slot.fit(slot.bits, slot.bits_bytes);
}

}  // namespace sightline::cascade
