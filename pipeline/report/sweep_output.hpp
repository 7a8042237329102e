#pragma once
/// Sweeps of kernels' settings for people and programs. Private to the outputs; see measurement_output.hpp.

#include <nlohmann/json_fwd.hpp>

#include "pipeline/report/document.hpp"
#include "processing/opencl/kernel_sweep.hpp"

namespace sightline::pipeline {

/// A map of milliseconds, and the best place, the processor's own setting and others as a table.
report::Section sweep_section(const KernelSweep& sweep);

/// `{"name":..,"columns":[..],"rows":[..],"ms":[[..],..],"excess":[[..],..],"own":{"setting":..,"ms":..,..},
///   "best":{..},"others":[{..}]}`, a list of `ms` and of `excess` for each row; points have
/// `excess_by_kernel`, too.
nlohmann::ordered_json sweep_as_json(const KernelSweep& sweep);

/// The map as a picture, and, where windows are beyond shares, bars of these by kernel: those of the
/// processor's own setting, and of all others where they are few.
std::vector<report::Chart> sweep_charts(const KernelSweep& sweep);

}  // namespace sightline::pipeline
