#pragma once
/// Nearest-neighbour classification of textures, and its accuracy.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "texture/distance.hpp"

namespace sightline::texture {

/// A texture of a known class.
struct LabelledTexture {
  std::size_t label = 0;  ///< index of the class
  TextureRecord record;
};

struct Classification {
  std::vector<std::string> classes;
  std::vector<std::vector<std::int64_t>> confusion;  ///< [class][predicted class]
  std::size_t known = 0;

  std::int64_t total() const;
  std::int64_t right() const;
  double accuracy() const;  ///< share of correct predictions
  /// Accuracy of each class.
  std::vector<double> class_accuracies() const;
};

/// Classifies each of `queries` as the nearest of `known` (the first of equally near ones).
Classification classify(std::vector<std::string> classes, std::span<const LabelledTexture> known,
                        std::span<const LabelledTexture> queries, DistanceKind kind);
/// Leave-one-out classification of `known`: to choose operators and distance on these alone.
Classification classify_left_out(std::vector<std::string> classes, std::span<const LabelledTexture> known,
                                 DistanceKind kind);

/// 95% bootstrap interval of the mean over classes: the 2.5th and 97.5th percentile of the means of 10,000
/// resamples with replacement (B. Efron, "Bootstrap methods", 1979). Classes are resampled, since they differ
/// more than tiles of one class. Deterministic.
struct Interval {
  double low = 0;
  double high = 0;
};
Interval bootstrap_interval(const std::vector<double>& values);

}  // namespace sightline::texture
