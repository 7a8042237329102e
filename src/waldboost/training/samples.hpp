#pragma once
/// What a WaldBoost classifier is trained on: objects cut out of pictures, and windows of pictures without
/// them that the classifier so far does not reject.

#include <cstdint>
#include <utility>
#include <vector>

#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "waldboost/training/boosting.hpp"
#include "waldboost/training/training.hpp"

namespace sightline::waldboost {

/// Whether a picture of a set of so many is held out: blocks of twenty in a row (fewer in sets of less than
/// 400), so that pictures of one person or scene, which lie side by side in most sets, stay together.
bool is_held_out(std::size_t picture, std::size_t pictures, const TrainingOptions& options);

struct PositiveSamples {
  explicit PositiveSamples(Size window) : seen(window), held_out(window) {}
  Samples seen;      ///< by boosting
  Samples held_out;  ///< for the thresholds
};

/// Every positive and its copies, in order. Throws Error (input) where a picture is too small or cannot be
/// read, and TrainingStopped.
PositiveSamples cut_positives(const training::ImageSet& pictures, const TrainingOptions& options,
                              training::ProgressClock& clock);

/// How windows are drawn from those that a classifier leaves.
struct Draw {
  double weight = 1;  ///< with probability min(1, weight exp(sum)), or min(1, weight) where all are alike
  bool by_response = true;  ///< exp(sum), else all alike
};

struct DrawnWindows {
  explicit DrawnWindows(Size window) : samples(window) {}
  Samples samples;
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
