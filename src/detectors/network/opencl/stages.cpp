#include "detectors/network/opencl/stages.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/log.hpp"
#include "opencl/data.hpp"
#include "opencl/error.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::network {

OpenClSlot::OpenClSlot(const OpenClStages& stages)
    : OpenClSlotBase(stages), letterbox(stages.letterbox_, "letterbox") {}

OpenClStages::OpenClStages(const NetworkDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache)
    : OpenClStagesOf(detector, context, cache, {}),
      detector_(&detector),
      levels_(*detector.plan(), context, cache, DeviceLevels::manner_for(context.device())),
      letterbox_(program("network/letterbox.cl")) {
  const std::vector<PlanSegment>& segments = detector.plan()->segments;
  if (detector.stages()[kLetterbox].suits_device) support(kLetterbox);
  uploads_.insert(kInput);
  downloads_.insert(kInput);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    uploads_.insert(kFirstResults + i);
    downloads_.insert(kFirstResults + i);
    if (segments[i].suits_devices) support(kFirstSegment + i);
  }
  opencl::Queue queue(context);
  opencl::upload(queue, values_, normalised_values(detector.network().preprocessing));
}

InterStageBuffer* OpenClStages::buffer_of(NetworkWorkspace& workspace, std::size_t resource) const {
  const std::span<InterStageBuffer> shared = workspace.runner->shared();
  return resource >= kInput && resource - kInput < shared.size() ? &shared[resource - kInput] : nullptr;
}

void OpenClStages::plan_geometry(OpenClSlot& slot, const NetworkWorkspace& workspace) const {
  std::vector<cl_int> axes;
  for (const Letterbox::Axis* axis : {&workspace.letterbox.columns(), &workspace.letterbox.rows()}) {
    for (std::size_t i = 0; i < axis->first.size(); ++i)
      axes.insert(axes.end(), {axis->first[i], axis->second[i], axis->weight[i]});
  }
  opencl::upload(slot.queue, slot.axes, axes);
}

void OpenClStages::enqueue(OpenClSlot& slot, const NetworkWorkspace& workspace, std::size_t stage) const {
  if (stage == kLetterbox) {
    enqueue_letterbox(slot, workspace);
  } else {
    OpenClSlotBase* const alone = &slot;
    enqueue_segment({&alone, 1}, stage - kFirstSegment);
  }
}

bool OpenClStages::enqueue_together(std::span<OpenClSlotBase* const> slots, std::size_t stage) const {
  if (stage == kLetterbox) return false;
  enqueue_segment(slots, stage - kFirstSegment);
  return true;
}

void OpenClStages::enqueue_letterbox(OpenClSlot& slot, const NetworkWorkspace& workspace) const {
  const Preprocessing& p = detector_->network().preprocessing;
  const Crop& visible = workspace.letterbox.visible();
  const bool has_colour = reads_colour();
  slot.letterbox.arguments(has_colour ? slot.rgb() : slot.luma(), slot.luma_stride(),
                           static_cast<cl_int>(workspace.frame.height()), static_cast<cl_int>(!p.rgb),
                           slot.axes, values_, visible.x, visible.y, visible.size.width, visible.size.height,
                           p.size.width, p.size.height, p.channels,
                           p.channels_last ? 1 : opencl::checked(std::int64_t{p.size.width} * p.size.height),
                           p.channels_last ? p.channels : 1, slot.buffer(kInput));
  constexpr std::size_t kAcross = 32, kDown = 4;
  const auto rounded = [](int count, std::size_t multiple) {
    return (static_cast<std::size_t>(count) + multiple - 1) / multiple * multiple;
  };
  slot.launch(slot.letterbox, {{rounded(p.size.width, kAcross), rounded(p.size.height, kDown),
                                static_cast<std::size_t>(p.channels)},
                               {kAcross, kDown, 1}});
}

void OpenClStages::enqueue_segment(std::span<OpenClSlotBase* const> slots, std::size_t number) const {
  const PlanSegment& segment = detector_->plan()->segments[number];
  auto& first = static_cast<OpenClSlot&>(*slots.front());
  const auto frames = static_cast<int>(slots.size());
  const DeviceLevels::Variant& levels = levels_.variant_for(frames);
  first.fit(first.arena, static_cast<std::int64_t>(levels.bytes(frames)));
  std::vector<opencl::Event> ready;
  for (int i = 0; i < frames; ++i) {
    OpenClSlotBase& slot = *slots[static_cast<std::size_t>(i)];
    for (const int read : segment.reads) {
      const auto pool = static_cast<std::size_t>(read);
      // Results of segments that are submitted with this one are there.
      if (pool >= kFirstResultPool && kFirstSegment + pool - kFirstResultPool >= slot.first_submitted())
        continue;
      slot.launched(slot.queue.copy(slot.buffer(resource_of(read)), 0, first.arena, levels.place_of(pool, i),
                                    levels_.pool_bytes(pool)));
    }
    if (i == 0) continue;
    ready.push_back(slot.queue.marker());
    slot.queue.flush();
  }
  if (!ready.empty()) first.queue.marker_after(ready);
  opencl::Event done;
  levels_.enqueue(levels, first.queue, first.levels, first.arena, frames, segment.first_level,
                  segment.last_level, [&](opencl::Event event) {
                    for (OpenClSlotBase* slot : slots) slot->launched(event);
                    done = std::move(event);
                  });
  first.queue.flush();
  const std::size_t results = kFirstResults + number, pool = kFirstResultPool + number;
  const auto later = detector_->stages().subspan(first.last_submitted());
  const bool leaves =
      std::ranges::any_of(later, [&](const StageInfo& stage) { return stage.reads.contains(results); });
  if (!leaves) return;
  std::vector<opencl::Event> copied;
  for (int i = 0; i < frames; ++i) {
    OpenClSlotBase& slot = *slots[static_cast<std::size_t>(i)];
    if (i > 0 && done) slot.queue.marker_after({&done, 1});
    opencl::Event event = slot.queue.copy(first.arena, levels.place_of(pool, i), slot.buffer(results), 0,
                                          levels_.pool_bytes(pool));
    slot.launched(event);
    if (i == 0) continue;
    slot.queue.flush();
    copied.push_back(std::move(event));
  }
  // The first frame's slot, once done, may be given others: not before all have what is theirs.
  if (!copied.empty()) first.queue.marker_after(copied);
}

std::unique_ptr<DeviceStages> NetworkDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened || !plan_ || !opened->device().fused_multiply_add) return nullptr;
  try {
    auto stages = std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened);
    serves_devices_.store(true, std::memory_order_relaxed);
    return stages;
  } catch (const opencl::DeviceError&) {
    throw;
  } catch (const Error& e) {
    logger().warn("'{}' cannot run on '{}': {}; its stages run on the CPU", network_.name,
                  opened->device().name, e.what());
    return nullptr;
  }
}

}  // namespace sightline::network
