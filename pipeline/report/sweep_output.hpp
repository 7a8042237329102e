#pragma once
/// Sweeps of kernels' settings for people and programs. Private to the outputs; see measurement_output.hpp.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "processing/opencl/kernel_sweep.hpp"

namespace sightline::pipeline {

/// A table of milliseconds, in pieces where there are many columns, and a line each on the best place, the
/// processor's own setting and others.
std::string sweep_as_text(const KernelSweep& sweep);

/// `{"name":..,"columns":[..],"rows":[..],"ms":[[..],..],"excess":[[..],..],"own":{"setting":..,"ms":..,..},
///   "best":{..},"others":[{..}]}`, a list of `ms` and of `excess` for each row.
nlohmann::ordered_json sweep_as_json(const KernelSweep& sweep);

/// The same as a map of colours, without script.
std::string sweep_card(const KernelSweep& sweep);

}  // namespace sightline::pipeline
