#pragma once
/// Finds the best of several by measurements that scatter: trials by turns, until they can be told apart.

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace sightline::pipeline {

/// Candidate, with its prediction.
struct Contender {
  std::optional<double> predicted;  ///< predicted value, above 0
  int processors = 1;               ///< that it keeps busy
};

struct TurnLimits {
  int first = 2;   ///< trials that each has in any case
  int trials = 0;  ///< of all together, after which no further one begins
  /// Times the smallest mean: of those that are left, one with a larger mean than this is not taken, whatever
  /// is predicted of it.
  double worth = std::numeric_limits<double>::infinity();
};

/// Results of a candidate's trials.
struct Tried {
  std::vector<double> seen;  ///< each trial, in their order
  double mean = 0;
  double error = 0;  ///< half of the interval that the true mean is in, 19 times out of 20
};

struct TurnsResult {
  std::vector<Tried> tried;         ///< by contender
  std::optional<std::size_t> best;  ///< none where nothing was tried
  std::vector<std::size_t> tied;    ///< indices of the smallest mean and those not distinguishable from it
};

/// Tries all by turns, there and back, so that what drifts (clocks, temperature) meets all alike. After the
/// first rounds only those have a turn that cannot be told apart from the one with the smallest mean. All are
/// taken to scatter by the same share of their mean, which is estimated from all trials together (pooled
/// variance); two differ where their means are further apart than the interval of their difference, by
/// Student's t with the degrees of freedom that there are (M. Abramowitz, I. Stegun, "Handbook of
/// Mathematical Functions", 26.7.5). It ends where one is left, after so many trials, or where a trial has no
/// result.
///
/// Of those that are left, and are not worse than they may be (TurnLimits::worth), the one is best that is
/// predicted to take least (predictions within a hundredth of the least count as the same; those without one
/// come last), then the one on the fewest processors, then the first.
/// @param trial  tries one once and returns what it took, above 0; none: no further trial is possible
TurnsResult try_by_turns(const std::vector<Contender>& contenders, const TurnLimits& limits,
                         const std::function<std::optional<double>(std::size_t)>& trial);

}  // namespace sightline::pipeline
