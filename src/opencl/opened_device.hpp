#pragma once
/// An open device, shared by all its users.

#include <memory>
#include <utility>

#include "opencl/context.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::opencl {

/// A device's context with the user's cache of programs. Thread-safety: as for both.
struct OpenedDevice final : Context {
  /// Throws as Context does.
  explicit OpenedDevice(const ChosenDevice& chosen,
                        ProgramCache programs = ProgramCache(ProgramCache::default_folder()))
      : Context(chosen), cache(std::move(programs)) {}

  mutable ProgramCache cache;
};

/// Throws std::bad_cast for another kind of device.
inline const OpenedDevice& opened_from(const ComputeDevice& device) {
  return dynamic_cast<const OpenedDevice&>(device);
}
/// Null for another kind of device.
inline std::shared_ptr<OpenedDevice> opened_from(const std::shared_ptr<ComputeDevice>& device) {
  return std::dynamic_pointer_cast<OpenedDevice>(device);
}

}  // namespace sightline::opencl
