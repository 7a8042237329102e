#pragma once
/// Real AdaBoost over tables (R. Schapire and Y. Singer, "Improved Boosting Algorithms Using Confidence-rated
/// Predictions", 1999): which feature tells the weighted samples apart best, and with which responses.

#include <cstdint>
#include <span>
#include <vector>

#include "detectors/waldboost/model.hpp"
#include "image/view.hpp"
#include "training/window_samples.hpp"

namespace sightline::waldboost {

/// All features of a window, in the order of block height, block width, y, x and the two blocks or the shape;
/// if these are more than `most`, a random selection of `most`. In 24x24 pixels, there are 1,681 of LBP, 36
/// times as many of LRP and LRD, and 162,336 Haar-like features.
std::vector<Feature> all_features(Size window, FeatureKind kind, std::size_t most, std::uint64_t seed);

using Samples = training::WindowSamples;

/// Every sample's code of every feature: a byte each, feature after feature.
class CodeTable {
 public:
  CodeTable(FeatureKind kind, std::span<const Feature> features) : kind_(kind), features_(features) {}
  /// Replaces the content with the samples' codes; on all threads.
  void assign(const Samples& samples);
  std::span<const std::uint8_t> codes(std::size_t feature) const {
    return {codes_.data() + feature * samples_, samples_};
  }

 private:
  void assign_haar(const Samples& samples);

  FeatureKind kind_;
  std::span<const Feature> features_;
  std::size_t samples_ = 0;
  std::vector<std::uint8_t> codes_;
};

/// A class of weighted samples; a weight of 0 leaves a sample out.
struct WeightedCodes {
  const CodeTable* table = nullptr;
  std::span<const float> weights;
};

/// Weight added to either class in each entry of a table: entries without samples respond 0, those with few
/// are damped.
struct Smoothing {
  double weight = 1e-5;
};

struct WeakClassifier {
  std::size_t feature = 0;
  double z = 0;  ///< 2 sum sqrt(W+ W-) of weights that add up to 1: 1 tells nothing, 0 all
  std::array<std::int16_t, kCodes> responses{};  ///< 1/2 ln(W+ / W-), in units
};

/// The feature of least z, ties to the first; on all threads, with a result that does not depend on them.
/// Each class's weights are scaled to one half, so responses do not depend on the numbers of samples per
/// class.
WeakClassifier best_weak_classifier(std::size_t features, const WeightedCodes& positives,
                                    const WeightedCodes& negatives, const Smoothing& smoothing, double unit);

}  // namespace sightline::waldboost
