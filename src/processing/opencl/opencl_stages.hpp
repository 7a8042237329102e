#pragma once
/// Base of the OpenCL stages of all families: uploads frames, passes memory from stage to stage and between
/// host and device, collects lists of candidates, and orders all of it.
///
/// The copies follow from the stage contract (stage_contract.hpp). A family derives from
/// OpenClStagesOf, and says in its constructor how each resource crosses between processors:
///
///     class BlobStages : public OpenClStagesOf<BlobWorkspace, BlobSlot> {
///      public:
///       BlobStages(const BlobDetector& detector, const opencl::Context& context, opencl::ProgramCache*
///       cache)
///           : OpenClStagesOf(detector, context, cache, {kSmooth, kFind}),
///             program_(program("blob/stages.cl", define("RADIUS", detector.radius()))) {
///         buffer(kSmoothed, &BlobWorkspace::smoothed);  // an InterStageBuffer
///         list(kBlobs);                                 // an opencl::CandidateList of the slot
///       }
///       std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<BlobSlot>(*this); }
///
///      private:
///       void plan_geometry(BlobSlot& slot, const BlobWorkspace& w) const override { slot.windows = ...; }
///       void enqueue(BlobSlot& slot, const BlobWorkspace& w, std::size_t stage) const override {
///         if (stage == kSmooth) {
///           slot.smooth.arguments(slot.luma(), slot.luma_stride(), slot.buffer(kSmoothed), ...);
///           slot.launch(slot.smooth, {{...}, {...}});
///         } else { ... slot.found.clear(...) ... }
///       }
///       void take(BlobSlot& slot, BlobWorkspace& w, std::size_t) const override {
///         for (const Found& f : slot.found.sorted(slot.queue, slot.windows)) w.blobs.push_back(...);
///       }
///     };
///
/// The slot (OpenClSlotBase) has the kernels, since a kernel's arguments are state, and what only the device
/// works with. `StagesOnDevice` (shared_device.hpp) makes FrameProcessor::make_stages_on short.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opencl/candidate_list.hpp"
#include "opencl/colour_input.hpp"
#include "opencl/context.hpp"
#include "opencl/frame_input.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"
#include "opencl/shared_buffer.hpp"
#include "processing/device_stages.hpp"
#include "processing/inter_stage_buffer.hpp"
#include "processing/planned_frame.hpp"

namespace sightline {

class OpenClStageBase;

/// One frame in flight on one device: its queue, its kernels and its memory there. Thread-safety: one thread
/// at a time.
class OpenClSlotBase : public DeviceSlot {
 public:
  /// Throws DeviceError.
  explicit OpenClSlotBase(const OpenClStageBase& stages);

  opencl::Queue queue;
  /// The windows of every level, where the family has lists; its `plan_geometry` sets them.
  std::vector<opencl::WindowGrid> windows;
  /// Bytes of `luma()`, where the family wants further data behind the frame's; its `plan_geometry` sets it.
  std::size_t luma_bytes = 0;

  /// Device memory of a resource that a stage on the device reads or writes.
  const opencl::Buffer& buffer(std::size_t resource) const { return memory_[resource].device(); }
  /// The frame's luma on the device: bytes [y][x], luma_stride() from row to row.
  const opencl::Buffer& luma() const { return buffer(kFrameResource); }
  cl_int luma_stride() const { return (planned_.size().width + 63) / 64 * 64; }
  /// The frame's planar RGB (image/colour.hpp), in rows of the same stride, if the processor reads colour.
  const opencl::Buffer& rgb() const { return colour_.rgb(); }

  /// Whether a stage of the frame that is prepared runs on the device.
  bool on_device(std::size_t stage) const { return on_device_[stage]; }
  /// Stages that are enqueued together: the first, and one past the last.
  std::size_t first_submitted() const { return submitted_->first; }
  std::size_t last_submitted() const { return submitted_->last; }

