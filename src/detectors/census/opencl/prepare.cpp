// Readies a slot for a frame size: geometry, work lists and buffers of all levels.
#include "detectors/census/opencl/stages.hpp"
#include "opencl/data.hpp"

namespace sightline::census {

using opencl::checked;
using opencl::upload;

void OpenClStages::plan_geometry(OpenClSlot& slot, const CensusWorkspace& w) const {
  std::vector<opencl::OctavePyramid::Level> images;
  std::int64_t lines = 0;
  slot.levels.clear();
  slot.windows.clear();
  for (const PixelLevel& level : w.levels) {
    const Size size = level.plan.size;
    DeviceLevel d{};
    d.width = size.width;
    d.height = size.height;
    d.image_stride = static_cast<cl_int>(PaddedImage::stride_for(size.width));
    d.image_offset = checked(level.image_offset + PaddedImage::first_pixel(size.width));
    d.windows_x = level.windows.width;
    d.codes_offset = checked(lines);
    d.codes_stride = (size.width + kLine - 1) / kLine * kLine * detector_->packed().most_cell();
    const std::int64_t codes = std::int64_t{d.codes_stride} * size.height;
    checked(codes);  // kernels index with 32 bits in a level
    lines += codes / kLine;
    images.push_back({level.resizer.get(), level.plan.octave, size, d.image_offset, d.image_stride});
    slot.levels.push_back(d);
  }
  for (std::size_t view = 0; view < detector_->model().views.size(); ++view) {
    for (const PixelLevel& level : w.levels)
      slot.windows.push_back({level.windows.width, level.windows.height});
  }
  checked(lines);
  slot.code_bytes = lines * kLine * static_cast<std::int64_t>(sizeof(cl_ushort));
  slot.pyramid.plan(slot.queue, w.octave_sizes(), images);
  slot.luma_bytes = static_cast<std::size_t>(slot.pyramid.octave_bytes());
  upload(slot.queue, slot.level_buffer, slot.levels);
}

// Which work-group works where, for the workspace's partition of the frame.
void OpenClStages::plan_work(OpenClSlot& slot, const CensusWorkspace& w) const {
  std::vector<opencl::ImageRows> rows;
  std::vector<opencl::Tile> codes, scan;
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const PixelLevel& level = w.levels[l];
    const Rows image = level.image_rows, windows = level.window_rows;
    rows.push_back({image.begin, image.end});
    if (windows.empty()) continue;
    opencl::add_tiles(codes, l,
                      {image.begin, image.end - kCensusSide + 1, kCodesGroupRows * tuning_.code_rows},
                      {0, level.plan.size.width, 4 * kCodesGroup});
    opencl::add_tiles(scan, l, {windows.begin, windows.end, tuning_.tile_rows},
                      {0, level.windows.width, kTileX});
  }
  slot.pyramid.plan_rows(slot.queue, rows);
  slot.code_tiles.assign(slot.queue, codes);
  slot.scan_tiles.assign(slot.queue, scan);
}

void OpenClStages::make_scratch(OpenClSlot& slot, const CensusWorkspace& /*workspace*/,
                                std::size_t stage) const {
  if (stage == kScan) slot.fit(slot.codes, slot.code_bytes);
}

}  // namespace sightline::census
