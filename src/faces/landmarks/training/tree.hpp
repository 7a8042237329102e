#pragma once
/// One regression tree over differences of pixels. Private to the trainer.

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "faces/landmarks/model.hpp"
#include "faces/landmarks/training/trainer.hpp"

namespace sightline::landmarks {

/// Residual of a sample: true minus current coordinates, padded for vector addition.
using Residual = std::array<std::int16_t, 16>;
inline constexpr int kLargestResidual = 32767;
/// A sample's pixels of the stage.
using PixelRow = std::array<std::uint8_t, kMaxPixels>;

/// Pairs of a stage's pixels, near ones more often than far ones.
class PairOdds {
 public:
  /// @param distance  of which pairs are drawn exp(-1) times as often as of 0, in parts of the box's side
  PairOdds(const Shape& mean, const std::vector<PixelPlace>& places, double distance);
  struct Pair {
    std::uint8_t first, second;
  };
  Pair draw(Random& random) const;

 private:
  std::vector<double> x_, y_;  ///< coordinates in units of the distance
};

struct Tree {
  std::vector<Split> splits;
  std::vector<Leaf> leaves;
};

/// Leaf of a sample.
int leaf_of(const Tree& tree, const PixelRow& pixels);

/// Each node takes the split, of some at random, that leaves the least squared residual of the samples that
/// it is chosen on; ties: the first. Leaves are rounded to units of 2^shift.
Tree grow_tree(const std::vector<PixelRow>& rows, const std::vector<Residual>& residuals,
               const PairOdds& odds, const TrainingOptions& options, int shift, Random& random);

}  // namespace sightline::landmarks
