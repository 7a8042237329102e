#pragma once
/// Successive elimination (racing): finds the best of several candidates by noisy measurements.

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace sightline::pipeline {

/// RaceCandidate of a race.
struct RaceCandidate {
  std::optional<double> predicted;  ///< predicted cost, above 0
  int processors = 1;               ///< number of busy processors
};

struct EliminationLimits {
  int first = 2;   ///< minimum number of trials per candidate
  int trials = 0;  ///< total number of trials after which no further one begins
  /// Factor over the smallest mean. A remaining candidate with a larger mean is not taken, whatever its
  /// prediction.
  double worth = std::numeric_limits<double>::infinity();
};

/// Results of a candidate's trials.
struct Tried {
  std::vector<double> seen;  ///< costs, in the order of the trials
  double mean = 0;
  double error = 0;  ///< half width of the mean's 95% confidence interval
};

struct EliminationResult {
  std::vector<Tried> tried;         ///< by candidate
  std::optional<std::size_t> best;  ///< none without a trial
  std::vector<std::size_t> tied;    ///< indices of the smallest mean and those not distinguishable from it
};

/// Tries all candidates in rounds, there and back, so that drift (clocks, temperature) affects all equally.
/// After the first rounds, only candidates remain that do not differ significantly from the smallest mean.
/// The scatter of a trial is taken as the same share of the mean for all, and is estimated from all trials
/// together (pooled variance). Two candidates differ if their means are further apart than the interval of
/// their difference, by Student's t (M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions", 26.7.5).
/// The race ends with one candidate, after the limit of trials, or with a trial without a result.
///
/// The best of the remaining ones (EliminationLimits::worth) has the lowest prediction (within 1% of the
/// lowest counts as equal; none comes last), then the fewest processors, then the lowest index.
/// @param trial  tries a candidate once and returns its cost, above 0; none: no further trial is possible
EliminationResult eliminate_successively(const std::vector<RaceCandidate>& candidates,
                                         const EliminationLimits& limits,
                                         const std::function<std::optional<double>(std::size_t)>& trial);

}  // namespace sightline::pipeline
