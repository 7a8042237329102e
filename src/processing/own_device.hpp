#pragma once
/// A processor's stages on an OpenCL device that they own.

#include "opencl/context.hpp"
#include "opencl/program_cache.hpp"

namespace sightline {

struct OwnDevice {
  opencl::Context context;
  opencl::ProgramCache cache;
};

/// `Stages` with a context of their own, and the user's cache of programs. The
/// processor must outlive the object. Thread-safety: as for `Stages`.
// OwnDevice is a base, so that the device is there before the stages.
template <typename Stages>
class StagesOnOwnDevice : private OwnDevice, public Stages {
 public:
  /// @param more  what the stages' constructor takes after processor, context and cache
  /// Throws what opening the device and building the stages does.
  StagesOnOwnDevice(const auto& processor, const opencl::ChosenDevice& device, const auto&... more)
      : OwnDevice{opencl::Context(device), opencl::ProgramCache(opencl::ProgramCache::default_folder())},
        Stages(processor, OwnDevice::context, &cache, more...) {}
};

}  // namespace sightline
