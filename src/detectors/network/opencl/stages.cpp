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
      parts_(*detector.parts(), context, cache),
      letterbox_(program("network/letterbox.cl")) {
  if (detector.stages()[kLetterbox].suits_device) support(kLetterbox);
  for (std::size_t pool = 0; pool < detector.parts()->pool_bytes.size(); ++pool) {
    uploads_.insert(resource_of(pool));
    downloads_.insert(resource_of(pool));
  }
  for (std::size_t i = 0; i < detector.parts()->parts.size(); ++i) {
    if (detector.parts()->parts[i].partition.on_device) support(kFirstPart + i);
  }
  opencl::Queue queue(context);
  opencl::upload(queue, values_, normalised_values(detector.network().preprocessing));
}

InterStageBuffer* OpenClStages::buffer_of(NetworkWorkspace& workspace, std::size_t resource) const {
  const std::span<InterStageBuffer> pools = workspace.runner->pools();
  return resource >= kInput && resource - kInput < pools.size() ? &pools[resource - kInput] : nullptr;
}

void OpenClStages::plan_geometry(OpenClSlot& slot, const NetworkWorkspace& workspace) const {
  std::vector<cl_int> axes;
  for (const Letterbox::Axis* axis : {&workspace.letterbox.columns(), &workspace.letterbox.rows()}) {
    for (std::size_t i = 0; i < axis->first.size(); ++i)
      axes.insert(axes.end(), {axis->first[i], axis->second[i], axis->weight[i]});
  }
  opencl::upload(slot.queue, slot.axes, axes);
  const Parts& parts = *detector_->parts();
  std::vector<std::byte> sizes(static_cast<std::size_t>(parts.sizes_bytes));
  for (std::size_t i = 0; i < parts.graph.inputs().size(); ++i) {
    const PoolPlace& place = parts.place_of(parts.graph.inputs()[i]);
    if (place.pool == kSizesPool)
      std::ranges::copy(workspace.runner->input(i).bytes(), sizes.begin() + place.offset);
  }
  opencl::upload(slot.queue, slot.sizes, sizes);
}

void OpenClStages::enqueue(OpenClSlot& slot, const NetworkWorkspace& workspace, std::size_t stage) const {
  if (stage == kLetterbox) {
    enqueue_letterbox(slot, workspace);
  } else {
    OpenClSlotBase* const alone = &slot;
    enqueue_part({&alone, 1}, stage - kFirstPart);
  }
}

bool OpenClStages::enqueue_together(std::span<OpenClSlotBase* const> slots, std::size_t stage) const {
  if (stage == kLetterbox) return false;
  enqueue_part(slots, stage - kFirstPart);
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

nn::DeviceLaunches& OpenClSlot::launches_of(const DeviceParts::SharedVariant& variant, std::size_t part) {
  return launches_.try_emplace({variant, part}, variant->parts.at(part)->kernels).first->second;
}

// One copy brings inputs that lie side by side in a pool, as they do on the device.
void OpenClStages::copy_inputs(OpenClSlot& slot, const opencl::Buffer& arena, std::int64_t start,
                               const Part& part, const nn::DevicePlan& plan) const {
  const Parts& parts = *detector_->parts();
  const std::vector<int>& inputs = part.partition.inputs;
  for (std::size_t first = 0, end = 0; first < inputs.size(); first = end) {
    const PoolPlace& from = parts.place_of(inputs[first]);
    std::int64_t bytes = 0;
    for (end = first; end < inputs.size(); ++end) {
      const PoolPlace& next = parts.place_of(inputs[end]);
      const std::int64_t offset = next.offset - from.offset;
      if (next.pool != from.pool || offset != plan.inputs[end] - plan.inputs[first]) break;
      bytes = offset + nn::bytes_of(parts.graph.type(inputs[end]));
    }
    if (bytes == 0) continue;  // which OpenCL refuses
    const opencl::Buffer& pool = from.pool == kSizesPool ? slot.sizes : slot.buffer(resource_of(from.pool));
    slot.launched(slot.queue.copy(pool, static_cast<std::size_t>(from.offset), arena,
                                  static_cast<std::size_t>(start + plan.inputs[first]),
                                  static_cast<std::size_t>(bytes)));
  }
}

void OpenClStages::enqueue_part(std::span<OpenClSlotBase* const> slots, std::size_t number) const {
  const Part& part = detector_->parts()->parts[number];
  auto& first = static_cast<OpenClSlot&>(*slots.front());
  const auto frames = static_cast<int>(slots.size());
  const DeviceParts::SharedVariant variant = parts_.variant_for(frames);
  const nn::DevicePlan& plan = variant->parts.at(number)->plan;
  first.fit(first.arena, static_cast<std::int64_t>(variant->bytes(frames)));
  std::vector<opencl::Event> ready;
  for (int i = 0; i < frames; ++i) {
    auto& slot = static_cast<OpenClSlot&>(*slots[static_cast<std::size_t>(i)]);
    copy_inputs(slot, first.arena, i * plan.frame_bytes, part, plan);
    if (i == 0) continue;
    ready.push_back(slot.queue.marker());
    slot.queue.flush();
  }
  if (!ready.empty()) first.queue.marker_after(ready);
  opencl::Event done;
  first.launches_of(variant, number).enqueue(first.queue, first.arena, frames, [&](opencl::Event event) {
    for (OpenClSlotBase* slot : slots) slot->launched(event);
    done = std::move(event);
  });
  first.queue.flush();
  const std::size_t pool = kFirstResultPool + number;
  const auto bytes = static_cast<std::size_t>(detector_->parts()->pool_bytes[pool]);
  std::vector<opencl::Event> copied;
  for (int i = 0; i < frames; ++i) {
    OpenClSlotBase& slot = *slots[static_cast<std::size_t>(i)];
    if (i > 0 && done) slot.queue.marker_after({&done, 1});
    opencl::Event event =
        slot.queue.copy(first.arena, static_cast<std::size_t>(i * plan.frame_bytes + plan.outputs.front()),
                        slot.buffer(resource_of(pool)), 0, bytes);
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
  if (!opened || !parts() || !opened->device().fused_multiply_add) return nullptr;
  try {
    return std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened);
  } catch (const nn::Problem& e) {
    logger().warn("'{}' cannot run on '{}': {}; its stages run on the CPU", network_.name,
                  opened->device().name, e.what());
    return nullptr;
  }
}

}  // namespace sightline::network
