#pragma once
/// Puts schedules in order. Private to the planning of schedules.

#include <vector>

#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {

/// Figure of merit for the goal: measured where the schedule was tried, else predicted. Smaller is better.
double merit(const Alternative& a, Goal goal);

/// Sorts tried schedules before untried ones, each kind by rising merit.
void rank(std::vector<Alternative>& alternatives, Goal goal);

}  // namespace sightline::pipeline
