#pragma once
/// What a tuner may begin with.

#include "characterisation/characteristics.hpp"
#include "opencl/tuning.hpp"

namespace sightline::characterisation {

/// The decisions `work_group`, `vector_width` and `local_memory`; unknown where a processor has none.
opencl::DeviceHints hints_of(const Characteristics& processor);

}  // namespace sightline::characterisation
