#pragma once
/// Experiments for people and programs, as measurement_output.hpp puts measurements.

#include <span>
#include <string>

#include "pipeline/measurement/experiment.hpp"

namespace sightline::pipeline {

/// A table for each group of pictures, a line an implementation; then what was fastest, and whether all of
/// ours found the same.
std::string experiments_as_text(std::span<const Experiment> experiments);

/// `{"input":..,"baseline":..,"implementations":[{"name":..,"buffers":..,"runs_on":..}],
///   "groups":[{"group":..,"pictures":..,"times":[{"implementation":..,"ms":..,"speed_up":..,..}]}],
///   "pictures":[{"picture":..,"times":[{"implementation":..,"ms":..,"runs_ms":[..],..}]}],..}`
std::string experiment_as_json(const Experiment& experiment);

/// A row for each picture and implementation, then for each group and implementation one whose column
/// `picture` is empty: the geometric means.
std::string experiment_as_csv(const Experiment& experiment);

/// A page of HTML that needs no other file, network or script.
std::string experiments_as_page(std::span<const Experiment> experiments);

}  // namespace sightline::pipeline
