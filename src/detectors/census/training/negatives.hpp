#pragma once
/// Windows of pictures without the object that a cascade so far does not reject.

#include <cstdint>
#include <vector>

#include "detectors/census/model.hpp"
#include "detectors/census/training/training.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::census {

/// What one search through all negatives gives. Pictures are held out as positives are.
struct NegativeSearch {
  explicit NegativeSearch(Size window) : drawn(window) {}
  training::WindowSamples drawn;  ///< of those not held out
  std::int64_t windows = 0;       ///< of the pictures that are not held out
  std::int64_t passed = 0;        ///< of these, that all stages leave
  std::int64_t held_out_windows = 0;
  std::vector<std::int64_t> held_out_left;  ///< of these, that each stage leaves
  std::size_t held_out_pictures = 0;
  /// The largest margin in each held-out picture that has windows left, falling.
  std::vector<std::int32_t> best_held_out;
};

/// Searches all pictures with the stages so far; without any, all windows pass. Throws TrainingStopped, Error
/// (input).
/// @param round  of the training; another one draws other windows
/// @param share  of the windows that pass, that are drawn: 0 to 1
NegativeSearch search_negatives(const training::ImageSet& pictures, const Model& model,
                                const TrainingOptions& options, int round, double share,
                                training::ProgressClock& clock);

}  // namespace sightline::census
