#pragma once
/// Version of the OpenCL loader.

#include "base/versions.hpp"

namespace sightline::opencl {

/// The OpenCL that the program is written for and the loader by its own words. Loading drivers, of which one
/// may crash, is no part of it: the loader is kept from it, and finds no device in this process from then on.
/// For a program that says its versions and ends.
LibraryVersion loader_version();

}  // namespace sightline::opencl
