#pragma once
/// A detector's stages on an OpenCL device, as the pipeline drives them.

#include <bitset>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "detection/detector.hpp"
#include "opencl/context.hpp"

namespace sightline {

/// Which of a detector's stages run on the device; the others run on the CPU.
using StageSet = std::bitset<16>;

/// Commands on the device that belong together: the launches of one stage, or a copy.
struct DeviceSpan {
  enum class Kind { upload, stage, download };
  Kind kind = Kind::stage;
  std::size_t stage = 0;  ///< of the detector: the one that runs, or that the copy is for
  opencl::Event first;
  opencl::Event last;  ///< may be the same as `first`
};

/// One frame in flight on a device: its queue and buffers. Made by DeviceStages. One thread at a time.
class DeviceSlot {
 public:
  DeviceSlot() = default;
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;
  virtual ~DeviceSlot() = default;

  std::vector<DeviceSpan> spans;  ///< of the last `submit`, in the order of the device
  opencl::Event done;             ///< of the last `submit`
};

/// Thread-safety: immutable after construction; slots are independent.
class DeviceStages {
 public:
  DeviceStages() = default;
  DeviceStages(const DeviceStages&) = delete;
  DeviceStages& operator=(const DeviceStages&) = delete;
  virtual ~DeviceStages() = default;

  virtual const opencl::Context& context() const = 0;
  /// The stages that can run on the device.
  virtual StageSet supported() const = 0;
  virtual std::unique_ptr<DeviceSlot> make_slot() const = 0;

  /// Readies slot and workspace, in which the detector has prepared a frame, for stages running where
  /// `on_device` says. Throws DeviceError; Error (usage) for a mapping that this detector cannot do.
  virtual void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const = 0;
  /// Enqueues stages [first, last), all of them in `on_device`, with the copies that bring in what `first`
  /// reads and take out what the stage before `last` writes where the CPU has a part in it. Returns at once;
  /// `slot.done` is complete when all of it is. Throws DeviceError.
  virtual void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const = 0;
  /// Once `slot.done` is complete: what remains for the host to do before the workspace's next stage. Throws
  /// DeviceError.
  virtual void complete(DeviceSlot& slot, Workspace& workspace) const = 0;
};

}  // namespace sightline
