#pragma once
/// Runs schedules for a moment, to see what they do. Private to the planning of schedules.

#include <atomic>
#include <cstdint>
#include <vector>

#include "pipeline/planning/planner.hpp"
#include "pipeline/planning/successive_elimination.hpp"
#include "pipeline/planning/trace_statistics.hpp"

namespace sightline::pipeline {

/// So many frames by the schedule, which stays set. Throws Error (failed) where a frame fails.
/// @param frames  are searched again and again
/// @param trim    frames at both ends that the statistics leave out
/// @param stop    ends it early; may be null
TraceStatistics run_for(Pipeline& pipeline, const Schedule& schedule, const std::vector<media::Frame>& frames,
                        std::int64_t count, std::size_t trim, const std::atomic<bool>* stop);

inline bool is_set(const std::atomic<bool>* stop) {
  return stop && stop->load();
}

/// Trials of schedules for a goal. They end when the run ends or a device is lost: later measurements would
/// not be of the schedules.
class PlanTrials {
 public:
  /// @param energy  the meters, for the goal energy; else null
  PlanTrials(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
             const std::vector<media::Frame>& frames, const PlanOptions& options, EnergyCounter* energy)
      : pipeline_(pipeline),
        stages_(processor.stages().size()),
        devices_(devices.size()),
        frames_(frames),
        options_(options),
        energy_(energy) {}

  bool are_spoilt() const { return is_set(options_.stop) || pipeline_.device_lost(); }

  /// Twice; the better run counts, since a disturbance only ever takes time.
  void try_one(Alternative& alternative);

  /// All that have not been tried yet; for the goal energy all, by turns (successive_elimination.hpp).
  /// Returns which is best for the goal.
  /// @param some    not empty
  /// @param limits  for the goal energy
  std::size_t try_all(std::vector<Alternative>& some, const EliminationLimits& limits);

 private:
  struct Seen {
    double fps = 0;
    double latency = 0;  ///< median, seconds
    std::optional<double> joules;
  };
  Seen run(const Alternative& alternative, double seconds);
  std::size_t try_energy(std::vector<Alternative>& some, const EliminationLimits& limits);

  Pipeline& pipeline_;
  const std::size_t stages_, devices_;  // how many
  const std::vector<media::Frame>& frames_;
  const PlanOptions& options_;
  EnergyCounter* const energy_;
};

}  // namespace sightline::pipeline
