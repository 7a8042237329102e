#include "detection/opencl/pixel_window_stages.hpp"

#include <algorithm>
#include <bit>

#include "opencl/data.hpp"
#include "processing/opencl/kernel_variant.hpp"

namespace sightline {
namespace {

using opencl::checked;
using opencl::define;
using opencl::groups;
using enum PixelWindowDetector::StageIndex;
using enum PixelWindowDetector::ResourceIndex;

constexpr int kCodesGroup = 32;  // work-items that make codes side by side, of four pixels each
constexpr int kCodesGroupRows = 4;
constexpr std::size_t kFirstRead = 1024;  // windows that are read back with their number, to begin with

opencl::Kernel kernel_of(const opencl::Program& program, const char* name) {
  return program.get() ? opencl::Kernel(program, name) : opencl::Kernel();
}

}  // namespace

PixelWindowSlot::PixelWindowSlot(const PixelWindowStages& stages)
    : OpenClSlotBase(stages),
      late(sizeof(DeviceAccepted), static_cast<std::size_t>(stages.tuning().first_capacity), kFirstRead),
      found(static_cast<std::size_t>(stages.tuning().first_capacity), kFirstRead),
      pyramid(stages.pyramid_),
      make_codes(kernel_of(stages.codes_, stages.codes_kernel_)),
      scan(kernel_of(stages.scan_, "scan")),
      finish(kernel_of(stages.finish_, "finish")) {
  has_list(found, kCandidates);
  if (stages.finish_.get()) has_list(late);
}

PixelWindowStages::PixelWindowStages(const PixelWindowDetector& detector, const opencl::Context& context,
                                     opencl::ProgramCache* cache)
    : OpenClStagesOf(detector, context, cache, {kPyramid, kScan}),
      view_count_(detector.views()),
      pyramid_(opencl::OctavePyramid::build(context, cache)) {
  buffer(kImages, &PixelWindowWorkspace::images);
  list(kCandidates);
}

void PixelWindowStages::settle(PixelWindowTuning& t, std::span<const char* const> scans) const {
  check_kernel_variant(t.scan, scans);
  const auto most =
      static_cast<int>(std::clamp<std::uint64_t>(context().device().largest_work_group, 1, 1024));
  t.group = std::clamp(t.group, 1, most);
  t.finish_group =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(t.finish_group, 1, most))));
  t.tile_rows = std::clamp(t.tile_rows, 1, kMostTileRows);
  t.code_rows = std::max(t.code_rows, 1);
  t.first_capacity = std::max(t.first_capacity, 1);
}

void PixelWindowStages::fit_tile(PixelWindowTuning& t, std::size_t window_bytes,
                                 std::size_t other_bytes) const {
  const auto bytes = [&] {
    return static_cast<std::size_t>(t.tile_rows) * kTileX * window_bytes + other_bytes;
  };
  while (bytes() > context().device().local_memory_bytes && t.tile_rows > 1) t.tile_rows /= 2;
}

std::string PixelWindowStages::codes_options() const {
  return define("ROWS", tuning().code_rows) + define("GROUP", kCodesGroup) +
         define("GROUP_ROWS", kCodesGroupRows);
}

std::string PixelWindowStages::scan_options() const {
  return define("TILE_X", kTileX) + define("TILE_Y", tuning().tile_rows) + define("GROUP", tuning().group) +
         opencl::define_variant("VARIANT", tuning().scan);
}

void PixelWindowStages::plan_geometry(PixelWindowSlot& slot, const PixelWindowWorkspace& w) const {
  const int line = layout_.line;
  std::vector<opencl::OctavePyramid::Level> images;
  std::int64_t lines = 0;
  slot.levels.clear();
  slot.windows.clear();
  for (const PixelLevel& level : w.levels) {
    const Size size = level.plan.size;
    DevicePixelLevel d{};
    d.width = size.width;
    d.height = size.height;
    d.image_stride = static_cast<cl_int>(PaddedImage::stride_for(size.width));
    d.image_offset = checked(level.image_offset + PaddedImage::first_pixel(size.width));
    d.windows_x = level.windows.width;
    d.planes_offset = checked(lines);
    d.planes_stride = (size.width + line - 1) / line * line * layout_.interleaved;
    const std::int64_t elements = std::int64_t{d.planes_stride} * layout_.stacked * size.height;
    checked(elements);  // kernels index with 32 bits in a level
    lines += elements / line;
    images.push_back({level.resizer.get(), level.plan.octave, size, d.image_offset, d.image_stride});
    slot.levels.push_back(d);
  }
  for (std::size_t view = 0; view < view_count_; ++view) {
    for (const PixelLevel& level : w.levels)
      slot.windows.push_back({level.windows.width, level.windows.height});
  }
  checked(lines);
  slot.plane_bytes = lines * line * static_cast<std::int64_t>(layout_.element_bytes);
  slot.pyramid.plan(slot.queue, w.octave_sizes(), images);
  slot.luma_bytes = static_cast<std::size_t>(slot.pyramid.octave_bytes());
}

