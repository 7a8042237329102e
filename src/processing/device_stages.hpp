#pragma once
/// Device implementation of a frame processor's stages; the pipeline drives it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "processing/frame_processor.hpp"

namespace sightline {

/// A frame's pixels on a device, shared by slots that work on the same frame. The first slot uploads them.
struct SharedFrameUpload {
  const void* luma = nullptr;  ///< implementation's buffer, owned by the slot that uploaded it
  const void* rgb = nullptr;   ///< the same of planar RGB; null if the slot reads luma only
  DeviceEvent ready;           ///< completes when the upload has; empty: not yet uploaded
};

/// Group of device commands: the launches of one stage (or of a named part of it), or a copy.
struct DeviceSpan {
  enum class Kind { upload, stage, download };
  Kind kind = Kind::stage;
  std::size_t stage = 0;  ///< number of the stage that runs, or that the copy is for
  std::string_view name;  ///< displayed name of the part
  DeviceEvent first;
  DeviceEvent last;  ///< empty for a single command
  int frames = 1;    ///< frames that the commands work for; see DeviceStages::submit

  const DeviceEvent& end() const { return last ? last : first; }
  /// Seconds from the start of the first command to the end of the last. Throws DeviceError.
  double seconds(const std::string& device) const;
};

/// Seconds from the start of one command to the end of another, on the device's clock. Throws DeviceError.
double seconds_between(const DeviceEvent& first, const DeviceEvent& last, const std::string& device);

/// Queue and buffers of one frame in flight on a device. Made by DeviceStages. Thread-safety: one thread at a
/// time.
class DeviceSlot {
 public:
  DeviceSlot() = default;
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;
  virtual ~DeviceSlot() = default;

  /// Appends a command to the last span if that has the same name; otherwise begins a span.
  void add(DeviceSpan::Kind kind, std::size_t stage, std::string_view name, DeviceEvent event);

  std::vector<DeviceSpan> spans;  ///< spans of the last `submit`, in execution order
  DeviceEvent done;               ///< end of the last `submit`
  /// Upload that this slot shares with other slots of the same device; null: not shared. The owner empties it
  /// before each frame is prepared, and flushes the queue after every `submit`: other slots wait for it.
  SharedFrameUpload* shared_frame = nullptr;
};

/// Reason why a device cannot run a combination of supported stages.
struct MappingConflict {
  enum class Kind {
    input,   ///< `stage` reads on the device what `other` leaves on the CPU, and that cannot be copied
    output,  ///< `stage` leaves on the device what `other` reads on the CPU, and that cannot be copied
    host,    ///< objects pass from `other` to `stage` through host memory, so one of them runs on the CPU
    apart,   ///< `other` and `stage` are submitted together, but a stage between them runs on the CPU
  };
  Kind kind = Kind::input;
  std::size_t stage = 0;
  std::size_t other = 0;
  friend bool operator==(const MappingConflict&, const MappingConflict&) = default;
};

/// Parts of a submission, for measurements.
enum class SubmitParts : std::uint8_t { inputs = 1, stages = 2, outputs = 4, all = 7 };

inline bool includes(SubmitParts parts, SubmitParts one) {
  return (static_cast<unsigned>(parts) & static_cast<unsigned>(one)) != 0;
}

/// A frame in a submission: its slot, and the workspace in which the processor has prepared it.
struct DeviceWork {
  DeviceSlot* slot;
  Workspace* workspace;
};

/// Device implementation of a frame processor's stages. Thread-safety: immutable after construction; slots
/// are independent.
class DeviceStages {
 public:
  DeviceStages() = default;
  DeviceStages(const DeviceStages&) = delete;
  DeviceStages& operator=(const DeviceStages&) = delete;
  virtual ~DeviceStages() = default;

  virtual const ComputeDevice& device() const = 0;
  /// The stages that can run on the device.
  virtual StageSet supported() const = 0;
  /// First reason why the device cannot run this combination of supported stages; none if it can.
  virtual std::optional<MappingConflict> check(const StageSet& /*on_device*/) const { return std::nullopt; }
  virtual std::unique_ptr<DeviceSlot> make_slot() const = 0;

  /// Whether the kernels are built. Until then `submit` waits for the compiler; the CPU can do the work
  /// meanwhile. Throws DeviceError if they cannot be built.
  virtual bool is_ready() const { return true; }
  /// Waits for all kernels that submissions of up to so many frames use, also those without which they run
  /// slower only: for measurements. Throws DeviceError.
  virtual void wait_until_ready(std::size_t /*frames*/) const {}

  /// Prepares the slot, and a workspace in which the processor has prepared a frame, for the mapping
  /// `on_device`. Throws DeviceError.
  virtual void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const = 0;
  /// Largest number of frames that makes one submission more efficient: a power of two. 1: the device gains
  /// nothing from several.
  virtual std::size_t most_together() const { return 1; }
  /// Enqueues stages [first, last) of one frame or several, with their uploads and the downloads that later
  /// CPU stages need. Does not wait for the device. All frames must be prepared for the same mapping, which
  /// has these stages on the device, and for the same operating point. The `done` of each slot completes when
  /// all commands for its frame have. A span of several frames is in each of their slots
  /// (DeviceSpan::frames). Results do not depend on which frames are submitted together. Throws DeviceError.
  /// @param parts  `all` or, if `divisible`, single parts in this order: `inputs` (clears `slot.spans`),
  ///               `stages` (one or several stages a call), `outputs` (sets `slot.done`). A stage may be
  ///               submitted several times before the next one; whether its output then stays the same
  ///               depends on the stage
  virtual void submit(std::span<const DeviceWork> frames, std::size_t first, std::size_t last,
                      SubmitParts parts) const = 0;
  /// The same of one frame.
  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last,
              SubmitParts parts = SubmitParts::all) const {
    const DeviceWork frame{&slot, &workspace};
    submit({&frame, 1}, first, last, parts);
  }
  /// Whether `submit` takes parts.
  virtual bool divisible() const { return false; }
  /// Finishes the host's part of the work after `slot.done` is complete, before the workspace's next stage.
  /// Throws DeviceError.
  virtual void complete(DeviceSlot& slot, Workspace& workspace) const = 0;
};

}  // namespace sightline
