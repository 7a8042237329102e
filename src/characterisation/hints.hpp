#pragma once
/// Starting points for the kernel tuner.

#include "characterisation/characteristics.hpp"
#include "opencl/tuning.hpp"

namespace sightline::characterisation {

/// The decisions `work_group`, `vector_width` and `local_memory`; unknown if a processor lacks them. All are
/// unknown for a CPU: its work-groups are loops of one thread, and the best copy there made kernel searches
/// longer (tests/benchmarks/README.md).
opencl::DeviceHints hints_of(const Characteristics& processor);

}  // namespace sightline::characterisation
