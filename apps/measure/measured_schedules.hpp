#pragma once
/// Schedules that `measure --schedules` names, for all measurements.

#include <string>
#include <vector>

#include "pipeline/planning/engine.hpp"

namespace sightline::apps {

/// Subject of a measurement of schedules: their frames, or their stages' part in them. A stage has no place
/// of its own under `split`, nor one that stays under `auto`.
enum class MeasuredOf { frames, stages };

/// The schedules of a list with commas. "all": all with a name that the machine can run; "every": every
/// mapping of stages to the CPU and the device, one letter a stage (c, g). Both have `split` and `auto` among
/// them where frames are measured and there is a device; those that cannot be run here are left out, with a
/// message. Throws Error (usage) where none is named, and where
/// there are too many mappings.
std::vector<std::string> measured_schedules(const std::string& text, const pipeline::Engine& engine,
                                            MeasuredOf measured);

}  // namespace sightline::apps
