#pragma once
/// What a tuner may begin with.

#include "characterisation/characteristics.hpp"
#include "opencl/tuning.hpp"

namespace sightline::characterisation {

/// The decisions `work_group`, `vector_width` and `local_memory`; unknown where a processor has none. Of a
/// CPU all are unknown: its work-groups are loops of one thread, and what copies best there made searches for
/// kernels longer, not shorter (tests/benchmarks/README.md).
opencl::DeviceHints hints_of(const Characteristics& processor);

}  // namespace sightline::characterisation
