#include "processing/opencl/opencl_stages.hpp"

#include <stdexcept>

#include "opencl/data.hpp"

namespace sightline {
namespace {

OpenClSlotBase& own_slot(DeviceSlot& slot) {
  return static_cast<OpenClSlotBase&>(slot);
}

template <typename Use>
void for_each(ResourceSet set, const Use& use) {
  for (std::size_t resource = 0; resource < kMostStages; ++resource) {
    if (set.contains(resource)) use(resource);
  }
}

// Resources that the host passes to the segment and reads again afterwards.
ResourceSet read_again(std::span<const StageInfo> stages, const StageSet& on_device,
                       const DeviceSegment& segment) {
  ResourceSet left = segment.uploads - ResourceSet{kFrameResource};
  for (std::size_t i = segment.first; i < segment.last; ++i) left = left - stages[i].writes;
  ResourceSet again;
  for (std::size_t i = segment.last; i < stages.size(); ++i) {
    if (!on_device[i]) again = again | (left & stages[i].reads);
    left = left - stages[i].writes;
  }
  return again;
}

}  // namespace

OpenClSlotBase::OpenClSlotBase(const OpenClStageBase& stages)
    : queue(stages.context()), input_(stages.gray_program()) {
  if (stages.reads_colour()) colour_ = opencl::ColourInput(stages.colour_program());
}

void OpenClSlotBase::launched(std::string_view part, opencl::Event event) {
  if (!again_) add(DeviceSpan::Kind::stage, stage_, part, std::move(event));
}

void OpenClSlotBase::fit(opencl::Buffer& buffer, std::int64_t bytes) const {
  const auto size = static_cast<std::size_t>(bytes);
  if (buffer.bytes() < size) buffer = opencl::Buffer(queue.context(), size);
}

OpenClStageBase::OpenClStageBase(const FrameProcessor& processor, const opencl::Context& context,
                                 opencl::ProgramCache* cache, std::initializer_list<std::size_t> stages)
    : processor_(&processor),
      context_(&context),
      cache_(cache),
      gray_(opencl::GrayKernels::build(context, cache)) {
  for (const std::size_t stage : stages) supported_.set(stage);
  if (reads_colour()) colour_ = opencl::ColourInput::build(context, cache);
}

std::optional<MappingConflict> OpenClStageBase::check(const StageSet& on_device) const {
  const std::span<const StageInfo> stages = processor_->stages();
  // The stage that last wrote a resource before `end`.
  const auto writer = [&](std::size_t resource, std::size_t end) {
    while (end > 1 && !stages[end - 1].writes.contains(resource)) --end;
    return end - 1;
  };
  // The first stage from `begin` on that runs here, or does not, and reads a resource.
  const auto reader = [&](std::size_t resource, std::size_t begin, bool here) {
    while (begin + 1 < stages.size() && (on_device[begin] != here || !stages[begin].reads.contains(resource)))
      ++begin;
    return std::min(begin, stages.size() - 1);
  };
  ResourceSet came_back;
  for (const DeviceSegment& segment : plan_transfers(stages, on_device)) {
    if (const auto resource = (segment.uploads - (uploads_ - came_back)).first())
      return MappingConflict{MappingConflict::Kind::input, reader(*resource, segment.first, true),
                             writer(*resource, segment.first)};
    if (const auto resource = (segment.downloads - downloads_).first())
      return MappingConflict{MappingConflict::Kind::output, writer(*resource, segment.last),
                             reader(*resource, segment.last, false)};
    came_back = came_back | segment.downloads;
  }
  return std::nullopt;
}

void OpenClStageBase::plan_mapping(OpenClSlotBase& slot, const StageSet& on_device) const {
  if (on_device == slot.on_device_ && !slot.segments_.empty()) return;
  slot.segments_.clear();
  for (const DeviceSegment& segment : plan_transfers(processor_->stages(), on_device))
    slot.segments_.push_back({segment, read_again(processor_->stages(), on_device, segment)});
  slot.on_device_ = on_device;
}

void OpenClStageBase::make_memory(OpenClSlotBase& slot, Workspace& workspace) const {
  const std::span<const StageInfo> stages = processor_->stages();
  const auto make = [&](std::size_t resource, std::size_t bytes) {
    opencl::SharedBuffer& memory = slot.memory_[resource];
    // Slack at the end: vectors read past the last element, on the CPU and on the device.
    const std::size_t size = bytes + InterStageBuffer::kSlack;
    if (memory.bytes() != size) memory.resize(slot.queue, size);
  };
  ResourceSet used;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (slot.on_device_[stage]) used = used | stages[stage].reads | stages[stage].writes;
  }
  for_each(used, [&](std::size_t resource) {
    if (resource == kFrameResource) {
      const PictureView frame = frame_of(workspace);
      const std::size_t luma = static_cast<std::size_t>(slot.luma_stride()) * frame.height();
      make(resource, std::max(luma, slot.luma_bytes));
      slot.input_.prepare(slot.queue, frame, slot.luma_stride());
      if (reads_colour()) slot.colour_.prepare(slot.queue, frame, slot.luma_stride());
      if (slot.shared_frame) return;  // which of its users sends it is not known yet
      slot.input_.fill(*context_, frame, slot.luma_stride());
      if (reads_colour()) slot.colour_.fill(*context_, frame);
    } else if (memory_of(workspace, resource)) {
      make(resource, call_bytes_of(slot, workspace, resource));
    } else if (slot.list_of_[resource]) {
      for (opencl::AppendList* list : slot.lists_) list->make(slot.queue);
    }
  });
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (slot.on_device_[stage]) call_make_scratch(slot, workspace, stage);
  }
}

