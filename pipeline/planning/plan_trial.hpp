#pragma once
/// Runs schedules for a moment, to see what they do. Private to planning and measurement.

#include <atomic>
#include <cstdint>
#include <vector>

#include "pipeline/planning/planner.hpp"
#include "pipeline/planning/trace_statistics.hpp"

namespace sightline::pipeline {

/// So many frames by the schedule, which stays set. Throws Error (failed) where a frame fails.
/// @param frames  are searched again and again
/// @param trim    frames at both ends that the statistics leave out
/// @param stop    ends it early; may be null
TraceStatistics run_for(Pipeline& pipeline, const Schedule& schedule, const std::vector<Frame>& frames,
                        std::int64_t count, std::size_t trim, const std::atomic<bool>* stop);

inline bool is_set(const std::atomic<bool>* stop) {
  return stop && stop->load();
}

/// Rule by which trials choose a schedule.
struct TrialRule {
  int trials = 0;        ///< for the goal energy: total number after which no further trial begins
  double tolerance = 1;  ///< the first schedule is taken whose cost is within this factor of the lowest
};

/// Trials of schedules. They end if the run ends or a device is lost: later measurements would not be of the
/// schedules.
class PlanTrials {
 public:
  PlanTrials(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
             const std::vector<Frame>& frames, const PlanOptions& options, const ScheduleObjective& objective,
             const DeviceCosts& costs)
      : pipeline_(pipeline),
        stages_(processor.stages().size()),
        devices_(devices.size()),
        frames_(frames),
        options_(options),
        objective_(objective),
        costs_(costs) {}

  struct Seen {
    double fps = 0;
    double latency = 0;  ///< median, seconds
    std::optional<double> joules;
    std::optional<double> with_decoding;  ///< as Alternative
  };

  bool are_spoilt() const { return is_set(options_.stop) || pipeline_.device_lost(); }

  /// Tries schedules and returns the best one: for the goal energy all by successive elimination, else the
  /// untried ones twice each.
  /// @param some  not empty
  std::size_t try_all(std::vector<Alternative>& some, const TrialRule& rule);

 private:
  Seen run(const Alternative& alternative, double seconds);
  std::size_t race(std::vector<Alternative>& some, const TrialRule& rule);

  Pipeline& pipeline_;
  const std::size_t stages_, devices_;  ///< numbers of stages and devices
  const std::vector<Frame>& frames_;
  const PlanOptions& options_;
  const ScheduleObjective& objective_;
  const DeviceCosts& costs_;
};

}  // namespace sightline::pipeline
