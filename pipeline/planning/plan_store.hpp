#pragma once
/// Stored plans. Private to the planning of schedules.

#include <optional>
#include <string>

#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {

/// Stored plan; none if there is no entry under the key that fits processor, devices and length of the run.
/// An unreadable entry is logged.
std::optional<Planned> remembered_plan(const std::string& key, const FrameProcessor& processor,
                                       const Devices& devices, const PlanOptions& options);

/// Stores a plan in a file. A failure to write is logged at debug level.
void remember_plan(const std::filesystem::path& file, const std::string& key, const Planned& planned);

}  // namespace sightline::pipeline
