// One frame's commands on a device, stage by stage, and what comes back.
#include <algorithm>

#include "cascade/opencl/stages.hpp"

namespace sightline::cascade {

using opencl::groups;

void OpenClStages::enqueue_pyramid(OpenClSlot& slot) const {
  slot.resize.arguments(slot.luma(), slot.luma_stride(), slot.buffer(kImages), slot.level_buffer,
                        slot.resize_tiles.buffer(), slot.tables);
  slot.launch(slot.resize, groups(slot.resize_tiles.size(), kResizeGroup, kResizeRows));
}

void OpenClStages::enqueue_integral(OpenClSlot& slot, const Layout& layout) const {
  const cl_int stride = layout.stride;
  const auto plane = static_cast<cl_int>(layout.plane);
  const opencl::Buffer& images = slot.buffer(kImages);
  const opencl::Buffer& integrals = slot.buffer(kIntegrals);
  slot.row_sums.arguments(images, slot.level_buffer, slot.row_tiles.buffer(), stride, plane, integrals);
  slot.launch(slot.row_sums, groups(slot.row_tiles.size(), static_cast<std::size_t>(row_items_)));
  slot.column_sums.arguments(slot.level_buffer, slot.column_tiles.buffer(), stride, plane, integrals);
  opencl::Range columns = groups(slot.column_tiles.size(), kColumnGroup);
  columns.global[1] = static_cast<std::size_t>(planes_);
  slot.launch(slot.column_sums, columns);
  if (!tilted_) return;
  slot.anti_diagonals.arguments(images, slot.level_buffer, slot.anti_tiles.buffer(), stride, slot.anti);
  slot.launch(slot.anti_diagonals, groups(slot.anti_tiles.size(), kColumnGroup));
  slot.diagonals.arguments(slot.anti, slot.level_buffer, slot.diagonal_tiles.buffer(), stride,
                           static_cast<cl_int>(Layout::kTilted * layout.plane), integrals);
  slot.launch(slot.diagonals, groups(slot.diagonal_tiles.size(), kColumnGroup));
}

void OpenClStages::enqueue_scan(OpenClSlot& slot, const CascadeWorkspace& w) const {
  const auto plane = static_cast<cl_int>(w.layout.plane);
  const Size window = detector_->model().window;
  const auto nodes = static_cast<cl_int>(detector_->model().nodes.size());
  slot.launched(slot.found.clear(slot.queue));
  slot.launched(slot.visited.clear(slot.queue));
  const auto set = [&](const auto&... packed) {
    slot.scan.arguments(slot.buffer(kIntegrals), cl_int{w.layout.stride}, plane, slot.level_buffer,
                        slot.scan_tiles.buffer(), stages_, roots_, slot.nodes, nodes, slot.corners, leaves_,
                        window.width, window.height, packed..., cl_int{w.early_stages}, slot.found.capacity(),
                        slot.bits, slot.found.buffer());
  };
  if (tuning_.packed) {
    set(packed_nodes_, packed_trees_, cl_int{packed_stages_});
  } else {
    set();
  }
  slot.launch(slot.scan, groups(slot.scan_tiles.size(), static_cast<std::size_t>(tuning_.group)));
  slot.keep_visited.arguments(slot.level_buffer, slot.bits, slot.found.buffer(), slot.found.capacity(),
                              slot.visited.buffer());
  constexpr std::size_t kGroups = 64;
  slot.launch(slot.keep_visited, groups(kGroups, kFinishGroup));
}

void OpenClStages::enqueue_finish(OpenClSlot& slot, const CascadeWorkspace& w) const {
  const auto plane = static_cast<cl_int>(w.layout.plane);
  const auto all = static_cast<cl_int>(detector_->model().stages.size());
  // The last stage's sum is the score, so it runs even where all have.
  const cl_int first = std::min<cl_int>(w.early_stages, all - 1);
  const Size window = detector_->model().window;
  const auto nodes = static_cast<cl_int>(detector_->model().nodes.size());
  slot.launched(slot.passed.clear(slot.queue));
  slot.finish.arguments(slot.buffer(kIntegrals), cl_int{w.layout.stride}, plane, slot.level_buffer, stages_,
                        roots_, slot.frame_nodes, nodes, slot.frame_corners, leaves_, window.width,
                        window.height, first, all, slot.visited.capacity(), slot.visited.buffer(),
                        slot.passed.buffer());
  // Groups go on to further windows; so many fill any device.
  const std::size_t count = context().device().type == opencl::DeviceType::cpu ? 16 : 1024;
  slot.launch(slot.finish, groups(count, kFinishGroup));
}

void OpenClStages::enqueue(OpenClSlot& slot, const CascadeWorkspace& workspace, std::size_t stage) const {
  switch (stage) {
    case kPyramid:
      enqueue_pyramid(slot);
      break;
    case kIntegral:
      enqueue_integral(slot, workspace.layout);
      break;
    case kScan:
      enqueue_scan(slot, workspace);
      break;
    default:
      enqueue_finish(slot, workspace);
  }
}

void OpenClStages::take(OpenClSlot& slot, CascadeWorkspace& workspace, std::size_t resource) const {
  if (resource == kSurvivors) {
    workspace.survivors.clear();
    for (const DeviceSurvivor& s : slot.visited.sorted(slot.queue, slot.windows))
      workspace.survivors.push_back({s.level, s.x, s.y});
    return;
  }
  const auto threshold = static_cast<double>(detector_->model().stages.back().threshold);
  workspace.candidates.clear();
  for (const DevicePassed& c : slot.passed.sorted(slot.queue, slot.windows))
    workspace.candidates.push_back({{c.level, c.x, c.y}, cascade_.sum_of(c.sum) - threshold});
}

}  // namespace sightline::cascade
