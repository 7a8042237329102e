#pragma once
/// Repeats and durations of measurements, the same for devices and the CPU.

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "base/median.hpp"
#include "characterisation/characteristics.hpp"

namespace sightline::characterisation {

/// Duration of the measurements: `brief` only tests that everything runs and its figures are unreliable;
/// `quick` takes seconds, `thorough` minutes.
enum class Length { brief, quick, thorough };

struct Effort {
  Length length = Length::quick;
  /// Throws when the run is to end; called between repeats. May be empty.
  std::function<void()> check_stop = {};
  /// Duration of a repeat relative to a quick one: see of_curve.
  double share = 1;

  bool is_thorough() const { return length == Length::thorough; }
  bool is_brief() const { return length == Length::brief; }
  template <typename T>
  T of(T brief, T quick, T thorough) const {
    return is_brief() ? brief : is_thorough() ? thorough : quick;
  }
  /// At most.
  int repeats() const { return of(2, 5, 15); }
  /// A quick run stops repeating once the best two of kEnough repeats agree to within 1%: further repeats
  /// would only show the spread under disturbance.
  static constexpr std::size_t kEnough = 3;
  static constexpr double kAgreement = 0.01;
  /// Ways through a whole curve where a disturbance that lasts would look like a level: other programs slow a
  /// processor's clock for seconds.
  int passes() const { return of(1, 2, 3); }
  /// Seconds that one repeat aims to last, where its length can be chosen: far above a clock's resolution.
  double repeat_seconds() const { return of(1e-4, share * 0.008, 0.04); }
  /// The same where a quick run has a curve of many points, on which no single one decides: a quarter as long
  /// each.
  Effort of_curve() const {
    Effort shorter = *this;
    shorter.share = 0.25;
    return shorter;
  }
  /// Seconds after which no further repeat of a slow point begins; there are two in any case.
  double point_seconds() const { return of(0.01, 0.1, 2.0); }
};

/// True if the repeats so far are enough: see Effort::kEnough.
inline bool is_settled(const Effort& effort, std::vector<double> seconds) {
  if (effort.is_thorough() || seconds.size() < Effort::kEnough) return false;
  std::ranges::partial_sort(seconds, seconds.begin() + 2);
  return seconds[1] <= (1 + Effort::kAgreement) * seconds[0];
}

/// Seconds on the host's clock that some work takes.
template <typename Work>
double host_seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline Spread spread_of(std::vector<double> values) {
  const auto [smallest, largest] = std::ranges::minmax(values);
  return {smallest, median(std::move(values)), largest};
}

/// Spread of many short repeats as 10th percentile, median and 90th percentile, which are robust against
/// outliers. @param values  not empty
inline Spread percentiles_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {percentile(values, 0.1), percentile(values, 0.5), percentile(values, 0.9)};
}

/// `once` several times; it returns seconds. A first time is left out: it warms up.
template <typename Once>
std::vector<double> repeats_of(const Effort& effort, const Once& once) {
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  once();
  std::vector<double> seconds;
  while (static_cast<int>(seconds.size()) < effort.repeats()) {
    if (effort.check_stop) effort.check_stop();
    if (seconds.size() >= 2 && passed() > effort.point_seconds()) break;
    if (is_settled(effort, seconds)) break;
    seconds.push_back(once());
  }
  return seconds;
}

template <typename Once>
Spread repeat(const Effort& effort, const Once& once) {
  return spread_of(repeats_of(effort, once));
}

/// Seconds turned into units of `unit` seconds for one of `count` operations: `each(s, 1000, 1e-9)` is ns.
inline Spread each(const Spread& seconds, double count, double unit) {
  const double factor = 1 / (count * unit);
  return {seconds.smallest * factor, seconds.median * factor, seconds.largest * factor};
}

/// Seconds turned into a rate of `amount` in units of `unit`: the smallest time is the largest rate.
inline Spread rate(const Spread& seconds, double amount, double unit = 1e9) {
  const auto of = [&](double s) { return s > 0 ? amount / s / unit : 0; };
  return {of(seconds.largest), of(seconds.median), of(seconds.smallest)};
}

/// Number of turns that gives a repeat its target duration, if `seconds_of(turns)` is proportional to the
/// turns. At least `first`, at most `most`.
template <typename SecondsOf>
int calibrate(const Effort& effort, const SecondsOf& seconds_of, int first, int most) {
  seconds_of(first);
  int turns = first;
  double seconds = seconds_of(turns);
  while (seconds < 0.1 * effort.repeat_seconds() && turns < most) {
    turns = std::min(most, turns * 8);
    seconds = seconds_of(turns);
  }
  const double factor = effort.repeat_seconds() / std::max(seconds, 1e-9);
  return static_cast<int>(std::clamp(turns * factor, static_cast<double>(first), static_cast<double>(most)));
}

}  // namespace sightline::characterisation
