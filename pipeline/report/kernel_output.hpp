#pragma once
/// Tables of the resources that kernels take.

#include <vector>

#include "opencl/kernel_resources.hpp"
#include "pipeline/report/document.hpp"

namespace sightline::report {

/// A row a kernel; "unknown" where the driver states nothing.
Table kernel_table(const std::vector<opencl::KernelResources>& kernels);

/// Explanation of the table's columns.
inline constexpr const char* kKernelGuide =
    "Registers, spills (bytes of stores and loads) and private memory are those of a work-item, local memory "
    "is "
    "that of a work-group. Occupancy is theoretical: the share of a compute unit's sub-groups that "
    "work-groups "
    "of this kernel can fill, by the formula of NVIDIA's calculator. Only NVIDIA's driver states registers.";

}  // namespace sightline::report
