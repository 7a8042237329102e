#pragma once
/// Kernels of a network's levels as OpenCL C, in which the tables' entries are constants: behind level.cl.

#include <string>

#include "detectors/network/opencl/level_tables.hpp"

namespace sightline::network {

/// Kernels `level0`, `level1`, ... of each launch.
std::string level_source(const LevelTables& tables);

}  // namespace sightline::network
