#pragma once
/// OpenCL programs of the device benchmarks, listed so that all can be built before measurements start.

#include <string>
#include <vector>

#include "characterisation/benchmarks.hpp"

namespace sightline::characterisation {

inline const ProgramName kAccessProgram{"access.cl", ""};
inline const ProgramName kLatencyProgram{"latency.cl", ""};
inline const ProgramName kOperationsProgram{"arithmetic.cl", ""};
inline const ProgramName kBufferProgram{"image.cl", ""};
inline const ProgramName kImageProgram{"image.cl", "-DIMAGE"};
inline const ProgramName kAtomicsProgram{"atomics.cl", ""};
inline const ProgramName kLaunchProgram{"launch.cl", ""};

/// Program that reads vectors of `width` words, one of kReadWidths.
ProgramName read_program(int width);
inline constexpr int kReadWidths[] = {1, 2, 4, 8, 16};

/// Multiply-adds; each work-item has peak_lanes of them side by side.
ProgramName peak_program(const opencl::DeviceInfo& device, Number number);
int peak_lanes(const opencl::DeviceInfo& device, Number number);

/// A fixed amount of work, and branches.
ProgramName side_by_side_program(const opencl::DeviceInfo& device);

/// All programs that a device's benchmarks need, without duplicates.
std::vector<ProgramName> programs_of(const opencl::DeviceInfo& device);

}  // namespace sightline::characterisation
