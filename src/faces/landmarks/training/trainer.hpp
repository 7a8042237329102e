#pragma once
/// Trains landmarks: gradient boosting of regression trees, stage after stage (Kazemi and Sullivan 2014).
///
/// All that is learned from is whole numbers: sums of residuals are exact, and do not depend on threads. The
/// leaves are rounded as they are stored while training goes on, so that later trees make up for it.

#include <cstdint>
#include <vector>

#include "faces/landmarks/model.hpp"
#include "faces/landmarks/training/samples.hpp"
#include "training/progress.hpp"
#include "training/state.hpp"

namespace sightline::landmarks {

struct TrainingOptions {
  int stages = 15;
  int trees = 200;  ///< trees of a stage
  int depth = 4;
  int pixels = 256;            ///< pixels of a stage
  int candidates = 100;        ///< splits of which the best one is taken, for each node
  int split_samples = 16384;   ///< random samples for the splits of each tree; leaves use all samples
  double shrinkage = 0.07;     ///< part of a leaf's mean residual that it takes away
  double reach = 0.1;          ///< distance of pixels beyond the points, relative to the box's side
  double pair_distance = 0.1;  ///< pairs of pixels are drawn with exp(-their distance over this), likewise
  std::uint64_t seed = 1;
};

/// @param samples  at least one
/// Throws TrainingStopped.
Model train(const std::vector<Sample>& samples, const TrainingOptions& options,
            const training::TrainingState& state, training::ProgressClock& clock);

}  // namespace sightline::landmarks
