// Readies a slot for a frame size: geometry, work lists and buffers of all levels.
#include "detectors/waldboost/opencl/stages.hpp"
#include "opencl/data.hpp"

namespace sightline::waldboost {

using opencl::checked;
using opencl::upload;

void OpenClStages::plan_geometry(OpenClSlot& slot, const WaldboostWorkspace& w) const {
  std::vector<opencl::OctavePyramid::Level> images;
  std::int64_t lines = 0;
  slot.levels.clear();
  slot.windows.clear();
  for (const Level& level : w.levels) {
    const Size size = level.plan.size;
    DeviceLevel d{};
    d.width = size.width;
    d.height = size.height;
    d.image_stride = static_cast<cl_int>(PaddedImage::stride_for(size.width));
    d.image_offset = checked(level.image_offset + PaddedImage::first_pixel(size.width));
    d.windows_x = level.windows.width;
    d.planes_offset = checked(lines);
    d.planes_stride = (size.width + kLine - 1) / kLine * kLine;
    const std::int64_t elements = std::int64_t{d.planes_stride} * planes_ * size.height;
    checked(elements);  // kernels index with 32 bits in a level
    lines += elements / kLine;
    images.push_back({level.resizer.get(), level.plan.octave, size, d.image_offset, d.image_stride});
    slot.levels.push_back(d);
    slot.windows.push_back({level.windows.width, level.windows.height});
  }
  checked(lines);
  slot.plane_bytes = lines * kLine * static_cast<std::int64_t>(element_bytes());
  if (is_haar()) plan_integrals(slot);
  slot.pyramid.plan(slot.queue, w.octave_sizes(), images);
  slot.luma_bytes = static_cast<std::size_t>(slot.pyramid.octave_bytes());
}

// The levels' integral images in the place of planes.
void OpenClStages::plan_integrals(OpenClSlot& slot) const {
  std::vector<SheetLevel> places;
  for (const DeviceLevel& d : slot.levels) places.push_back({.size = {d.width, d.height}});
  const IntegralSheet sheet = plan_sheet(places, SheetContents());
  for (std::size_t l = 0; l < places.size(); ++l) {
    DeviceLevel& d = slot.levels[l];
    places[l].image = d.image_offset;
    places[l].image_stride = d.image_stride;
    d.planes_offset = checked(places[l].origin);
    d.planes_stride = checked(sheet.stride);
  }
  slot.plane_bytes = sheet.integral_bytes();
  slot.integral.plan(slot.queue, sheet, places);
}

// Which work-group works where, for the workspace's partition of the frame.
void OpenClStages::plan_work(OpenClSlot& slot, const WaldboostWorkspace& w) const {
  std::vector<opencl::ImageRows> rows;
  std::vector<opencl::Tile> codes, scan;
  const int tile_columns = is_progressive() ? step_columns() : kTileX;
  const int tile_rows = is_progressive() ? tuning_.group / tile_columns : tuning_.tile_rows;
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const Level& level = w.levels[l];
    const Rows image = level.image_rows, windows = level.window_rows;
    slot.levels[l].last_row = image.end;
    rows.push_back({image.begin, image.end});
    if (windows.empty()) continue;
    // A code is of three rows at least; a sum may be of one.
    const int end = makes_codes() ? image.end - kGrid + 1 : image.end;
    opencl::add_tiles(codes, l, {image.begin, end, kCodesGroupRows * tuning_.code_rows},
                      {0, level.plan.size.width, 4 * kCodesGroup});
    opencl::add_tiles(scan, l, {windows.begin, windows.end, tile_rows},
                      {0, level.windows.width, tile_columns});
  }
  upload(slot.queue, slot.level_buffer, slot.levels);
  slot.pyramid.plan_rows(slot.queue, rows);
  if (is_haar()) slot.integral.plan_rows(slot.queue, rows);
  slot.code_tiles.assign(slot.queue, codes);
  slot.scan_tiles.assign(slot.queue, scan);
}

void OpenClStages::make_scratch(OpenClSlot& slot, const WaldboostWorkspace& /*workspace*/,
                                std::size_t stage) const {
  if (stage != kScan) return;
  slot.fit(slot.planes, slot.plane_bytes);
  if (!is_progressive()) return;
  const auto fit = [&](opencl::Buffer& kept, std::size_t slots) {
    slot.fit(kept, static_cast<std::int64_t>(slots * sizeof(DeviceAccepted)));
    return step_groups(slots);
  };
  std::size_t groups = slot.scan_tiles.size();
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i) groups = fit(slot.kept[i % 2], groups * share(i));
}

}  // namespace sightline::waldboost
