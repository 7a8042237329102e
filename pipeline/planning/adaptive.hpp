#pragma once
/// Keeps schedule `auto` right while it runs.

#include <chrono>
#include <string>

#include "pipeline/planning/drift_detector.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/runtime/busy_seconds.hpp"
#include "pipeline/runtime/trace.hpp"

namespace sightline::pipeline {

/// Watches the times of a run. Where a processor takes much longer or shorter than when the plan was made
/// (another program takes the GPU, the content changes), it weighs the schedules anew with what it sees, and
/// switches where that promises a tenth more; frames in flight finish as they began. The plan is tried again
/// after ten seconds, then after twenty, and so on up to two minutes. The log says what was done and why.
///
/// Frames of another setting (FrameProcessor::run_settings) cost more or less on all processors: what the
/// first of them show becomes the new measure, and is no reason to switch.
///
/// A TraceSink of the pipeline's run; must outlive it. Clocked by the traces: no thread of its own.
class Adaptive : public TraceSink {
 public:
  Adaptive(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
           const Planned& planned, Goal goal, int in_flight = 0);

  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  /// How often it has switched, trials of a given-up device included.
  int switches() const { return switches_; }

 private:
  struct Window {
    std::int64_t from = 0;
    int frames = 0;
    BusySeconds sums;
  };
  void close_window(std::int64_t now);
  void replan(std::int64_t now);
  void switch_to(const Schedule& schedule, std::int64_t now);
  void go_home(std::int64_t now);

  Pipeline& pipeline_;
  const FrameProcessor& processor_;
  Devices devices_;
  DeviceCosts costs_;  ///< as planned
  Goal goal_;
  int in_flight_;
  Schedule home_;  ///< planned schedule
  Schedule current_;
  DriftDetector watch_;
  Window window_;
  std::int64_t switched_ = 0;  ///< frames admitted before do not count
  int setting_ = -1;           ///< of the frames that count; below 0: there were none yet
  int switches_ = 0;
};

}  // namespace sightline::pipeline
