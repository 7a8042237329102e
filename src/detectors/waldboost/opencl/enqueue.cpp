// One frame's commands on a device, stage by stage, and what comes back.
#include <algorithm>

#include "detectors/waldboost/opencl/stages.hpp"
#include "opencl/data.hpp"

namespace sightline::waldboost {

using opencl::groups;

void OpenClStages::enqueue_planes(OpenClSlot& slot) const {
  if (is_haar()) {
    slot.integral.enqueue(slot.queue, slot.buffer(kImages), slot.planes,
                          [&](opencl::Event event) { slot.launched("codes", std::move(event)); });
    return;
  }
  slot.make_planes.arguments(slot.buffer(kImages), slot.level_buffer, slot.code_tiles.buffer(), slot.planes);
  slot.launch("codes", slot.make_planes, groups(slot.code_tiles.size(), kCodesGroup, kCodesGroupRows));
}

void OpenClStages::enqueue_scan(OpenClSlot& slot) const {
  enqueue_planes(slot);
  slot.launched(slot.found.clear(slot.queue));
  const opencl::Range range = groups(slot.scan_tiles.size(), static_cast<std::size_t>(tuning_.group));
  if (is_naive()) {
    slot.scan.arguments(slot.planes, slot.level_buffer, slot.scan_tiles.buffer(), weak_, responses_,
                        static_cast<cl_int>(detector_->model().size()), cl_int{detector_->lowest_sum()},
                        slot.found.capacity(), slot.found.buffer());
    slot.launch(slot.scan, range);
    return;
  }
  slot.launched(slot.late.clear(slot.queue));
  if (is_progressive()) {
    enqueue_steps(slot);
  } else {
    slot.scan.arguments(slot.planes, slot.level_buffer, slot.scan_tiles.buffer(), weak_, responses_,
                        first_passes_, phase_ends_, static_cast<cl_int>(ends_.size()), slot.late.capacity(),
                        slot.late.buffer());
    slot.launch(slot.scan, range);
  }
  enqueue_finish(slot);
}

void OpenClStages::enqueue_steps(OpenClSlot& slot) const {
  const auto group = static_cast<std::size_t>(tuning_.group);
  const auto count = static_cast<cl_int>(detector_->model().size());
  const std::size_t last = steps_.size() - 1;
  slot.first_step.arguments(slot.planes, slot.level_buffer, slot.scan_tiles.buffer(), weak_, responses_,
                            count, cl_int{steps_[0].fewest}, cl_int{steps_[0].target},
                            static_cast<cl_int>(share(0)), cl_int{0}, slot.late.capacity(), slot.kept[0],
                            slot.late.buffer());
  slot.launch(slot.first_step, groups(slot.scan_tiles.size(), group));
  std::size_t slots = slot.scan_tiles.size() * share(0);
  for (std::size_t i = 1; i <= last; ++i) {
    slot.step.arguments(slot.planes, slot.level_buffer, slot.kept[(i - 1) % 2],
                        opencl::checked(static_cast<std::int64_t>(slots)), weak_, responses_, count,
                        cl_int{steps_[i].fewest}, cl_int{steps_[i].target}, static_cast<cl_int>(share(i)),
                        cl_int{i == last}, slot.late.capacity(), slot.kept[i % 2], slot.late.buffer());
    slot.launch(slot.step, groups(step_groups(slots), group));
    slots = step_groups(slots) * share(i);
  }
}

void OpenClStages::enqueue_finish(OpenClSlot& slot) const {
  slot.finish.arguments(slot.planes, slot.level_buffer, weak_, responses_,
                        static_cast<cl_int>(detector_->model().size()), cl_int{detector_->lowest_sum()},
                        slot.late.capacity(), slot.late.buffer(), slot.found.buffer());
  // Groups go on to further windows; so many fill any device.
  const opencl::DeviceInfo& device = context().device();
  const int a_unit = device.type == opencl::DeviceType::cpu ? 4 : 32;
  const auto finishers = static_cast<std::size_t>(std::max(device.compute_units, 1) * a_unit);
  slot.launch("finish", slot.finish, groups(finishers, static_cast<std::size_t>(tuning_.finish_group)));
}

void OpenClStages::enqueue(OpenClSlot& slot, const WaldboostWorkspace& /*workspace*/,
                           std::size_t stage) const {
  if (stage == kPyramid) {
    slot.pyramid.enqueue(slot.queue, slot.luma(), slot.buffer(kImages),
                         [&](opencl::Event event) { slot.launched(std::move(event)); });
  } else {
    enqueue_scan(slot);
  }
}

void OpenClStages::take(OpenClSlot& slot, WaldboostWorkspace& workspace, std::size_t /*resource*/) const {
  workspace.candidates.clear();
  for (const DeviceAccepted& a : slot.found.sorted(slot.queue, slot.windows))
    workspace.candidates.push_back({{a.level, a.x, a.y}, detector_->score(a.sum)});
}

}  // namespace sightline::waldboost
