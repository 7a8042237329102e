#pragma once
// A measurement of made-up runs, worked out from their spans as a real one is.

#include "support/made_up_run.hpp"

namespace sightline::pipeline::test {

/// Results of 120 frames of a plan.
ScheduleResult made_up_result(const Plan& plan, const TraceInfo& info);

/// Measurement of all plans. @param work  stretches the heavy stages
Measurement made_up_measurement(double work = 1, int filters = 100);

}  // namespace sightline::pipeline::test
