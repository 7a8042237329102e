#pragma once
/// Training of the distance classifier.

#include "detectors/filterbank/training/training.hpp"

namespace sightline::filterbank {

/// Chooses `count` templates for the positives (k-means on the window descriptors, k-means++ start), and the
/// distance below which a window is taken for the object: where as large a share of positives is lost as of
/// negatives let through. Fills `weights`, `bias` and `scale` of the model.
void fit_templates(const Samples& positives, const Samples& negatives, int count, std::uint64_t seed,
                   Model& model);

}  // namespace sightline::filterbank
