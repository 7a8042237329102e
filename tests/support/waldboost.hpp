#pragma once
/// Models for the tests of the WaldBoost detector.

#include <vector>

#include "detectors/waldboost/model.hpp"
#include "image/view.hpp"

namespace sightline::test {

/// A valid model with random features and responses. Each weak classifier rejects about every sixth of the
/// windows that are left of a picture as cascade::make_picture makes them, until there are a few; the last
/// ones reject none. Sums that are equal to a threshold are frequent. Label "object", unit 0.25, threshold 0,
/// with the survivor curve of the windows that it was made for.
/// @param weak    number of weak classifiers, 1..kMaxWeakClassifiers
/// @param blocks  sizes that blocks have in turn; none: all. Cells of Haar-like features have any
waldboost::Model random_waldboost(unsigned seed, int weak, Size window = {24, 24},
                                  waldboost::FeatureKind kind = waldboost::FeatureKind::lbp,
                                  const std::vector<Size>& blocks = {});

/// Expects two models to be equal except for their names.
void expect_the_same(const waldboost::Model& a, const waldboost::Model& b);

}  // namespace sightline::test
