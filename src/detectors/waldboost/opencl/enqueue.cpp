// One frame's scan on a device.
#include "detectors/waldboost/opencl/stages.hpp"
#include "opencl/data.hpp"

namespace sightline::waldboost {

using opencl::groups;

void OpenClStages::enqueue_codes(PixelWindowSlot& slot) const {
  if (!is_haar()) return PixelWindowStages::enqueue_codes(slot);
  static_cast<OpenClSlot&>(slot).integral.enqueue(
      slot.queue, slot.buffer(kImages), slot.planes,
      [&](opencl::Event event) { slot.launched("codes", std::move(event)); });
}

void OpenClStages::enqueue_scan(PixelWindowSlot& slot, const PixelWindowWorkspace& /*workspace*/) const {
  const auto count = static_cast<cl_int>(detector_->model().size());
  const opencl::NDRange range = groups(slot.scan_tiles.size(), static_cast<std::size_t>(tuning_.group));
  if (is_naive()) {
    slot.scan.arguments(slot.planes, slot.level_buffer, slot.scan_tiles.buffer(), weak_, responses_, count,
                        cl_int{detector_->lowest_sum()}, slot.found.capacity(), slot.found.buffer());
    slot.launch(slot.scan, range);
    return;
  }
  slot.finish.arguments(slot.planes, slot.level_buffer, weak_, responses_, count,
                        cl_int{detector_->lowest_sum()}, slot.late.capacity(), slot.late.buffer(),
                        slot.found.buffer());
  if (is_progressive()) return enqueue_steps(static_cast<OpenClSlot&>(slot));
  slot.scan.arguments(slot.planes, slot.level_buffer, slot.scan_tiles.buffer(), weak_, responses_,
                      first_passes_, phase_ends_, static_cast<cl_int>(ends_.size()), slot.late.capacity(),
                      slot.late.buffer());
  slot.launch(slot.scan, range);
}

void OpenClStages::enqueue_steps(OpenClSlot& slot) const {
  const auto group = static_cast<std::size_t>(tuning_.group);
  const auto count = static_cast<cl_int>(detector_->model().size());
  const std::size_t last = steps_.size() - 1;
  slot.queue.fill(slot.excess, 0, steps_.size() * sizeof(cl_int));
  slot.first_step.arguments(slot.planes, slot.level_buffer, slot.scan_tiles.buffer(), weak_, responses_,
                            count, cl_int{steps_[0].fewest}, cl_int{steps_[0].target},
                            static_cast<cl_int>(share(0)), cl_int{0}, cl_int{0}, slot.late.capacity(),
                            slot.excess, slot.kept[0], slot.late.buffer());
  slot.launch(slot.first_step, groups(slot.scan_tiles.size(), group));
  std::size_t slots = slot.scan_tiles.size() * share(0);
  for (std::size_t i = 1; i <= last; ++i) {
    slot.step.arguments(slot.planes, slot.level_buffer, slot.kept[(i - 1) % 2],
                        opencl::checked(static_cast<std::int64_t>(slots)), weak_, responses_, count,
                        cl_int{steps_[i].fewest}, cl_int{steps_[i].target}, static_cast<cl_int>(share(i)),
                        cl_int{i == last}, static_cast<cl_int>(i), slot.late.capacity(), slot.excess,
                        slot.kept[i % 2], slot.late.buffer());
    slot.launch(slot.step, groups(step_groups(slots), group));
    slots = step_groups(slots) * share(i);
  }
}

}  // namespace sightline::waldboost
