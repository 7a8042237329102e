#pragma once
/// The negatives of a WaldBoost classifier: windows of negative pictures that the current classifier does not
/// reject.

#include <cstdint>
#include <utility>
#include <vector>

#include "detectors/waldboost/training/training.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::waldboost {

/// Method of drawing windows from those that a classifier accepts.
struct Draw {
  double weight = 1;        ///< probability is min(1, weight exp(sum)), or min(1, weight)
  bool by_response = true;  ///< true: by exp(sum); false: uniform
};

struct DrawnWindows {
  explicit DrawnWindows(Size window) : samples(window) {}
  training::WindowSamples samples;
  std::vector<float> inverse_probability;  ///< 1 / probability, by sample
};

/// Result of one search through all negatives.
struct SearchedNegatives {
  explicit SearchedNegatives(Size window) : seen(window), held_out(window) {}
  DrawnWindows seen, held_out;
  std::int64_t windows = 0;        ///< windows of the pictures that boosting sees
  std::vector<std::int64_t> left;  ///< windows left after each weak classifier
  std::int64_t held_out_windows = 0;
  std::vector<std::int64_t> held_out_left;
  std::vector<std::int32_t>
      best_held_out;  ///< the largest sum in each held-out picture that has windows left, falling
  std::size_t held_out_pictures = 0;
};

/// Searches all pictures with the classifier so far, which may be empty. Throws TrainingStopped, Error
/// (input).
/// @param round  round of training; each draws different windows
SearchedNegatives search_negatives(const training::ImageSet& pictures, const Model& model,
                                   const TrainingOptions& options, int round, const Draw& seen,
                                   const Draw& held_out, training::ProgressClock& clock);

}  // namespace sightline::waldboost
