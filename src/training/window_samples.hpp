#pragma once
/// Training samples of window detectors: objects cut out of pictures, with copies, and windows of pictures
/// without them.

#include <cstdint>
#include <string>
#include <vector>

#include "image/view.hpp"
#include "training/augmentation.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"

namespace sightline::training {

/// Windows' pixels, one after the other. Thread-safety: any number of readers; writers alone.
class WindowSamples {
 public:
  explicit WindowSamples(Size window) : window_(window) {}
  std::size_t size() const { return pixels_.size() / bytes(); }
  void add(GrayView window);
  void clear() { pixels_.clear(); }
  GrayView view(std::size_t i) const {
    return {pixels_.data() + i * bytes(), window_.width, window_.height, window_.width};
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(window_.width) * window_.height; }
  Size window_;
  std::vector<std::uint8_t> pixels_;
};

/// Options for cutting objects out of positives and for holding out pictures.
struct CutOptions {
  Size window{24, 24};
  /// Margin of a positive picture around the central object, relative to the object's sides.
  double margin = 0.25;
  int copies = 4;          ///< copies of each positive, slightly moved, turned, zoomed and maybe mirrored
  double shift = 0.035;    ///< maximum shift of a copy, relative to the object's sides
  double zoom = 0.06;      ///< likewise, of its size
  double turn = 10;        ///< likewise, degrees
  Roughness roughness;     ///< likewise; mirrored pictures without the object have it, too
  double held_out = 0.25;  ///< share of the pictures that the thresholds are estimated on
  std::uint64_t seed = 1;
};

/// The same, with the search of negatives and the model's metadata.
struct WindowTrainingOptions : CutOptions {
  int negatives = 30'000;         ///< windows that boosting sees at a time
  double scale_step = 1.15;       ///< scale step of the search of negatives
  int mirrored_negatives = 1;     ///< 1: negatives are searched mirrored as well, 0: they are not
  double false_positives = 0.05;  ///< share of the held-out negatives that have one at the model's threshold
  double box_scale = 1;           ///< see the model's box_scale
  std::string provenance;         ///< description of the pictures, stored in the model
};

/// Text of the options that a run depends on, for training::run_signature.
std::string signature(const CutOptions& options);
std::string signature(const WindowTrainingOptions& options);

/// Whether a picture of a set of `pictures` is held out: blocks of twenty in a row (fewer in sets of less
/// than 400), so that pictures of one person or scene, which are adjacent in most sets, stay together.
bool is_held_out(std::size_t picture, std::size_t pictures, const CutOptions& options);

/// Random number of one window in one round of a search: uniform in [0, 1), independent of the other windows.
/// Selecting numbers below a share draws windows with that probability.
double window_number(std::uint64_t seed, int round, std::size_t picture, int level, int x, int y);

/// Numbers the objects that the pictures show, from 0, in their order: consecutive pictures named NAME~COPY,
/// which are copies of one object, share its number. So objects are held out with all their copies.
std::vector<std::size_t> number_sources(const ImageSet& pictures);
inline constexpr char kCopyMark = '~';

struct PositiveSamples {
  explicit PositiveSamples(Size window) : seen(window), held_out(window) {}
  WindowSamples seen;      ///< used for boosting
  WindowSamples held_out;  ///< used for the thresholds
};

/// Every positive and its copies, in order; with two objects or more, each side has at least one, unless none
/// is held out. Throws Error (input) if a picture is too small or cannot be read, and TrainingStopped.
PositiveSamples cut_positives(const ImageSet& pictures, const CutOptions& options, ProgressClock& clock);

/// Throws Error (input) where boosting or the thresholds have none.
void require_both_sides(const PositiveSamples& samples);

}  // namespace sightline::training