  /// For `enqueue`: a command of the stage that is enqueued, under the stage's name or a part's. The name
  /// must outlive the slot.
  void launched(opencl::Event event) { launched(stage_name_, std::move(event)); }
  void launched(std::string_view part, opencl::Event event);
  void launch(const opencl::Kernel& kernel, const opencl::NDRange& range) {
    launched(kernel.enqueue(queue, range));
  }
  void launch(std::string_view part, const opencl::Kernel& kernel, const opencl::NDRange& range) {
    launched(part, kernel.enqueue(queue, range));
  }

  /// Makes a buffer of the device's own where it is not there yet or too small. Throws DeviceError.
  void fit(opencl::Buffer& buffer, std::int64_t bytes) const;

 protected:
  /// Registers a list of the slot's, for its constructor. All lists have room for equally many records, so
  /// that one may be made from another.
  void has_list(opencl::AppendList& list) { lists_.push_back(&list); }
  /// The same for a list that is a resource.
  void has_list(opencl::AppendList& list, std::size_t resource) {
    has_list(list);
    list_of_[resource] = &list;
  }

 private:
  friend class OpenClStageBase;

  struct Segment : DeviceSegment {
    ResourceSet host_again;  ///< uploads that a stage on the CPU reads once more, as they were
  };

  PlannedFrame planned_;
  StageSet on_device_;
  std::vector<Segment> segments_;  ///< segments of `on_device_`
  const Segment* submitted_ = nullptr;
  opencl::FrameInput input_;
  opencl::ColourInput colour_;
  std::array<opencl::SharedBuffer, kMostStages> memory_;  ///< by resource
  std::array<opencl::AppendList*, kMostStages> list_of_{};
  std::vector<opencl::AppendList*> lists_;
  std::size_t stage_ = 0;  ///< stage being enqueued
  std::string_view stage_name_;
  bool again_ = false;  ///< commands are part of no span
};

/// Stages of a frame processor on one device. Thread-safety: as DeviceStages.
class OpenClStageBase : public DeviceStages {
 public:
  const ComputeDevice& device() const final { return *context_; }
  const opencl::Context& context() const { return *context_; }
  StageSet supported() const final { return supported_; }
  /// Finds a resource that would have to be copied and cannot be.
  std::optional<MappingConflict> check(const StageSet& on_device) const override;
  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const final;
  using DeviceStages::submit;
  void submit(std::span<const DeviceWork> frames, std::size_t first, std::size_t last,
              SubmitParts parts) const final;
  bool divisible() const final { return true; }
  void complete(DeviceSlot& slot, Workspace& workspace) const final;

  /// Copies a resource of the last frame from the device into the workspace's own memory, and waits: for
  /// comparisons. Throws DeviceError.
  void read_back(DeviceSlot& slot, Workspace& workspace, std::size_t resource) const;

  const FrameProcessor& processor() const { return *processor_; }
  /// For slots.
  const opencl::Program& gray_program() const { return gray_; }
  const opencl::Program& colour_program() const { return colour_; }
  bool reads_colour() const { return sightline::reads_colour(*processor_); }

 protected:
  /// @param stages  that the family has kernels for
  /// Everything passed must outlive the object; `cache` may be null. Throws DeviceError.
  OpenClStageBase(const FrameProcessor& processor, const opencl::Context& context,
                  opencl::ProgramCache* cache, std::initializer_list<std::size_t> stages);

  /// One more stage that the family has kernels for, for its constructor.
  void support(std::size_t stage) { supported_.set(stage); }

  /// Builds a file of kernels/; see opencl::Program. Throws DeviceError.
  opencl::Program program(const std::string& file, const std::string& options = "",
                          std::string_view generated = {}) const {
    return {*context_, file, options, cache_, generated};
  }

  /// The resource is read back and handed to `take`; it does not go to the device.
  void list(std::size_t resource) { downloads_.insert(resource); }

  /// Enqueues a stage of several frames at once, each of them at work on its slot's queue. False: the stage
  /// is enqueued for one after the other.
  virtual bool enqueue_together(std::span<OpenClSlotBase* const> /*slots*/, std::size_t /*stage*/) const {
    return false;
  }

