#pragma once
/// Puts schedules in order. Private to the planning of schedules.

#include <vector>

#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {

/// Sorts tried schedules before untried ones, each kind by rising cost.
void rank(std::vector<Alternative>& alternatives, const ScheduleObjective& objective);

}  // namespace sightline::pipeline
