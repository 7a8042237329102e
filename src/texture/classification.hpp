#pragma once
/// How well textures are told apart: whether the nearest of known ones is of the same class.

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
  std::vector<std::vector<std::int64_t>> confusion;  ///< [class][what it was taken for]
  std::size_t known = 0;

  std::int64_t total() const;
  std::int64_t right() const;
  double accuracy() const;  ///< share of all that were taken for what they are
  /// Of each class.
  std::vector<double> class_accuracies() const;
};

/// Takes each of `queries` for what the nearest of `known` is (of equally near ones, the first).
Classification classify(std::vector<std::string> classes, std::span<const LabelledTexture> known,
                        std::span<const LabelledTexture> queries, DistanceKind kind);
/// The same with each known one as the query against all others: to choose operators and distance without a
/// look at anything else.
Classification classify_left_out(std::vector<std::string> classes, std::span<const LabelledTexture> known,
                                 DistanceKind kind);

/// Where the mean of other classes' values would lie in 95 of 100 cases: from the 2.5th to the 97.5th
/// percentile of the means of 10,000 samples, with replacement, of these (B. Efron, "Bootstrap methods",
/// 1979). Classes differ more than the tiles of one do, so they are what is drawn. The same every time.
struct Interval {
  double low = 0;
  double high = 0;
};
Interval bootstrap_interval(const std::vector<double>& values);

}  // namespace sightline::texture
