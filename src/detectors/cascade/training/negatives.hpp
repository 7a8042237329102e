#pragma once
/// Windows of pictures without the object that a cascade so far takes for it.

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

/// What is drawn for a stage.
struct FoundNegatives {
  explicit FoundNegatives(Size window) : samples(window) {}
  training::WindowSamples samples;  ///< as many as are wanted, or all there are
  NegativeCounts counts;
};

/// The negatives of one training, stage after stage. Thread-safety: one thread.
///
/// What a stage passes is part of what the stages before it passed: a window is skipped or not by the first
/// stage alone. So once the windows that are left of all pictures are few enough to be kept, they are, and no
/// picture is searched again.
class Negatives {
 public:
  /// @param pictures, pool, options  must outlive it
  Negatives(const training::ImageSet& pictures, const FeaturePool& pool, const TrainingOptions& options);

  /// Draws windows at random from those that a cascade passes. Pictures are searched in an order of its own,
  /// until some hundreds have been and there is enough to choose from: where the first stages pass thousands
  /// of windows a picture, most pictures are left out, and each of the others gives no more than a sixteenth
  /// of what is wanted. On all threads; the result does not depend on them. Throws TrainingStopped, Error
  /// (input).
  /// @param model  of the stages so far; may have none: all windows pass then
  FoundNegatives draw(const Model& model, int round, training::ProgressClock& clock);

  /// A stage has been trained on what was drawn last, or was found in the state of a run before.
  void add(const TrainedStage& stage);

 private:
  /// A window with its place and what is drawn by.
  struct Window {
    double number = 0;  ///< those with the lowest are drawn
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
