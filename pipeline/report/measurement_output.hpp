#pragma once
/// Measurements for people and programs. All functions take one measurement or several (one a dictionary
/// size, say), are pure, and replace bytes of names that are not UTF-8 (CSV keeps them). A number that is not
/// finite shows as "-" and is `null` in JSON, empty in CSV.

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "pipeline/measurement/measurement.hpp"

namespace sightline::pipeline {

/// The schedule with the highest median rate; nothing where there is none.
std::optional<std::size_t> best_schedule(const Measurement& measurement);

/// One line: which schedule was best and by how much, and whether the repeats bear it out.
std::string verdict(const Measurement& measurement);

/// Tables for a terminal of 100 columns: a line a schedule, then the stages' times, then the verdict. Wider
/// only where names of schedules or stages are long.
std::string measurements_as_text(std::span<const Measurement> measurements);

/// One object for one measurement, `{"measurements":[...]}` for several. Keys as in `Measurement`, with times
/// in milliseconds (`..._ms`), without the timelines:
/// `{"input":..,"width":..,"height":..,..,"schedules":[{"schedule":"overlap","fps":..,"fps_runs":[..],
///   "latency_ms":{"p50":..},"stages":[{"name":..,"processor":..,"ms":..,"ms_alone":..}],..}]}`
std::string measurements_as_json(std::span<const Measurement> measurements);

/// RFC 4180 with a header; a row a schedule.
std::string measurements_as_csv(std::span<const Measurement> measurements);

/// A page of HTML that needs no other file and no network; its tables need no script either.
std::string measurements_as_page(std::span<const Measurement> measurements);

/// The maps of all sweeps, and the windows beyond shares by kernel, as a picture.
std::string sweeps_as_svg(std::span<const Measurement> measurements);

}  // namespace sightline::pipeline
