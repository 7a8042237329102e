#pragma once
/// Rejection threshold of Wald's sequential test for a sum of responses, from sums of held-out samples.

#include <cstdint>
#include <span>

namespace sightline::waldboost {

/// Sums of the samples of one class that no weak classifier has rejected, and how many these are of the whole
/// class.
struct ClassSums {
  std::span<const std::int32_t> sums;
  double survived = 1;  ///< share of the class, 0..1
};

/// Threshold below which the test rejects sums; kNoThreshold if it rejects none. It is the largest sum at
/// which
/// - the likelihood ratio p(sum | negative) / p(sum | positive) is at least r, and
/// - of all that it rejects there is at least r times as large a share of the negatives as of the positives,
///   and
/// - no more than alpha of the positives are rejected in all;
/// or the lowest sum of a positive, where that is larger.
///
/// In Wald's test r is 1 / alpha throughout (Sochman and Matas 2005, section 3, with beta 0). Here it is
/// sqrt(s) / alpha, where s is the share of the negatives that is left: a test for short sequences takes no
/// account of what the windows cost that it leaves late. Measured on faces, alpha 0.2, 300 weak classifiers:
/// 1 / alpha leaves 0.10% of the windows after 3.4 looks each on average, and 92% of held-out objects with
/// all their copies; sqrt(s) / alpha 0.0017%, 2.0 and 86%; pow(s, 0.8) / alpha 0.016%, 2.0 and 80%. Found and
/// missed were the same on selection pictures.
///
/// The ratio at a sum is of kernel estimates, with a Gaussian of half of Silverman's width for each class:
/// one sample more or less does not move the threshold by much. What is rejected is counted. A few positives
/// that are far from all others do not keep it down so, as they would where the ratio had to hold everywhere
/// below (tried: twice as many windows are left after 100 weak classifiers).
std::int32_t rejection_threshold(const ClassSums& positives, const ClassSums& negatives, double alpha);

}  // namespace sightline::waldboost
