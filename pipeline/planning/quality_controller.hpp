#pragma once
/// Hysteresis controllers that decide when a run changes its setting; without clocks, meters or frames.

#include <cstddef>
#include <optional>
#include <vector>

namespace sightline::pipeline {

/// Hysteresis controller that keeps a load within its limit, with the most accurate setting possible.
///
/// The load is the share of the limit that the present setting uses; above 1, the limit is missed. Time is in
/// seconds and only rises. The controller learns how much lighter each setting is than its more accurate
/// neighbour, and predicts the load after a change from it.
///
/// A change to faster settings needs a load above 1.03, twice in a row (once above 1.25), and goes as far as
/// the prediction says. A change to a more accurate setting goes one step, and needs a predicted load of at
/// most 0.93, three times in a row, and two seconds since the change before. A change that had to be taken
/// back within ten seconds was a mistake: the next one waits for 5 s, then 10 s, and so on up to 2 min.
/// Predictions may be wrong, since loads also change by themselves. Below a load of 0.85, a more accurate
/// setting is therefore tried against the prediction after 1 min, then 2 min, and so on up to 30 min; below
/// 0.5, after a sixth of that. Thread-safety: none.
class QualityController {
 public:
  /// @param settings  number of settings, from the most accurate to the fastest; at least one
  QualityController(std::size_t settings, std::size_t first);

  std::size_t setting() const { return setting_; }
  /// Continues from a setting that something else chose.
  void start_at(std::size_t setting);

  /// Returns the setting to change to, which becomes the present one; none: no change.
  /// @param load  of frames with the present setting only
  std::optional<std::size_t> observe(double now, double load);

  /// Predicted load of another setting, if the present one has `load`.
  double predicted(std::size_t setting, double load) const;

 private:
  std::optional<std::size_t> faster(double now, double load);
  std::optional<std::size_t> more_accurate(double now, double load);
  std::size_t turn(double now, double load, std::size_t to);
  void learn(double load);

  std::vector<double> gains_;  ///< [i]: load of setting i over that of i + 1, as learned; above 1
  std::size_t setting_;
  std::optional<std::size_t> came_from_;  ///< until the first load after a change
  double load_before_ = 0;
  double turned_ = -1e9;    ///< time of the last change
  bool was_climb_ = false;  ///< the last change was to a more accurate setting
  double blocked_until_ = -1e9;
  double pause_;
  double distrust_;  ///< seconds until a prediction is tested
  int over_ = 0;     ///< loads in a row that asked for a change
  int under_ = 0;
};

/// Setting for a battery's level: the first one above 50%, the next one below, the fastest below 20%, with a
/// hysteresis of 3%. Thread-safety: none.
class BatteryController {
 public:
  /// @param first  of `settings`
  BatteryController(std::size_t settings, std::size_t first) : settings_(settings), first_(first) {}

  /// @param level     0 to 1
  /// @param charging  chooses the first setting at every level
  std::size_t observe(double level, bool charging);

 private:
  std::size_t settings_;
  std::size_t first_;
  int zone_ = 0;  ///< 0 above half, 1 above a fifth, 2
};

}  // namespace sightline::pipeline
