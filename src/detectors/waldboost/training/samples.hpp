#pragma once
/// The negatives of a WaldBoost classifier: windows of pictures without the object that the classifier so far
/// does not reject.

#include <cstdint>
#include <utility>
#include <vector>

#include "detectors/waldboost/training/training.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::waldboost {

/// How windows are drawn from those that a classifier leaves.
struct Draw {
  double weight = 1;  ///< with probability min(1, weight exp(sum)), or min(1, weight) where all are alike
  bool by_response = true;  ///< exp(sum), else all alike
};

struct DrawnWindows {
  explicit DrawnWindows(Size window) : samples(window) {}
  training::WindowSamples samples;
  std::vector<float> inverse_probability;  ///< by sample
};

/// What one search through all negatives gives.
struct SearchedNegatives {
  explicit SearchedNegatives(Size window) : seen(window), held_out(window) {}
  DrawnWindows seen, held_out;
  std::int64_t windows = 0;        ///< of the pictures that boosting sees
  std::vector<std::int64_t> left;  ///< of these, after each weak classifier
  std::int64_t held_out_windows = 0;
  std::vector<std::int64_t> held_out_left;
  std::vector<std::int32_t>
      best_held_out;  ///< the largest sum in each held-out picture that has windows left, falling
  std::size_t held_out_pictures = 0;
};

/// Searches all pictures with the classifier so far, which may be empty. Throws TrainingStopped, Error
/// (input).
/// @param round  of the training; another one draws other windows
SearchedNegatives search_negatives(const training::ImageSet& pictures, const Model& model,
                                   const TrainingOptions& options, int round, const Draw& seen,
                                   const Draw& held_out, training::ProgressClock& clock);

}  // namespace sightline::waldboost
