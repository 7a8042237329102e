#pragma once
/// The version of SDL.

#include "base/versions.hpp"

namespace sightline::display {

LibraryVersion sdl_version();

}  // namespace sightline::display
