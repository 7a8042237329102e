#pragma once
/// Detector of the drift of a run from its plan; decides from figures alone, without the run.

#include <cstdint>
#include <optional>
#include <vector>

namespace sightline::pipeline {

/// Compares quantities of a frame (seconds, joules; means over a window of the run) with those of the first
/// window. If a deciding one has changed by 30% over several windows in a row, it advises to weigh the
/// schedules again. A plan that was given up is tried again after 10 s, then 20 s, and so on up to 2 min.
/// Times are nanoseconds. Thread-safety: one thread at a time.
class DriftDetector {
 public:
  enum class Advice {
    keep,         ///< nothing to do
    weigh,        ///< weigh the schedules with `scales`; then call `switched` or `accept`
    try_plan,     ///< switch to the plan for a trial; then call `switched`
    plan_holds,   ///< all is as planned: switch to the plan unless it runs, and call `returned`
    plan_is_back  ///< the trial of the plan went as planned: nothing to do
  };

  /// @param quantities     number of quantities of a window
  /// @param deciding       number of deciding ones, which come first; the others are only scaled
  /// @param drift_windows  windows in a row that make a drift; a single one is a short disturbance
  explicit DriftDetector(std::size_t quantities, std::size_t deciding, int drift_windows);

  /// Takes a window of the running schedule that has just ended.
  /// @param telling  quantity that decides the result of a plan's trial
  Advice observe(std::int64_t now, const std::vector<double>& seen, std::size_t telling);

  /// Factor of each quantity over its planned value, as far as it is known.
  const std::vector<double>& scales() const { return scales_; }
  /// Keeps the running schedule: the last window is the new reference.
  void accept() { reference_ = last_; }
  /// Starts with another schedule.
  void switched(std::int64_t now, bool is_plan);
  /// Starts with the plan, with all as planned.
  void returned();
  /// Starts with another setting of the processor, which costs more or less everywhere. The next window
  /// becomes the reference; the plan's reference changes by the same factors if another schedule runs.
  void setting_changed();

 private:
  void take_setting(const std::vector<double>& seen);
  Advice weigh_against(const std::vector<double>& reference, const std::vector<double>& seen);
  bool any_drifted(const std::vector<double>& ratios) const;

  std::size_t deciding_;
  int drift_windows_;
  std::optional<std::vector<double>> reference_;       ///< first window of the running schedule
  std::optional<std::vector<double>> plan_reference_;  ///< undisturbed window of the plan
  std::vector<double> scales_;                         ///< at the reference
  std::vector<double> last_;
  int drifted_ = 0;
  bool is_plan_ = true;
  bool trying_ = false;
  bool has_new_setting_ = false;
  std::int64_t try_again_ = 0;  ///< time of the plan's next trial; 0: the plan runs
  std::int64_t pause_;
};

}  // namespace sightline::pipeline