void OpenClStageBase::prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const {
  OpenClSlotBase& s = own_slot(slot);
  const PictureView frame = frame_of(workspace);
  s.planned_.update(
      frame.size(), partition_of(workspace), [&] { call_plan_geometry(s, workspace); },
      [&] { call_plan_work(s, workspace); });
  plan_mapping(s, on_device);
  make_memory(s, workspace);
  for (const OpenClSlotBase::Segment& segment : s.segments_) {
    // The CPU writes its output for the device directly into transfer memory.
    for_each(segment.uploads, [&](std::size_t resource) {
      if (InterStageBuffer* const memory = memory_of(workspace, resource))
        memory->bind(s.memory_[resource].host_writes());
    });
    for (std::size_t stage = segment.first; stage < segment.last; ++stage) {
      for_each(processor_->stages()[stage].writes - segment.uploads, [&](std::size_t resource) {
        if (memory_of(workspace, resource)) s.memory_[resource].to_device_unwritten();
      });
    }
    for_each(segment.downloads, [&](std::size_t resource) {
      if (opencl::AppendList* const list = s.list_of_[resource]) list->make_readable(s.queue);
    });
  }
}

void OpenClStageBase::begin_stage(OpenClSlotBase& slot, std::size_t stage) const {
  slot.stage_ = stage;
  slot.stage_name_ = processor_->stages()[stage].name;
}

void OpenClStageBase::enqueue_stage(OpenClSlotBase& slot, const Workspace& workspace,
                                    std::size_t stage) const {
  begin_stage(slot, stage);
  call_enqueue(slot, workspace, stage);
}

void OpenClStageBase::submit(std::span<const DeviceWork> frames, std::size_t first, std::size_t last,
                             SubmitParts parts) const {
  std::vector<OpenClSlotBase*> together;
  for (const DeviceWork& one : frames) {
    OpenClSlotBase& slot = own_slot(*one.slot);
    if (includes(parts, SubmitParts::inputs)) bring_in_all(slot, *one.workspace, first, last);
    if (frames.size() > 1) together.push_back(&slot);
  }
  for (std::size_t stage = first; stage < last && includes(parts, SubmitParts::stages); ++stage) {
    for (OpenClSlotBase* slot : together) begin_stage(*slot, stage);
    if (!together.empty() && enqueue_together(together, stage)) {
      for (OpenClSlotBase* slot : together) slot->spans.back().frames = static_cast<int>(together.size());
      continue;
    }
    for (const DeviceWork& one : frames) enqueue_stage(own_slot(*one.slot), *one.workspace, stage);
  }
  for (const DeviceWork& one : frames) {
    OpenClSlotBase& slot = own_slot(*one.slot);
    if (includes(parts, SubmitParts::outputs)) bring_out_all(slot, *one.workspace);
    slot.queue.flush();
  }
}

void OpenClStageBase::bring_in_all(OpenClSlotBase& s, Workspace& workspace, std::size_t first,
                                   std::size_t last) const {
  s.again_ = false;
  s.spans.clear();
  s.done = {};
  const auto segment = std::find_if(s.segments_.begin(), s.segments_.end(),
                                    [&](const DeviceSegment& one) { return one.first == first; });
  if (segment == s.segments_.end() || segment->last != last)
    throw std::logic_error("stages are submitted that the slot is not prepared for");
  s.submitted_ = &*segment;
  const PictureView frame = frame_of(workspace);
  for_each(segment->uploads, [&](std::size_t resource) {
    if (resource == kFrameResource) {
      bring_in_frame(s, frame, first);
      return;
    }
    bring_in(s, workspace, resource);
    s.add(DeviceSpan::Kind::upload, first, "upload", s.memory_[resource].to_device());
  });
}

