#pragma once
/// When a run should turn to another setting: decisions alone, without clocks, meters or frames.

#include <cstddef>
#include <optional>
#include <vector>

namespace sightline::pipeline {

/// Keeps what a run uses up within a limit, with as accurate a setting as that allows.
///
/// It is told a load, again and again: how much of the limit the present setting uses up. Above 1 it does not
/// hold the limit. Time is in seconds and only rises. From load to load it learns by how much a setting is
/// lighter than its more accurate neighbour, and so predicts what a turn would bring.
///
/// It never flickers. Turns to faster settings need a load above 1.03, twice in a row (once above 1.25), and
/// go as far as is predicted to be needed. Turns to more accurate ones go one at a time, need a predicted
/// load of no more than 0.93, three times in a row, and two seconds since the turn before. A turn that had to
/// be taken back within ten seconds was a mistake: the next one waits for five seconds, then ten, and so on
/// up to two minutes. What was learned may be wrong, since loads change by themselves, too: where the load is
/// below 0.85, a more accurate setting is tried against the prediction after a minute, then after two, and so
/// on up to half an hour; where it is below 0.5, after a sixth of that. Thread-safety: none.
class KnobLogic {
 public:
  /// @param settings  how many there are, from the most accurate to the fastest; at least one
  KnobLogic(std::size_t settings, std::size_t first);

  std::size_t setting() const { return setting_; }
  /// A setting was taken for other reasons.
  void start_at(std::size_t setting);

  /// @param load  of frames that were all searched with the present setting
  /// Returns the setting to turn to, which from then on is the present one; none: it stays.
  std::optional<std::size_t> observe(double now, double load);

  /// The load that another setting would have, where the present one has `load`.
  double predicted(std::size_t setting, double load) const;

 private:
  std::optional<std::size_t> faster(double now, double load);
  std::optional<std::size_t> more_accurate(double now, double load);
  std::size_t turn(double now, double load, std::size_t to);
  void learn(double load);

  std::vector<double> gains_;  ///< [i]: the load of setting i over that of i + 1, as far as is known; above 1
  std::size_t setting_;
  std::optional<std::size_t> came_from_;  ///< until the first load behind a turn
  double load_before_ = 0;
  double turned_ = -1e9;    ///< when
  bool was_climb_ = false;  ///< the last turn was one to a more accurate setting
  double blocked_until_ = -1e9;
  double pause_;
  double distrust_;  ///< seconds after which a prediction is put to the test
  int over_ = 0;     ///< loads in a row that asked for a turn
  int under_ = 0;
};

/// Which setting a battery's level asks for: the first one above half, the next one below, the fastest below
/// a fifth. A level that goes back counts only three hundredths beyond these. Thread-safety: none.
class BatteryLogic {
 public:
  /// @param first  of `settings`
  BatteryLogic(std::size_t settings, std::size_t first) : settings_(settings), first_(first) {}

  /// @param level     0 to 1
  /// @param charging  whatever the level, there is no need to save
  std::size_t observe(double level, bool charging);

 private:
  std::size_t settings_;
  std::size_t first_;
  int zone_ = 0;  ///< 0 above half, 1 above a fifth, 2
};

}  // namespace sightline::pipeline
