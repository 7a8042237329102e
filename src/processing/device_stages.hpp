#pragma once
/// A frame processor's stages on a device, as the pipeline drives them.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "processing/device.hpp"
#include "processing/frame_processor.hpp"

namespace sightline {

/// The names of a processor's stages, in order.
std::vector<std::string_view> stage_names(const FrameProcessor& processor);

/// Commands on the device that belong together: the launches of one stage (or of a named part of it), or a
/// copy.
struct DeviceSpan {
  enum class Kind { upload, stage, download };
  Kind kind = Kind::stage;
  std::size_t stage = 0;  ///< of the processor: the one that runs, or that the copy is for
  std::string_view name;  ///< of the part, for people
  DeviceEvent first;
  DeviceEvent last;  ///< empty where there is one command

  const DeviceEvent& end() const { return last ? last : first; }
  /// From the start of the first command to the end of the last. Throws DeviceError.
  double seconds(const std::string& device) const;
};

/// From the start of one command to the end of another, on the device's clock. Throws DeviceError.
double seconds_between(const DeviceEvent& first, const DeviceEvent& last, const std::string& device);

/// One frame in flight on a device: its queue and buffers. Made by DeviceStages. One thread at a time.
class DeviceSlot {
 public:
  DeviceSlot() = default;
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;
  virtual ~DeviceSlot() = default;

  /// Appends a command to the span of that name, if that is the last one, or begins a span.
  void add(DeviceSpan::Kind kind, std::size_t stage, std::string_view name, DeviceEvent event);

  std::vector<DeviceSpan> spans;  ///< of the last `submit`, in the order of the device
  DeviceEvent done;               ///< of the last `submit`
  /// Frame that other slots of the same device share with this one; null: none. To be emptied
  /// before a frame is prepared, and flushed after every `submit`.
  SharedFrameUpload* shared_frame = nullptr;
};

/// Thread-safety: immutable after construction; slots are independent.
class DeviceStages {
 public:
  DeviceStages() = default;
  DeviceStages(const DeviceStages&) = delete;
  DeviceStages& operator=(const DeviceStages&) = delete;
  virtual ~DeviceStages() = default;

  virtual const ComputeDevice& device() const = 0;
  /// The stages that can run on the device.
  virtual StageSet supported() const = 0;
  /// Throws Error (usage) where the stages can each run on the device, but not in this combination.
  /// @param names  of the stages for people, who may know them as parts of another processor
  virtual void check(const StageSet& /*on_device*/, std::span<const std::string_view> /*names*/) const {}
  virtual std::unique_ptr<DeviceSlot> make_slot() const = 0;

  /// Readies slot and workspace, in which the processor has prepared a frame, for stages running where
  /// `on_device` says. Throws DeviceError.
  virtual void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const = 0;
  /// Enqueues stages [first, last), all of them in `on_device`, with the copies that bring in what `first`
  /// reads and take out what the stage before `last` writes where the CPU has a part in it. Returns at once;
  /// `slot.done` is complete when all of it is. Throws DeviceError.
  virtual void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const = 0;
  /// Once `slot.done` is complete: what remains for the host to do before the workspace's next stage. Throws
  /// DeviceError.
  virtual void complete(DeviceSlot& slot, Workspace& workspace) const = 0;

  /// Whether the three steps that `submit` consists of can be had one by one, for measuring:
  /// `submit_inputs`, then `submit_stage` for each of them, then `submit_outputs`. A stage may be submitted
  /// again before the next one is: whether it then leaves what it left before depends on the stage.
  virtual bool runs_in_steps() const { return false; }
  /// Enqueues the copies that bring in what stages [first, last) read, hands them to the device, and empties
  /// `slot.spans`.
  virtual void submit_inputs(DeviceSlot& slot, Workspace& workspace, std::size_t first,
                             std::size_t last) const;
  /// Enqueues one of these stages, and hands it to the device. Adds to `slot.spans`.
  virtual void submit_stage(DeviceSlot& slot, Workspace& workspace, std::size_t stage) const;
  /// Enqueues the copies that take out what the stages have left; `slot.done` is complete when all is.
  virtual void submit_outputs(DeviceSlot& slot, Workspace& workspace) const;
};

}  // namespace sightline
