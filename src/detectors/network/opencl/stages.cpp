#include "detectors/network/opencl/stages.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "opencl/data.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::network {
namespace {

using opencl::define;

constexpr std::size_t kBytes = sizeof(float);

}  // namespace

OpenClSlot::OpenClSlot(const OpenClStages& stages)
    : OpenClSlotBase(stages), letterbox(stages.letterbox_, "letterbox"), level(stages.level_, "level") {}

OpenClStages::OpenClStages(const NetworkDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache)
    : OpenClStagesOf(detector, context, cache, {kLetterbox}), detector_(&detector) {
  const Plan& plan = *detector.plan();
  const opencl::DeviceInfo& device = context.device();
  uploads_.insert(kInput);
  downloads_.insert(kInput);
  for (std::size_t i = 0; i < plan.segments.size(); ++i) {
    uploads_.insert(kFirstResults + i);
    downloads_.insert(kFirstResults + i);
    if (plan.segments[i].suits_devices) support(kFirstSegment + i);
  }
  const auto group = static_cast<int>(std::min<std::uint64_t>(256, std::max<std::uint64_t>(device.largest_work_group, 1)));
  shape_.group = static_cast<int>(std::bit_floor(static_cast<unsigned>(group)));
  shape_.local_floats = static_cast<int>(
      std::min<std::uint64_t>(device.local_memory_bytes - std::min<std::uint64_t>(device.local_memory_bytes, 1024), 45056) /
      kBytes);
  shape_.groups = std::max(device.compute_units, 1);
  letterbox_ = program("network/letterbox.cl");
  level_ = program("network/level.cl", define("GROUP", shape_.group) + define("LOCAL_FLOATS", shape_.local_floats));
  opencl::Queue queue(context);
  opencl::upload(queue, values_, normalised_values(detector.network().preprocessing));
  opencl::upload(queue, weights_, tables_for(queue, 1).host.weights);
  tables_.front()->host.weights = {};
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
    enqueue_segment(slot, stage - kFirstSegment);
  }
}

void OpenClStages::enqueue_letterbox(OpenClSlot& slot, const NetworkWorkspace& workspace) const {
  const Preprocessing& p = detector_->network().preprocessing;
  const Placement& place = workspace.letterbox.placement();
  const bool has_colour = reads_colour();
  slot.letterbox.arguments(has_colour ? slot.rgb() : slot.luma(), slot.luma_stride(),
                           static_cast<cl_int>(workspace.frame.height()), static_cast<cl_int>(!p.rgb),
                           slot.axes, values_, place.left, place.top, place.width, place.height, p.size.width,
                           p.size.height, p.channels,
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

void OpenClStages::enqueue_segment(OpenClSlot& slot, std::size_t number) const {
  const Plan& plan = *detector_->plan();
  const PlanSegment& segment = plan.segments[number];
  const Tables& tables = tables_for(slot.queue, 1);
  const LevelTables& host = tables.host;
  const auto place = [&](std::size_t pool) { return static_cast<std::size_t>(host.pools[pool]) * kBytes; };
  const auto size = [&](std::size_t pool) { return static_cast<std::size_t>(plan.pool_floats[pool]) * kBytes; };
  slot.fit(slot.arena, host.frame_floats * static_cast<std::int64_t>(kBytes));
  for (const int read : segment.reads) {
    const auto pool = static_cast<std::size_t>(read);
    const bool is_there =
        pool >= kFirstResultPool && kFirstSegment + pool - kFirstResultPool >= slot.first_submitted();
    if (!is_there)
      slot.launched(slot.queue.copy(slot.buffer(resource_of(read)), 0, slot.arena, place(pool), size(pool)));
  }
  for (std::size_t l = segment.first_level; l < segment.last_level; ++l) {
    const LevelTables::Level& level = host.levels[l];
    if (level.groups == 0) continue;
    slot.level.arguments(slot.arena, static_cast<cl_long>(host.frame_floats), level.groups, tables.chains,
                         level.first_chain, level.chains, tables.ops, tables.places, tables.numbers, weights_);
    slot.launch(slot.level, opencl::groups(static_cast<std::size_t>(level.groups),
                                           static_cast<std::size_t>(shape_.group)));
  }
  const std::size_t results = kFirstResults + number, pool = kFirstResultPool + number;
  const auto stages = detector_->stages().subspan(slot.last_submitted());
  if (std::ranges::any_of(stages, [&](const StageInfo& stage) { return stage.reads.contains(results); }))
    slot.launched(slot.queue.copy(slot.arena, place(pool), slot.buffer(results), 0, size(pool)));
}

const OpenClStages::Tables& OpenClStages::tables_for(opencl::Queue& queue, int frames) const {
  const std::lock_guard lock(mutex_);
  const auto size = std::min<std::size_t>(std::bit_width(static_cast<unsigned>(frames)) - 1, kSizes - 1);
  std::unique_ptr<Tables>& tables = tables_[size];
  if (!tables) {
    tables = std::make_unique<Tables>();
    LaunchShape shape = shape_;
    shape.frames = 1 << size;
    tables->host = make_level_tables(*detector_->plan(), shape);
    opencl::upload(queue, tables->chains, tables->host.chains);
    opencl::upload(queue, tables->ops, tables->host.ops);
    opencl::upload(queue, tables->places, tables->host.places);
    opencl::upload(queue, tables->numbers, tables->host.tables);
    if (size > 0) tables->host.weights = {};  // the same as of one frame
  }
  return *tables;
}

std::unique_ptr<DeviceStages> NetworkDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened || !plan_ || !opened->device().fused_multiply_add) return nullptr;
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened);
}

}  // namespace sightline::network
