#pragma once
/// Windows of pictures without the object that a cascade so far takes for it.

#include <cstddef>
#include <cstdint>

#include "cascade/model.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::cascade {

/// How they are searched for.
struct NegativeSearch {
  std::size_t wanted = 10'000;
  double scale_step = 1.1;
  std::uint64_t seed = 1;
  int round = 0;  ///< another one draws other windows
};

struct FoundNegatives {
  explicit FoundNegatives(Size window) : samples(window) {}
  training::WindowSamples samples;  ///< what is wanted, or all there is
  std::int64_t windows = 0;         ///< of the pictures that were searched, on all scales
  std::int64_t passed = 0;          ///< of these, that the cascade passes
  std::size_t pictures = 0;         ///< that were searched
};

/// Draws windows at random from those that a cascade passes. Pictures are searched in an order of its own,
/// until some hundreds have been and there is enough to choose from: where the first stages pass thousands of
/// windows a picture, most pictures are left out. A picture gives no more than a sixteenth of what is wanted.
/// On all threads; the result does not depend on them. Throws TrainingStopped, Error (input).
/// @param model  which may have no stages: all windows pass then
FoundNegatives search_negatives(const training::ImageSet& pictures, const Model& model,
                                const NegativeSearch& search, training::ProgressClock& clock);

}  // namespace sightline::cascade
