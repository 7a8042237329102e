#pragma once
/// The versions of the libraries that read and write large pictures.

#include <vector>

#include "base/versions.hpp"

namespace sightline::tiles {

/// Versions of all linked libraries.
std::vector<LibraryVersion> library_versions();

}  // namespace sightline::tiles