  void refill_stages(OpenClSlotBase& slot, const Workspace& workspace) const;
  static opencl::Event read_list(OpenClSlotBase& slot, std::size_t resource);

  ResourceSet uploads_{kFrameResource};  ///< resources that can go to the device
  ResourceSet downloads_;                ///< resources that can come from there

 private:
  // The family's part, as OpenClStagesOf hands it on; see there.
  virtual PictureView frame_of(const Workspace& workspace) const = 0;
  virtual Partition partition_of(const Workspace& workspace) const = 0;
  virtual InterStageBuffer* memory_of(Workspace& workspace, std::size_t resource) const = 0;
  virtual std::size_t call_bytes_of(const OpenClSlotBase&, Workspace&, std::size_t resource) const = 0;
  virtual void call_plan_geometry(OpenClSlotBase&, const Workspace&) const = 0;
  virtual void call_plan_work(OpenClSlotBase&, const Workspace&) const = 0;
  virtual void call_make_scratch(OpenClSlotBase&, const Workspace&, std::size_t stage) const = 0;
  virtual void call_enqueue(OpenClSlotBase&, const Workspace&, std::size_t stage) const = 0;
  virtual void call_refill(OpenClSlotBase&, const Workspace&, std::size_t resource) const = 0;
  virtual opencl::Event call_read(OpenClSlotBase&, std::size_t resource) const = 0;
  virtual void call_take(OpenClSlotBase&, Workspace&, std::size_t resource) const = 0;

  void bring_in_all(OpenClSlotBase& slot, Workspace& workspace, std::size_t first, std::size_t last) const;
  void bring_out_all(OpenClSlotBase& slot, Workspace& workspace) const;
  void bring_in_frame(OpenClSlotBase& slot, const PictureView& frame, std::size_t stage) const;
  void bring_in(OpenClSlotBase& slot, Workspace& workspace, std::size_t resource) const;
  void plan_mapping(OpenClSlotBase& slot, const StageSet& on_device) const;
  void make_memory(OpenClSlotBase& slot, Workspace& workspace) const;
  void begin_stage(OpenClSlotBase& slot, std::size_t stage) const;
  void enqueue_stage(OpenClSlotBase& slot, const Workspace& workspace, std::size_t stage) const;
  void finish_list(OpenClSlotBase& slot, const Workspace& workspace, std::size_t resource) const;

  const FrameProcessor* processor_;
  const opencl::Context* context_;
  opencl::ProgramCache* cache_;
  StageSet supported_;
  opencl::Program gray_, colour_;
};

/// Base class of a family's stages.
/// @tparam FrameWorkspace  its Workspace, with a member `frame` (PictureView) and, where frames are
/// partitioned,
///                         `planned` (PlannedFrame)
/// @tparam Slot            its slot, derived from OpenClSlotBase
template <typename FrameWorkspace, typename Slot>
class OpenClStagesOf : public OpenClStageBase {
 protected:
  using OpenClStageBase::OpenClStageBase;

  /// The resource is an inter-stage buffer of the workspace's, which crosses both ways: the CPU reads and
  /// writes right in memory that the device takes it from or leaves it in.
  void buffer(std::size_t resource, InterStageBuffer FrameWorkspace::*memory) {
    memory_[resource] = memory;
    uploads_.insert(resource);
    downloads_.insert(resource);
  }
  /// The resource has memory on the device like that of the workspace's, and stays there.
  void device_only(std::size_t resource, InterStageBuffer FrameWorkspace::*memory) {
    memory_[resource] = memory;
  }

