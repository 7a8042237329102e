#pragma once
/// The steps of the progressive scan on OpenCL devices (kernels/waldboost/progressive.cl), after M. Hruby's
/// detector: weak classifiers per step, and the share of windows passed to the next step.

#include <span>
#include <string>
#include <vector>

#include "detectors/waldboost/model.hpp"

namespace sightline::waldboost {

inline constexpr int kStepGroup = 256;             ///< windows of a work-group
inline constexpr int kFirstShare = 8, kShare = 4;  ///< usual divisors: the first step's, the others'
inline constexpr int kFewestSteps = 2, kMostSteps = 16;

/// One step. Passes at most one in `divisor` of a work-group's windows to the next step. The last step passes
/// none on, and stops when so many are left.
struct ProgressiveStep {
  int divisor = kShare;
  int fewest = 0;  ///< weak classifiers by which each window goes on, before those that are left are counted
  int target = 0;  ///< weak classifier that each has then come to at least
  friend bool operator==(const ProgressiveStep&, const ProgressiveStep&) = default;
};

/// Default divisors: of the first step, of the second one `repeats` times, and of the last.
std::vector<int> usual_shares(int repeats = 2);

/// Divisors, the first one and then `further` again and again, that bring windows down to one in 512 as the
/// usual ones do. Both are powers of two.
std::vector<int> shares_of(int first, int further);

/// Steps with these divisors. As many weak classifiers go uncounted as the model's survivors need to come
/// down to twice the share; those of a model that does not know these are M. Hruby's.
std::vector<ProgressiveStep> progressive_steps(const Model& model, std::span<const int> divisors);

/// Steps that come to these weak classifiers before they count: as many as there are divisors, none lower
/// than the one before.
std::vector<ProgressiveStep> progressive_steps(std::span<const int> divisors, std::span<const int> phases);

/// Weak classifiers after which steps count, as far as known in advance.
std::vector<int> phases_of(std::span<const ProgressiveStep> steps);

/// Parse keys `shares` and `phases`: "8,4,4,4". Empty texts give empty lists. Throw Error (usage), beginning
/// with `where`, for invalid lists.
std::vector<int> parse_shares(const std::string& text, const std::string& where);
std::vector<int> parse_phases(const std::string& text, const std::string& where);

/// Steps of a detector if one of these lists is set; an empty list is derived from the model. Throws Error
/// (usage) if the lists have different lengths.
std::vector<ProgressiveStep> steps_for(const Model& model, std::span<const int> shares,
                                       std::span<const int> phases);

}  // namespace sightline::waldboost
