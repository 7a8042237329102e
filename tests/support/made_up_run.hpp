#pragma once
// Runs that never were, with times that fit together: a small simulation of frames that queue for processors.

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/measurement/measurement.hpp"

namespace sightline::pipeline::test {

/// One thing that a frame goes through.
struct Step {
  Activity activity = Activity::run;
  std::uint8_t stage = 0;
  std::uint8_t processor = 0;
  std::uint8_t partition = 0;
  double milliseconds = 1;
  /// Worker of the stage: 0 and 1 are the CPU's threads (either), 2 the device, 3 and 4 its copy engines.
  int worker() const {
    if (processor == 0) return 0;
    return activity == Activity::upload ? 3 : activity == Activity::download ? 4 : 2;
  }
};

/// A schedule's steps; `device` those of the device's partition, between `fork` and the last two of `steps`.
struct Plan {
  std::string name;
  int slots = 1;
  std::vector<Step> steps;
  std::vector<Step> device = {};
  std::size_t fork = 0;
};

struct MadeUpFrame {
  FrameTrace trace;  ///< without its spans
  std::vector<Span> spans;

  FrameTrace whole() const {
    FrameTrace copy = trace;
    copy.spans = spans;
    return copy;
  }
};

/// Frames in the order of delivery; the first is admitted at `start`.
std::vector<MadeUpFrame> simulate(const Plan& plan, int frames, std::int64_t start = 1'000'000'007);

TraceInfo made_up_info(int slots);

/// The five stages' schedules; `work` stretches the heavy stages.
std::vector<Plan> made_up_plans(double work = 1);

}  // namespace sightline::pipeline::test
