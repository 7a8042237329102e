// Enqueues one frame's commands on a device, stage by stage, and takes the results.
#include <algorithm>

#include "detectors/cascade/opencl/stages.hpp"

namespace sightline::cascade {

using opencl::groups;

void OpenClStages::enqueue_pyramid(OpenClSlot& slot) const {
  slot.pyramid.enqueue(slot.queue, slot.luma(), slot.luma_stride(), slot.buffer(kImages),
                       [&](opencl::Event event) { slot.launched(std::move(event)); });
}

void OpenClStages::enqueue_integral(OpenClSlot& slot) const {
  slot.integral.enqueue(slot.queue, slot.buffer(kImages), slot.buffer(kIntegrals),
                        [&](opencl::Event event) { slot.launched(std::move(event)); });
}

void OpenClStages::enqueue_scan(OpenClSlot& slot, const CascadeWorkspace& w) const {
  const auto plane = static_cast<cl_int>(w.layout.plane);
  const Size window = detector_->model().window;
  const auto nodes = static_cast<cl_int>(detector_->model().nodes.size());
  slot.launched(slot.found.clear(slot.queue));
  slot.launched(slot.visited.clear(slot.queue));
  const auto set = [&](const auto&... variants_own) {
    slot.scan.arguments(slot.buffer(kIntegrals), cl_int{w.layout.stride}, plane, slot.level_buffer,
                        slot.scan_tiles.buffer(), stages_, roots_, slot.nodes, nodes, slot.corners, leaves_,
                        window.width, window.height, variants_own..., cl_int{w.early_stages},
                        slot.found.capacity(), slot.bits, slot.found.buffer());
  };
  // Pointers to constant memory, and the number of tiles, are parameters of the variants that want them.
  const auto set_packed = [&](const auto&... more) {
    if (tuning_.packed) {
      set(packed_nodes_, packed_trees_, cl_int{packed_stages_}, more...);
    } else {
      set(more...);
    }
  };
  if (tuning_.scan == "reduced") {
    set_packed(static_cast<cl_int>(slot.scan_tiles.size()));
    slot.launch(slot.scan, groups(slot.reduced_groups, static_cast<std::size_t>(tuning_.group)));
  } else {
    set_packed();
    slot.launch(slot.scan, groups(slot.scan_tiles.size(), static_cast<std::size_t>(tuning_.group)));
  }
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
  // Enough work-groups to fill any device; each processes several windows.
  const std::size_t count = context().device().type == opencl::DeviceType::cpu ? 16 : 1024;
  slot.launch(slot.finish, groups(count, kFinishGroup));
}

void OpenClStages::enqueue(OpenClSlot& slot, const CascadeWorkspace& workspace, std::size_t stage) const {
  switch (stage) {
    case kPyramid:
      enqueue_pyramid(slot);
      break;
    case kIntegral:
      enqueue_integral(slot);
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
