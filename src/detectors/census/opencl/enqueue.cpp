// One frame's commands on a device, stage by stage, and what comes back.
#include <algorithm>

#include "detectors/census/opencl/stages.hpp"
#include "opencl/data.hpp"

namespace sightline::census {

using opencl::groups;

void OpenClStages::enqueue_scan(OpenClSlot& slot, const CensusWorkspace& w) const {
  const cl_int early = w.early_stages > 0 ? w.early_stages : tuning_.early_stages;
  const auto level_count = static_cast<cl_int>(slot.levels.size());
  slot.make_codes.arguments(slot.buffer(kImages), slot.level_buffer, slot.code_tiles.buffer(), slot.codes);
  slot.launch("codes", slot.make_codes, groups(slot.code_tiles.size(), kCodesGroup, kCodesGroupRows));
  slot.launched(slot.found.clear(slot.queue));
  slot.launched(slot.late.clear(slot.queue));
  slot.scan.arguments(slot.codes, slot.level_buffer, level_count, slot.scan_tiles.buffer(), weak_, sets_,
                      stages_, views_, static_cast<cl_int>(detector_->model().views.size()), early,
                      slot.late.capacity(), slot.late.buffer());
  slot.launch(slot.scan, groups(slot.scan_tiles.size(), static_cast<std::size_t>(tuning_.group)));
  slot.finish.arguments(slot.codes, slot.level_buffer, level_count, weak_, sets_, stages_, views_,
                        thresholds_, early, slot.late.capacity(), slot.late.buffer(), slot.found.buffer());
  // Groups go on to further windows; so many fill any device.
  const opencl::DeviceInfo& device = context().device();
  const int a_unit = device.type == opencl::DeviceType::cpu ? 4 : 32;
  const auto finishers = static_cast<std::size_t>(std::max(device.compute_units, 1) * a_unit);
  slot.launch("finish", slot.finish, groups(finishers, static_cast<std::size_t>(tuning_.finish_group)));
}

void OpenClStages::enqueue(OpenClSlot& slot, const CensusWorkspace& workspace, std::size_t stage) const {
  if (stage == kPyramid) {
    slot.pyramid.enqueue(slot.queue, slot.luma(), slot.buffer(kImages),
                         [&](opencl::Event event) { slot.launched(std::move(event)); });
  } else {
    enqueue_scan(slot, workspace);
  }
}

void OpenClStages::take(OpenClSlot& slot, CensusWorkspace& workspace, std::size_t /*resource*/) const {
  workspace.candidates.clear();
  const int levels = static_cast<int>(slot.levels.size());
  for (const DeviceAccepted& a : slot.found.sorted(slot.queue, slot.windows))
    workspace.candidates.push_back({{a.level, a.x, a.y}, detector_->score(a.level / levels, a.margin)});
}

}  // namespace sightline::census
