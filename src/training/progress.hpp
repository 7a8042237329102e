#pragma once
/// Progress reports of trainers, and stopping them.

#include <chrono>
#include <exception>
#include <functional>
#include <string>

namespace sightline::training {

/// Progress of training.
struct TrainingProgress {
  std::string phase;
  std::string detail;   ///< short description of the phase's progress; may be empty
  double fraction = 0;  ///< completed share of the phase, 0..1
  double elapsed = 0;   ///< seconds since the start of this run
  double left = -1;     ///< seconds until training ends, an estimate; negative where there is none yet
};

/// Called now and then, always from the thread that trains; returns false to stop.
using ReportProgress = std::function<bool(const TrainingProgress&)>;

/// Thrown by a trainer when its report requests a stop. Finished steps are in the state folder.
class TrainingStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "training was stopped"; }
};

/// Reports the progress of a run, and estimates the time left from the relative costs of its phases. Costs
/// have any unit and are used only for the estimate, which begins after 2% of the cost.
///
/// Thread-safety: one thread, the one that trains.
class ProgressClock {
 public:
  /// Starts the clock.
  /// @param total_cost  cost of all phases that will be entered or skipped
  ProgressClock(ReportProgress report, double total_cost);

  /// The phase before is done and this one begins. Reports that, but does not stop.
  void enter(std::string phase, double cost);
  /// A phase will not be entered because its result was found on disk. It took no time, so the estimate must
  /// not learn from it.
  void skip(double cost) { total_cost_ -= cost; }
  /// Reports how much of the phase is done, 0..1. False where the report asks to stop.
  bool tick(double fraction, const std::string& detail = {});
  /// The same, but throws TrainingStopped to stop.
  void check(double fraction, const std::string& detail = {});

 private:
  ReportProgress report_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string phase_;
  double total_cost_;
  double done_cost_ = 0;
  double phase_cost_ = 0;
};

}  // namespace sightline::training
