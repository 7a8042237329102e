#pragma once
/// Hard negatives: windows of negative pictures that the current cascade accepts.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "detectors/cascade/detector.hpp"
#include "detectors/cascade/training/training.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/window_samples.hpp"

namespace sightline::cascade {

/// Negatives drawn for a stage.
struct FoundNegatives {
  explicit FoundNegatives(Size window) : samples(window) {}
  training::WindowSamples samples;  ///< the requested number, or all
  NegativeCounts counts;
};

/// The negatives of one training, stage after stage. Thread-safety: one thread.
///
/// A stage passes a subset of the windows that the stages before passed, since only the first stage skips
/// windows. Once the remaining windows of all pictures are few enough, they are kept, and no picture is
/// searched again.
class Negatives {
 public:
  /// @param pictures, pool, options  must outlive it
  Negatives(const training::ImageSet& pictures, const FeaturePool& pool, const TrainingOptions& options);

  /// Draws windows at random from those that a cascade passes. Searches pictures in random order until some
  /// hundreds were searched and there is enough choice. If the first stages pass thousands of windows a
  /// picture, most pictures are skipped, and each of the others gives at most a sixteenth of the requested
  /// windows. On all threads; the result does not depend on them. Throws TrainingStopped, Error (input).
  /// @param model  model of the stages so far; without stages all windows pass
  FoundNegatives draw(const Model& model, int round, training::ProgressClock& clock);

  /// Adds a stage that was trained on the last windows drawn, or was loaded from an earlier run's state.
  void add(const TrainedStage& stage);

 private:
  /// A window with its position and random number.
  struct Window {
    double number = 0;  ///< the lowest numbers are drawn
    std::size_t picture = 0;
    LevelWindow place;
    std::vector<std::uint8_t> pixels;
    friend bool operator<(const Window& a, const Window& b) {
      return std::tie(a.number, a.picture, a.place) < std::tie(b.number, b.picture, b.place);
    }
  };
  class Lowest;

  bool would_all_fit() const;
  std::vector<Window> search(const Model& model, int round, std::size_t most, bool all,
                             training::ProgressClock& clock);
  std::vector<Window> windows_of(CascadeWorkspace& workspace, std::size_t picture, int round,
                                 std::size_t most, double limit) const;
  std::vector<std::size_t> order_of(int round) const;
  FoundNegatives first(const std::vector<Window>& windows) const;

  const training::ImageSet& pictures_;
  const FeaturePool& pool_;
  const TrainingOptions& options_;
  std::size_t capacity_;  ///< windows that are kept at most
  NegativeCounts last_;
  bool keeps_all_ = false;
  std::vector<Window> kept_;
};

}  // namespace sightline::cascade
