#pragma once
/// The libraries that Sightline is built on, for reports of what ran.

#include <vector>

#include "base/versions.hpp"

namespace sightline {

/// The versions, in the order of presentation. Loads nothing and asks no OpenCL platform: safe on any
/// machine.
std::vector<LibraryVersion> library_versions();

}  // namespace sightline
