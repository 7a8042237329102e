#pragma once
/// A device in use, for all that run on it together.

#include "opencl/context.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::opencl {

/// A device's context with the user's cache of programs. Thread-safety: as for both.
struct OpenedDevice {
  /// Throws as Context does.
  explicit OpenedDevice(const ChosenDevice& chosen)
      : context(chosen), cache(ProgramCache::default_folder()) {}

  Context context;
  ProgramCache cache;
};

}  // namespace sightline::opencl
