#pragma once
/// Hard negatives: windows of negative pictures that the current cascade does not reject.

#include <cstdint>
#include <vector>

#include "detectors/census/model.hpp"
#include "detectors/census/training/training.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::census {

/// Result of one search through all negatives. Pictures are held out like positives.
struct NegativeSearch {
  explicit NegativeSearch(Size window) : drawn(window) {}
  training::WindowSamples drawn;  ///< windows of pictures not held out
  std::int64_t windows = 0;       ///< windows of the pictures not held out
  std::int64_t passed = 0;        ///< windows that pass all stages
  std::int64_t held_out_windows = 0;
  std::vector<std::int64_t> held_out_left;  ///< held-out windows that pass each stage
  std::size_t held_out_pictures = 0;
  /// The largest margin in each held-out picture that has windows left, falling.
  std::vector<std::int32_t> best_held_out;
};

/// Searches all pictures with the stages so far; without any, all windows pass. Throws TrainingStopped, Error
/// (input).
/// @param round  round of training; each draws different windows
/// @param share  share of the passing windows to draw: 0 to 1
NegativeSearch search_negatives(const training::ImageSet& pictures, const Model& model,
                                const TrainingOptions& options, int round, double share,
                                training::ProgressClock& clock);

}  // namespace sightline::census
