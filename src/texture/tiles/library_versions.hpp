#pragma once
/// The versions of the libraries that read and write large pictures.

#include <vector>

#include "base/versions.hpp"

namespace sightline::tiles {

/// Of each library that is linked.
std::vector<LibraryVersion> library_versions();

}  // namespace sightline::tiles