  /// Geometry and tables for the workspace's frame; called where its size has changed. May wait.
  virtual void plan_geometry(Slot& /*slot*/, const FrameWorkspace& /*workspace*/) const {}
  /// Work lists for the workspace's partition; called where that has changed, or the size. May wait.
  virtual void plan_work(Slot& /*slot*/, const FrameWorkspace& /*workspace*/) const {}
  /// Makes buffers that the stage needs besides resources, where they are not there yet.
  virtual void make_scratch(Slot& /*slot*/, const FrameWorkspace& /*workspace*/,
                            std::size_t /*stage*/) const {}
  /// Enqueues the commands of a stage on `slot.queue` and tells `slot.launched` of them.
  virtual void enqueue(Slot& slot, const FrameWorkspace& workspace, std::size_t stage) const = 0;
  /// Enqueues again what fills a list that was too short and has room now: by default the stages, of those
  /// that have just run on the device, from the first on that writes a list.
  virtual void refill(Slot& slot, const FrameWorkspace& workspace, std::size_t /*resource*/) const {
    refill_stages(slot, workspace);
  }
  /// Enqueues the transfer to the host of a resource without an inter-stage buffer. By default it is a list.
  virtual opencl::Event read(Slot& slot, std::size_t resource) const { return read_list(slot, resource); }
  /// Copies the data read from the device for such a resource to the workspace.
  virtual void take(Slot& /*slot*/, FrameWorkspace& /*workspace*/, std::size_t /*resource*/) const {}
  /// The inter-stage buffer of a resource; null: it has none.
  virtual InterStageBuffer* buffer_of(FrameWorkspace& workspace, std::size_t resource) const {
    return memory_[resource] ? &(workspace.*memory_[resource]) : nullptr;
  }
  /// Bytes of a resource's memory on the device.
  virtual std::size_t bytes_of(const Slot& /*slot*/, FrameWorkspace& workspace, std::size_t resource) const {
    return buffer_of(workspace, resource)->bytes();
  }

 private:
  static Slot& own(OpenClSlotBase& slot) { return static_cast<Slot&>(slot); }
  static const FrameWorkspace& own(const Workspace& workspace) {
    return static_cast<const FrameWorkspace&>(workspace);
  }
  static FrameWorkspace& own(Workspace& workspace) { return static_cast<FrameWorkspace&>(workspace); }

  PictureView frame_of(const Workspace& workspace) const final { return own(workspace).frame; }
  Partition partition_of(const Workspace& workspace) const final {
    if constexpr (requires(const FrameWorkspace& w) { w.planned.partition(); }) {
      return own(workspace).planned.partition();
    } else {
      return {};
    }
  }
  InterStageBuffer* memory_of(Workspace& workspace, std::size_t resource) const final {
    return buffer_of(own(workspace), resource);
  }
  std::size_t call_bytes_of(const OpenClSlotBase& slot, Workspace& workspace,
                            std::size_t resource) const final {
    return bytes_of(static_cast<const Slot&>(slot), own(workspace), resource);
  }
  void call_plan_geometry(OpenClSlotBase& slot, const Workspace& workspace) const final {
    plan_geometry(own(slot), own(workspace));
  }
  void call_plan_work(OpenClSlotBase& slot, const Workspace& workspace) const final {
    plan_work(own(slot), own(workspace));
  }
  void call_make_scratch(OpenClSlotBase& slot, const Workspace& workspace, std::size_t stage) const final {
    make_scratch(own(slot), own(workspace), stage);
  }
  void call_enqueue(OpenClSlotBase& slot, const Workspace& workspace, std::size_t stage) const final {
    enqueue(own(slot), own(workspace), stage);
  }
  void call_refill(OpenClSlotBase& slot, const Workspace& workspace, std::size_t resource) const final {
    refill(own(slot), own(workspace), resource);
  }
  opencl::Event call_read(OpenClSlotBase& slot, std::size_t resource) const final {
    return read(own(slot), resource);
  }
  void call_take(OpenClSlotBase& slot, Workspace& workspace, std::size_t resource) const final {
    take(own(slot), own(workspace), resource);
  }

  std::array<InterStageBuffer FrameWorkspace::*, kMostStages> memory_{};  ///< by resource; null: none
};

}  // namespace sightline
