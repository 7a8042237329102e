#pragma once
/// A processor's stages on an OpenCL device that they keep open.

#include <memory>
#include <utility>

#include "opencl/opened_device.hpp"

namespace sightline {

struct SharedDevice {
  std::shared_ptr<opencl::OpenedDevice> device;
};

/// `Stages` with the device that they run on, which others may share. The processor must outlive the object.
/// Thread-safety: as for `Stages`.
// SharedDevice is a base, so that the device is there before the stages.
template <typename Stages>
class StagesOnDevice : private SharedDevice, public Stages {
 public:
  /// @param more  what the stages' constructor takes after processor, context and cache
  /// Throws what building the stages does.
  StagesOnDevice(const auto& processor, std::shared_ptr<opencl::OpenedDevice> opened, const auto&... more)
      : SharedDevice{std::move(opened)},
        Stages(processor, SharedDevice::device->context, &SharedDevice::device->cache, more...) {}
};

}  // namespace sightline
