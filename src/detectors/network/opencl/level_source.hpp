#pragma once
/// Kernels of a network's levels as OpenCL C, in which the tables' entries are constants: behind level.cl.

#include <span>
#include <string>

#include "detectors/network/opencl/level_tables.hpp"

namespace sightline::network {

/// Kernels of some of the launches: `level0` of launch 0, `level1`, ...
std::string level_source(const LevelTables& tables, std::span<const std::size_t> launches);

}  // namespace sightline::network