void OpenClStageBase::bring_out_all(OpenClSlotBase& s, Workspace& workspace) const {
  const OpenClSlotBase::Segment& segment = *s.submitted_;
  const auto add = [&](opencl::Event event) {
    if (!event) return;
    s.add(DeviceSpan::Kind::download, segment.last - 1, "download", event);
    s.done = std::move(event);
  };
  s.done = {};
  for_each(segment.downloads | segment.host_again, [&](std::size_t resource) {
    InterStageBuffer* const memory = memory_of(workspace, resource);
    if (!memory) {
      add(call_read(s, resource));
      return;
    }
    opencl::SharedBuffer& shared = s.memory_[resource];
    add(segment.downloads.contains(resource) ? shared.to_host() : shared.to_host_unchanged());
    memory->bind(shared.host());
  });
  if (!s.done) s.done = s.queue.marker();  // nothing comes back yet
}

void OpenClStageBase::bring_in_frame(OpenClSlotBase& slot, const PictureView& frame,
                                     std::size_t stage) const {
  SharedFrameUpload* const shared = slot.shared_frame;
  const cl_int stride = slot.luma_stride();
  if (shared && shared->ready && (shared->rgb || !reads_colour())) {
    const auto copy = [&](const void* from, const opencl::Buffer& to, std::size_t bytes) {
      slot.add(DeviceSpan::Kind::upload, stage, "copy",
               slot.queue.copy_after(shared->ready, *static_cast<const opencl::Buffer*>(from), to, bytes));
    };
    copy(shared->luma, slot.luma(), static_cast<std::size_t>(stride) * frame.height());
    if (reads_colour()) copy(shared->rgb, slot.rgb(), opencl::ColourInput::bytes_of(frame.size(), stride));
    return;
  }
  opencl::Event ready = slot.input_.upload(slot.queue, frame, slot.luma(), stride);
  slot.add(DeviceSpan::Kind::upload, stage, "upload", ready);
  const auto converted = [&](opencl::Event event) {
    ready = std::move(event);
    slot.add(DeviceSpan::Kind::stage, stage, processor_->stages()[stage].name, ready);
  };
  if (!frame.is_gray()) converted(slot.input_.convert(slot.queue, frame, slot.luma(), stride));
  if (reads_colour()) {
    if (opencl::Event chroma = slot.colour_.upload(slot.queue, frame))
      slot.add(DeviceSpan::Kind::upload, stage, "upload", std::move(chroma));
    const opencl::Buffer& pixels = frame.is_gray() ? slot.luma() : slot.input_.packed();
    converted(slot.colour_.convert(slot.queue, frame, pixels, stride));
  }
  if (shared) *shared = {&slot.luma(), reads_colour() ? &slot.rgb() : nullptr, std::move(ready)};
}

// The device can already read output of CPU stages, but not output of another device.
void OpenClStageBase::bring_in(OpenClSlotBase& slot, Workspace& workspace, std::size_t resource) const {
  InterStageBuffer& memory = *memory_of(workspace, resource);
  opencl::SharedBuffer& shared = slot.memory_[resource];
  if (memory.data() == shared.host()) return;
  std::byte* const target = shared.host_writes();
  std::memcpy(target, memory.data(), memory.bytes());
  memory.bind(target);
}

void OpenClStageBase::complete(DeviceSlot& slot, Workspace& workspace) const {
  OpenClSlotBase& s = own_slot(slot);
  for_each(s.submitted_->downloads, [&](std::size_t resource) {
    if (memory_of(workspace, resource)) return;
    if (s.list_of_[resource]) finish_list(s, workspace, resource);
    call_take(s, workspace, resource);
  });
}

void OpenClStageBase::finish_list(OpenClSlotBase& slot, const Workspace& workspace,
                                  std::size_t resource) const {
  slot.list_of_[resource]->finish_read(slot.queue, opencl::count_windows(slot.windows),
                                       [&](std::size_t capacity) {
                                         for (opencl::AppendList* list : slot.lists_)
                                           list->make(slot.queue, capacity);
                                         slot.again_ = true;
                                         call_refill(slot, workspace, resource);
                                         slot.again_ = false;
                                       });
}

void OpenClStageBase::refill_stages(OpenClSlotBase& slot, const Workspace& workspace) const {
  bool fills = false;
  for (std::size_t stage = slot.submitted_->first; stage < slot.submitted_->last; ++stage) {
    for_each(processor_->stages()[stage].writes,
             [&](std::size_t resource) { fills = fills || slot.list_of_[resource]; });
    if (fills) enqueue_stage(slot, workspace, stage);
  }
}

opencl::Event OpenClStageBase::read_list(OpenClSlotBase& slot, std::size_t resource) {
  return slot.list_of_[resource]->read(slot.queue);
}

void OpenClStageBase::read_back(DeviceSlot& slot, Workspace& workspace, std::size_t resource) const {
  OpenClSlotBase& s = own_slot(slot);
  InterStageBuffer& memory = *memory_of(workspace, resource);
  memory.bind(nullptr);
  s.queue.wait(s.queue.read(s.buffer(resource), memory.data(), memory.bytes()));
}

}  // namespace sightline
