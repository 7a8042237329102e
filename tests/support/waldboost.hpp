#pragma once
/// Models for the tests of the WaldBoost detector.

#include "image/view.hpp"
#include "waldboost/model.hpp"

namespace sightline::test {

/// A valid model with random features and responses. Of windows with texture, about a third is rejected by
/// the first weak classifier, ever fewer by the next ones, and about a twelfth is left in the end; a fifth of
/// the weak classifiers rejects nothing. Label "object", unit 2^-10, threshold 0, with the survivor curve.
/// @param weak  number of weak classifiers, 1..kMaxWeakClassifiers
waldboost::Model random_waldboost(unsigned seed, int weak, Size window = {24, 24},
                                  waldboost::FeatureKind kind = waldboost::FeatureKind::lbp);

}  // namespace sightline::test
