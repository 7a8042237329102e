#pragma once
/// Plans as they are remembered. Private to the planning of schedules.

#include <optional>
#include <string>

#include "base/json_store.hpp"
#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {

/// Key of a plan: all that it depends on besides the frames' content. `frame` is one of them.
std::string plan_key(const FrameProcessor& processor, const Devices& devices, const media::Frame& frame,
                     int threads, const PlanOptions& options);

/// None where there is nothing under the key, or nothing that fits processor and devices, which the log says,
/// or what was limited to a much shorter run.
std::optional<Planned> remembered_plan(const JsonStore& store, const std::string& key,
                                       const FrameProcessor& processor, const Devices& devices,
                                       std::optional<std::int64_t> frames_to_come);

/// Stores a plan. A failure to write is logged at debug level.
void remember_plan(const JsonStore& store, const std::string& key, const Planned& planned);

}  // namespace sightline::pipeline
