#pragma once
/// Mining of negatives: selects windows of pictures without the object. First at random, then round by round
/// the windows with the highest scores of the current detector ("hard negatives").
///
/// Only the windows' positions are stored. Their features are recomputed when needed, which is cheaper than
/// storing them and lets a stopped run resume from a small file.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "training/for_each_image.hpp"
#include "training/image_set.hpp"
#include "training/state.hpp"

namespace sightline::training {

/// One window of the pyramid over one picture, as the family numbers levels and positions (pixels, cells):
/// below 65,536 each, which pictures to train on are far from. Ordered by image, level, x, y.
struct WindowKey {
  std::uint32_t image = 0;
  std::uint16_t level = 0;
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  friend auto operator<=>(const WindowKey&, const WindowKey&) = default;
};

/// Up to `per_image` different windows of every picture, in order. A level is drawn first, all alike, then a
/// window of it: the few windows of small levels are as likely as the many of the large ones.
///
/// @param levels  how many windows across and down each level over a picture has, at least 1 x 1; none where
///                the picture is too small. Called from the calling thread.
std::vector<WindowKey> random_windows(const ImageSet& images, int per_image, std::uint64_t seed,
                                      const std::function<std::vector<Size>(GrayView)>& levels);

/// Limits of hard windows.
struct MiningLimits {
  std::size_t per_image = 20;  ///< windows of one picture in one round: the hardest
  double threshold = 0;        ///< windows with a higher score are hard
};

/// Takes the scored windows of one picture and keeps the hardest: highest score first; of equal scores, the
/// first in the order of keys. Thread-safety: one thread.
class HardWindows {
 public:
  /// @param used  windows that were mined before, and are not mined again; must outlive it
  HardWindows(std::uint32_t image, const MiningLimits& limits, const std::set<WindowKey>& used)
      : image_(image), limits_(limits), used_(used) {}

  /// A window that was looked at, whatever its score, in any order; each once.
  void offer(double score, int level, int x, int y) {
    ++offered_;
    false_positives_ += score > 0 ? 1 : 0;
    if (!(score > limits_.threshold)) return;
    const WindowKey key{image_, static_cast<std::uint16_t>(level), static_cast<std::uint16_t>(x),
                        static_cast<std::uint16_t>(y)};
    if (!used_.contains(key)) hard_.emplace_back(-score, key);
  }

  /// The hardest, in the order of keys. To be called once.
  std::vector<WindowKey> take();

  std::int64_t offered() const { return offered_; }
  std::int64_t false_positives() const { return false_positives_; }  ///< windows with a score above 0

 private:
  std::uint32_t image_;
  MiningLimits limits_;
  const std::set<WindowKey>& used_;
  std::vector<std::pair<double, WindowKey>> hard_;  ///< by negated score
  std::int64_t offered_ = 0;
  std::int64_t false_positives_ = 0;
};

/// The result of one round.
struct MinedWindows {
  std::vector<WindowKey> windows;    ///< sorted
  std::int64_t offered = 0;          ///< windows that were looked at
  std::int64_t false_positives = 0;  ///< windows with a score above 0
};

/// One round of mining: `scan(picture, workspace, hard)` offers the windows of every picture with the current
/// detector's scores. Runs on all threads, see for_each_image; the result does not depend on their number.
/// Throws TrainingStopped if the clock's report requests a stop.
template <typename MakeWorkspace, typename Scan>
MinedWindows mine_hard_windows(const ImageSet& images, const MiningLimits& limits,
                               const std::set<WindowKey>& used, ProgressClock& clock,
                               const MakeWorkspace& make_workspace, const Scan& scan) {
  std::vector<MinedWindows> found(images.size());
  for_each_image(images.size(), clock, make_workspace, [&](std::size_t i, auto& workspace) {
    const Image<std::uint8_t> picture = images.load(i);
    HardWindows hard(static_cast<std::uint32_t>(i), limits, used);
    scan(picture.view(), workspace, hard);
    found[i] = {hard.take(), hard.offered(), hard.false_positives()};
  });
  MinedWindows all;
  for (const MinedWindows& one : found) {
    all.windows.insert(all.windows.end(), one.windows.begin(), one.windows.end());
    all.offered += one.offered;
    all.false_positives += one.false_positives;
  }
  return all;
}

/// The windows of each of `images` pictures, as parts of `windows`, which must be in order and name no other
/// picture.
std::vector<std::span<const WindowKey>> windows_by_image(std::span<const WindowKey> windows,
                                                         std::size_t images);

/// Loads and saves a step's windows in its training state. See TrainingState.
std::optional<std::vector<WindowKey>> load_windows(const TrainingState& state, const std::string& step);
void save_windows(const TrainingState& state, const std::string& step, std::span<const WindowKey> windows);

}  // namespace sightline::training