// Assigns work-groups to areas of the workspace's partition.
void PixelWindowStages::plan_work(PixelWindowSlot& slot, const PixelWindowWorkspace& w) const {
  std::vector<opencl::Tile> codes, scan;
  const Size tile = scan_tile();
  slot.image_rows.clear();
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const PixelLevel& level = w.levels[l];
    const Rows image = level.image_rows, windows = level.window_rows;
    slot.levels[l].last_row = image.end;
    slot.image_rows.push_back({image.begin, image.end});
    if (windows.empty()) continue;
    opencl::add_tiles(codes, l,
                      {image.begin, image.end - layout_.rows_below, kCodesGroupRows * tuning().code_rows},
                      {0, level.plan.size.width, 4 * kCodesGroup});
    opencl::add_tiles(scan, l, {windows.begin, windows.end, tile.height},
                      {0, level.windows.width, tile.width});
  }
  opencl::upload(slot.queue, slot.level_buffer, slot.levels);
  slot.pyramid.plan_rows(slot.queue, slot.image_rows);
  slot.code_tiles.assign(slot.queue, codes);
  slot.scan_tiles.assign(slot.queue, scan);
}

void PixelWindowStages::make_scratch(PixelWindowSlot& slot, const PixelWindowWorkspace& /*workspace*/,
                                     std::size_t stage) const {
  if (stage == kScan) slot.fit(slot.planes, slot.plane_bytes);
}

void PixelWindowStages::enqueue_codes(PixelWindowSlot& slot) const {
  slot.make_codes.arguments(slot.buffer(kImages), slot.level_buffer, slot.code_tiles.buffer(), slot.planes);
  slot.launch("codes", slot.make_codes, groups(slot.code_tiles.size(), kCodesGroup, kCodesGroupRows));
}

void PixelWindowStages::enqueue(PixelWindowSlot& slot, const PixelWindowWorkspace& w,
                                std::size_t stage) const {
  if (stage == kPyramid) {
    slot.pyramid.enqueue(slot.queue, slot.luma(), slot.buffer(kImages),
                         [&](opencl::Event event) { slot.launched(std::move(event)); });
    return;
  }
  enqueue_codes(slot);
  slot.launched(slot.found.clear(slot.queue));
  if (finish_.get()) slot.launched(slot.late.clear(slot.queue));
  enqueue_scan(slot, w);
  if (!finish_.get()) return;
  // Enough work-groups to fill any device; each processes several windows.
  const opencl::DeviceInfo& device = context().device();
  const int a_unit = device.type == opencl::DeviceType::cpu ? 4 : 32;
  const auto finishers = static_cast<std::size_t>(std::max(device.compute_units, 1) * a_unit);
  slot.launch("finish", slot.finish, groups(finishers, static_cast<std::size_t>(tuning().finish_group)));
}

void PixelWindowStages::take(PixelWindowSlot& slot, PixelWindowWorkspace& workspace,
                             std::size_t /*resource*/) const {
  workspace.candidates.clear();
  const int levels = static_cast<int>(slot.levels.size());
  for (const DeviceAccepted& a : slot.found.sorted(slot.queue, slot.windows))
    workspace.candidates.push_back({{a.level, a.x, a.y}, score(a.level / levels, a.score)});
}

std::size_t PixelWindowStages::element_at(const PixelWindowSlot& slot, std::size_t level, int row,
                                          int column) const {
  const DevicePixelLevel& d = slot.levels[level];
  return static_cast<std::size_t>(std::int64_t{d.planes_offset} * layout_.line +
                                  std::int64_t{row} * d.planes_stride + column);
}

}  // namespace sightline
