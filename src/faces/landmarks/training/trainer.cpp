#include "faces/landmarks/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "faces/landmarks/finder.hpp"
#include "faces/landmarks/shape.hpp"
#include "faces/landmarks/training/tree.hpp"

namespace sightline::landmarks {
namespace {

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

// The smallest shift with which leaves can hold four standard deviations of their residuals.
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

class Training {
 public:
  Training(const std::vector<Sample>& samples, const TrainingOptions& options)
      : samples_(samples),
        options_(options),
        mean_(mean_shape(samples)),
        mean_shape_(mean_),
        shapes_(samples.size(), mean_),
        residuals_(samples.size()),
        rows_(samples.size()) {}

  // A model of one stage, for where the points are by now.
  Model train_stage(int stage, training::ProgressClock& clock) {
    Random random(options_.seed, static_cast<std::uint64_t>(stage));
    Model model;
    model.mean = mean_;
    model.depth = options_.depth;
    model.stages = 1;
    model.trees = options_.trees;
    model.pixels = options_.pixels;
    model.places = draw_places(mean_, options_, random);
    look(model.places);
    const int shift = shift_for(residuals_, options_.shrinkage);
    model.shifts = {static_cast<std::uint8_t>(shift)};
    const PairOdds odds(mean_, model.places, options_.pair_distance);
    for (int k = 0; k < options_.trees; ++k) {
      clock.check((stage + double{1} * k / options_.trees) / options_.stages,
                  "stage " + std::to_string(stage + 1) + " of " + std::to_string(options_.stages));
      const Tree tree = grow_tree(rows_, residuals_, odds, options_, shift, random);
      take_away(tree, shift);
      model.splits.insert(model.splits.end(), tree.splits.begin(), tree.splits.end());
      model.leaves.insert(model.leaves.end(), tree.leaves.begin(), tree.leaves.end());
    }
    return model;
  }

  void move_on(const Model& stage) {
    const Finder finder(stage);
    parallel_for_isolated(samples_.size(),
                          [&](std::size_t i) { shapes_[i] = finder.find(samples_[i].patch, shapes_[i]); });
  }

 private:
  void look(const std::vector<PixelPlace>& places) {
    parallel_for_isolated(samples_.size(), [&](std::size_t i) {
      const SimilarityTransform transform = mean_shape_.transform_to(shapes_[i]);
      for (std::size_t k = 0; k < places.size(); ++k)
        rows_[i][k] =
            samples_[i].patch[static_cast<std::size_t>(patch_index(shapes_[i], transform, places[k]))];
      for (std::size_t k = 0; k < kCoordinates; ++k)
        residuals_[i][k] = residual(samples_[i].points[k] - shapes_[i][k]);
    });
  }
  void take_away(const Tree& tree, int shift) {
    parallel_for_isolated(samples_.size(), [&](std::size_t i) {
      const Leaf& leaf = tree.leaves[static_cast<std::size_t>(leaf_of(tree, rows_[i]))];
      for (std::size_t k = 0; k < kCoordinates; ++k)
        residuals_[i][k] = residual(residuals_[i][k] - leaf[k] * (1 << shift));
    });
  }
  static std::int16_t residual(int value) {
    return static_cast<std::int16_t>(std::clamp(value, -kLargestResidual, kLargestResidual));
  }

  const std::vector<Sample>& samples_;
  const TrainingOptions& options_;
  Shape mean_;
  MeanShape mean_shape_;
  std::vector<Shape> shapes_;
  std::vector<Residual> residuals_;
  std::vector<PixelRow> rows_;
};

void append(Model& model, const Model& stage) {
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(model.places, stage.places);
  add(model.shifts, stage.shifts);
  add(model.splits, stage.splits);
  add(model.leaves, stage.leaves);
  ++model.stages;
}

}  // namespace

Model train(const std::vector<Sample>& samples, const TrainingOptions& options,
            const training::TrainingState& state, training::ProgressClock& clock) {
  Training training(samples, options);
  Model model;
  for (int stage = 0; stage < options.stages; ++stage) {
    const std::string step = "stage-" + std::to_string(stage + 1);
    std::optional<Model> one =
        state.load(step, [&](const Safetensors& arrays) { return read_model(arrays, step); });
    if (!one) {
      one = training.train_stage(stage, clock);
      state.save(step, container_of(*one));
    }
    training.move_on(*one);
    if (stage == 0) {
      model = *one;
    } else {
      append(model, *one);
    }
  }
  return model;
}

}  // namespace sightline::landmarks
