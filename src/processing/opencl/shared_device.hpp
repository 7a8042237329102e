#pragma once
/// A processor's stages on an OpenCL device that they keep open.

#include <memory>
#include <utility>

#include "opencl/opened_device.hpp"
#include "processing/device_stages.hpp"

namespace sightline {

struct SharedDevice {
  std::shared_ptr<opencl::OpenedDevice> opened;
};

/// `Stages` with the device that they run on, which others may share. The processor must outlive the object.
/// Thread-safety: as for `Stages`.
// SharedDevice is a base, so that the device is there before the stages.
template <typename Stages>
class StagesOnDevice : private SharedDevice, public Stages {
 public:
  /// @param more  arguments of the stages' constructor after processor, context and cache Throws what the
  /// stages' constructor throws.
  StagesOnDevice(const auto& processor, std::shared_ptr<opencl::OpenedDevice> device, const auto&... more)
      : SharedDevice{std::move(device)}, Stages(processor, *opened, &opened->cache, more...) {}
};

/// Opens a device for the processor's stages; null if the processor has none. Throws as opencl::Context
/// and FrameProcessor::make_stages_on.
inline std::unique_ptr<DeviceStages> make_device_stages(const FrameProcessor& processor,
                                                        const opencl::ChosenDevice& device) {
  return processor.make_stages_on(opencl::open_device(device));
}

}  // namespace sightline
