#pragma once
/// Puts schedules in order. Private to the planning of schedules.

#include <vector>

#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {

/// What counts for the goal, as measured where it was tried, else as predicted. Smaller is better.
double merit(const Alternative& a, Goal goal);

/// Those that were tried come first, each kind by rising merit.
void rank(std::vector<Alternative>& alternatives, Goal goal);

}  // namespace sightline::pipeline
