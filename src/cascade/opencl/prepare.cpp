// Readies a slot for a frame size: geometry, work lists and buffers of all levels.
#include <algorithm>

#include "cascade/opencl/impl.hpp"

namespace sightline::cascade {
namespace {

void plan_geometry(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const CascadeWorkspace& w) {
  const auto& levels = w.layout.levels;
  i.integral.plan(i.queue, w.layout, std::vector<SheetLevel>(levels.begin(), levels.end()));
  std::vector<opencl::ResampledPyramid::Level> images;
  std::int64_t words = 0;
  i.windows = 0;
  i.levels.clear();
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
    i.windows += static_cast<std::size_t>(level.windows.width) * level.windows.height;
    i.levels.push_back(d);
  }
  i.bits_bytes = static_cast<std::size_t>(checked(words)) * sizeof(cl_uint);
  i.pyramid.plan(i.queue, images);
  const DeviceCascade cascade =
      pack_cascade(s.detector->model(), s.tuning.tiled ? layout_of_tile(s) : w.layout);
  upload(i.queue, i.nodes, cascade.nodes);
  upload(i.queue, i.corners, cascade.corners);
  const DeviceCascade whole = s.tuning.tiled ? pack_cascade(s.detector->model(), w.layout) : DeviceCascade{};
  upload(i.queue, i.frame_nodes, s.tuning.tiled ? whole.nodes : cascade.nodes);
  upload(i.queue, i.frame_corners, s.tuning.tiled ? whole.corners : cascade.corners);
}

// Which work-group works where, for the workspace's partition of the frame.
void plan_work(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const CascadeWorkspace& w) {
  std::vector<opencl::ImageRows> rows;
  std::vector<opencl::Tile> scan;
  for (std::size_t l = 0; l < w.levels.size(); ++l) {
    const LevelWork& work = w.levels[l];
    i.levels[l].last_row = work.image.end;
    rows.push_back({work.image.begin, work.image.end});
    opencl::add_tiles(scan, l, {work.windows.begin, work.windows.end, s.tuning.tile_rows},
                      {0, i.levels[l].windows_x, kTileX});
  }
  upload(i.queue, i.level_buffer, i.levels);
  i.pyramid.plan_rows(i.queue, rows);
  i.integral.plan_rows(i.queue, rows);
  i.scan_tiles.assign(i.queue, scan);
}

}  // namespace

Layout layout_of_tile(const OpenClStages::Impl& s) {
  Layout tile;
  tile.stride = s.local_stride;
  // Tilted sums lie kTilted planes after the others; there is nothing in between.
  tile.plane = static_cast<std::int64_t>(s.local_stride) * s.local_rows / Layout::kTilted;
  tile.planes = s.tilted ? 3 : s.planes;
  tile.element_bytes = has_small_sums(s.detector->model()) ? 2 : 4;
  return tile;
}

void plan(const OpenClStages::Impl& s, OpenClSlot::Impl& i, const CascadeWorkspace& workspace) {
  i.planned.update(
      workspace.planned.size(), workspace.planned.partition(), [&] { plan_geometry(s, i, workspace); },
      [&] { plan_work(s, i, workspace); });
}

void make_lists(OpenClSlot::Impl& i, std::size_t capacity) {
  const opencl::Context& context = i.queue.context();
  i.capacity = 0;  // until all are there
  i.found = opencl::Buffer(context, (capacity + 1) * kWindowBytes);
  i.visited = opencl::Buffer(context, (capacity + 1) * kWindowBytes);
  i.passed = opencl::Buffer(context, (capacity + 1) * kCandidateBytes);
  i.list_staging = opencl::StagingBuffer(i.queue, (capacity + 1) * kCandidateBytes);
  i.capacity = capacity;
}

void make_buffers(const OpenClStages::Impl& s, OpenClSlot::Impl& i, CascadeWorkspace& workspace,
                  std::size_t stage) {
  // Slack at the end: the CPU's vectors read past the last element of a level.
  constexpr std::size_t kSlack = InterStageBuffer::kSlack;
  const opencl::Context& context = *s.context;
  const auto make = [&](opencl::Buffer& buffer, std::size_t bytes) {
    if (buffer.bytes() < bytes) buffer = opencl::Buffer(context, bytes);
  };
  const auto make_shared = [&](opencl::SharedBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() != bytes + kSlack) buffer = opencl::SharedBuffer(i.queue, bytes + kSlack);
  };
  if (stage == kPyramid) {
    make(i.frame,
         static_cast<std::size_t>(i.frame_stride()) * static_cast<std::size_t>(i.planned.size().height));
    i.input.prepare(i.queue, workspace.frame, i.frame_stride());
  }
  if (stage == kPyramid || stage == kIntegral) make_shared(i.images, workspace.images.bytes());
  if (stage == kIntegral || stage == kScan) make_shared(i.integrals, workspace.integrals.bytes());
  if (stage == kIntegral) i.integral.make_scratch(context);
  if (stage == kScan) {
    make(i.bits, i.bits_bytes);
    if (i.capacity == 0) make_lists(i, static_cast<std::size_t>(s.tuning.first_capacity));
    i.read_back = std::max(i.read_back, kFirstRead);
  }
}

}  // namespace sightline::cascade
