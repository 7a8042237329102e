#pragma once
/// What the tests of OpenCL kernels share.

#include <vector>

#include "opencl/context.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::test {

/// The devices whose results equal the CPU's. oclgrind does not claim correctly rounded roots, but computes
/// them on the host.
std::vector<opencl::DeviceInfo> exact_devices();

/// Kept from run to run: its keys name driver, source and options.
opencl::ProgramCache program_cache();

}  // namespace sightline::test
