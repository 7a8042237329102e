#pragma once
/// When a plan no longer holds, and when it is worth another try: decisions out of a run's figures, without
/// the run.

#include <cstdint>
#include <optional>
#include <vector>

namespace sightline::pipeline {

/// A window of what is watched has at least so many frames.
inline constexpr int kWindowFrames = 20;
/// Another schedule is taken where it is predicted to be so many times as good: for less, it is not worth it.
inline constexpr double kWorthwhile = 1.1;

/// Watches some quantities of a frame (seconds, joules), each the mean over a window of the run. Where one
/// that decides has changed by three tenths over several windows in a row, it asks for the schedules to be
/// weighed anew. A plan that was given up is tried again after ten seconds, then after twenty, and so on up
/// to two minutes. Times are nanoseconds. Thread-safety: one thread at a time.
class PlanWatch {
 public:
  enum class Advice {
    keep,         ///< nothing to do
    weigh,        ///< weigh anew with `scales`; then say `switched` or `accept`
    try_plan,     ///< switch to the plan, to see how it does; then say `switched`
    plan_holds,   ///< all is as planned again: switch to the plan unless it is what runs, and say `returned`
    plan_is_back  ///< the plan was tried, and does as planned: nothing to do
  };

  /// @param quantities     that a window has
  /// @param deciding       the first so many of them decide; the others are only scaled
  /// @param drift_windows  in a row: one alone is a moment's disturbance
  explicit PlanWatch(std::size_t quantities, std::size_t deciding, int drift_windows);

  /// A window of what runs now, which has just ended.
  /// @param telling  the quantity that tells whether the plan, where it is being tried, does as planned
  Advice observe(std::int64_t now, const std::vector<double>& seen, std::size_t telling);

  /// How many times as large as planned each quantity is, as far as that is known.
  const std::vector<double>& scales() const { return scales_; }
  /// No other schedule is better: what was seen last is how it is now.
  void accept() { reference_ = last_; }
  /// Another schedule runs from now on.
  void switched(std::int64_t now, bool is_plan);
  /// The plan runs, and all is as planned.
  void returned();
  /// Frames are searched with another setting from now on, which takes more or less of everything. The next
  /// window shows how much: that becomes the new measure, for the plan as well where another schedule runs.
  void turned();

 private:
  void take_turn(const std::vector<double>& seen);
  Advice weigh_against(const std::vector<double>& reference, const std::vector<double>& seen);
  bool any_drifted(const std::vector<double>& ratios) const;

  std::size_t deciding_;
  int drift_windows_;
  std::optional<std::vector<double>> reference_;       ///< of the running schedule, when it was new
  std::optional<std::vector<double>> plan_reference_;  ///< of the plan, undisturbed
  std::vector<double> scales_;                         ///< at the reference
  std::vector<double> last_;
  int drifted_ = 0;
  bool is_plan_ = true;
  bool trying_ = false;
  bool is_turned_ = false;
  std::int64_t try_again_ = 0;  ///< when the plan is to be tried again; 0: it is what runs
  std::int64_t pause_;
};

}  // namespace sightline::pipeline
