#include "landmarks/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/parallel.hpp"
#include "landmarks/shape.hpp"
#include "landmarks/training/tree.hpp"
#include "training/random.hpp"

namespace sightline::landmarks {
namespace {

using training::Random;

Shape mean_shape(const std::vector<Sample>& samples) {
  std::array<std::int64_t, kCoordinates> sums{};
  for (const Sample& sample : samples) {
    for (std::size_t i = 0; i < kCoordinates; ++i) sums[i] += sample.points[i];
  }
  Shape mean;
  for (std::size_t i = 0; i < kCoordinates; ++i)
    mean[i] = static_cast<std::int32_t>(sums[i] / static_cast<std::int64_t>(samples.size()));
  return mean;
}

// A stage's pixels: anywhere around the mean shape, each with the point next to it.
std::vector<PixelPlace> draw_places(const Shape& mean, const TrainingOptions& options, Random& random) {
  const double reach = options.reach * kBoxPixels * kUnit;
  double low[2], high[2];
  for (std::size_t axis = 0; axis < 2; ++axis) {
    low[axis] = std::numeric_limits<double>::infinity();
    high[axis] = -low[axis];
    for (std::size_t i = axis; i < kCoordinates; i += 2) {
      low[axis] = std::min(low[axis], mean[i] - reach);
      high[axis] = std::max(high[axis], mean[i] + reach);
    }
  }
  std::vector<PixelPlace> places;
  for (int i = 0; i < options.pixels; ++i) {
    std::int32_t at[2];
    for (std::size_t axis = 0; axis < 2; ++axis)
      at[axis] = static_cast<std::int32_t>(std::lround(low[axis] + random.unit() * (high[axis] - low[axis])));
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    PixelPlace place;
    for (std::size_t point = 0; point < kPoints; ++point) {
      const std::int64_t x = at[0] - mean[2 * point], y = at[1] - mean[2 * point + 1];
      if (x * x + y * y >= nearest) continue;
      nearest = x * x + y * y;
      place = {static_cast<std::uint8_t>(point), static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)};
    }
    places.push_back(place);
  }
  return places;
}

// The smallest shift with which leaves hold four standard deviations of what they are to take away.
int shift_for(const std::vector<Residual>& residuals, double shrinkage) {
  double squares = 0;
  for (const Residual& residual : residuals) {
    for (std::size_t i = 0; i < kCoordinates; ++i) squares += double{1} * residual[i] * residual[i];
  }
  const double deviation = std::sqrt(squares / static_cast<double>(residuals.size() * kCoordinates));
  int shift = 0;
  while (shift < kMaxShift && 4 * deviation * shrinkage > 127 * (1 << shift)) ++shift;
  return shift;
}

}  // namespace

Model train(const std::vector<Sample>& samples, const TrainingOptions& options,
            training::ProgressClock& clock) {
  Model model;
  model.mean = mean_shape(samples);
  model.depth = options.depth;
  model.trees = options.trees;
  model.pixels = options.pixels;
  const MeanShape mean(model.mean);
  std::vector<Shape> shapes(samples.size(), model.mean);
  std::vector<Residual> residuals(samples.size());
  std::vector<PixelRow> rows(samples.size());
  for (int stage = 0; stage < options.stages; ++stage) {
    clock.check(double{1} * stage / options.stages);
    Random random(options.seed, static_cast<std::uint64_t>(stage));
    const std::vector<PixelPlace> places = draw_places(model.mean, options, random);
    parallel_for_isolated(samples.size(), [&](std::size_t i) {
      const Turn turn = mean.turn_to(shapes[i]);
      for (std::size_t k = 0; k < places.size(); ++k)
        rows[i][k] = samples[i].patch[static_cast<std::size_t>(patch_index(shapes[i], turn, places[k]))];
      for (std::size_t k = 0; k < kCoordinates; ++k)
        residuals[i][k] = static_cast<std::int16_t>(
            std::clamp(samples[i].points[k] - shapes[i][k], -kLargestResidual, kLargestResidual));
    });
    const int shift = shift_for(residuals, options.shrinkage);
    const PairOdds odds(model.mean, places, options.pair_distance);
    std::vector<std::array<std::int32_t, kCoordinates>> sums(samples.size());
    for (int k = 0; k < options.trees; ++k) {
      clock.check((stage + double{1} * k / options.trees) / options.stages);
      const Tree tree = grow_tree(rows, residuals, odds, options, shift, random);
      parallel_for_isolated(samples.size(), [&](std::size_t i) {
        const Leaf& leaf = tree.leaves[static_cast<std::size_t>(leaf_of(tree, rows[i]))];
        for (std::size_t c = 0; c < kCoordinates; ++c) {
          residuals[i][c] = static_cast<std::int16_t>(
              std::clamp(residuals[i][c] - leaf[c] * (1 << shift), -kLargestResidual, kLargestResidual));
          sums[i][c] += leaf[c];
        }
      });
      model.splits.insert(model.splits.end(), tree.splits.begin(), tree.splits.end());
      model.leaves.insert(model.leaves.end(), tree.leaves.begin(), tree.leaves.end());
    }
    for (std::size_t i = 0; i < samples.size(); ++i) move_points(shapes[i], sums[i].data(), shift);
    model.places.insert(model.places.end(), places.begin(), places.end());
    model.shifts.push_back(static_cast<std::uint8_t>(shift));
    model.stages = stage + 1;
  }
  return model;
}

}  // namespace sightline::landmarks
