// The support vector machine, and the step from its weights to a model's integers.
#include "detectors/filterbank/training/svm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "detectors/filterbank/kernels.hpp"
#include "detectors/filterbank/training/training.hpp"

namespace sightline::filterbank {

namespace {

// Block features have unit length; scaled by 0.1, C = 1 is a sensible cost for windows of a hundred blocks.
constexpr double kFeatureScale = 0.1 / 255.0;
constexpr double kTolerance = 0.01;  ///< between the largest and the smallest projected gradient
constexpr int kMostPasses = 1000;

// One window of the dual problem.
struct Sample {
  const std::uint8_t* features;
  double label;  ///< 1 or -1
  double alpha = 0;
  double curvature;  ///< curvature of the dual along alpha
};

class Solver {
 public:
  Solver(const Samples& positives, const Samples& negatives, double cost, unsigned seed)
      : random_(seed), ridge_(0.5 / cost), weights_(positives.stride(), 0.0F) {
    for (const auto& [samples, label] : {std::pair(&positives, 1.0), std::pair(&negatives, -1.0)}) {
      for (std::size_t i = 0; i < samples->size(); ++i) {
        const std::uint8_t* const features = (*samples)[i];
        double squares = 0;
        for (std::size_t f = 0; f < samples->features; ++f) squares += features[f] * features[f];
        samples_.push_back({features, label, 0, squares * kFeatureScale * kFeatureScale + 1 + ridge_});
      }
    }
    restart();
  }

  /// One pass over the active samples; true when the solution is good enough.
  bool pass() {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    double largest = -kInfinite;
    double smallest = kInfinite;
    for (std::size_t i = 0; i + 1 < active_.size(); ++i)
      std::swap(active_[i], active_[i + random_.below(active_.size() - i)]);
    for (std::size_t i = 0; i < active_.size(); ++i) {
      Sample& sample = samples_[active_[i]];
      const double gradient = sample.label * score(sample) - 1 + sample.alpha * ridge_;
      if (sample.alpha == 0 && gradient > shrink_above_) {
        active_[i--] = active_.back();
        active_.pop_back();
        continue;
      }
      const double projected = sample.alpha == 0 ? std::min(gradient, 0.0) : gradient;
      largest = std::max(largest, projected);
      smallest = std::min(smallest, projected);
      if (std::fabs(projected) > 1e-12) step(sample, gradient);
    }
    if (largest - smallest > kTolerance) {
      shrink_above_ = largest > 0 ? largest : kInfinite;
      return false;
    }
    if (active_.size() == samples_.size()) return true;
    restart();  // inactive samples may have to move after all
    return false;
  }

  Separator separator(std::size_t features) const {
    Separator result;
    result.weights.assign(weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(features));
    result.bias = bias_;
    return result;
  }

 private:
  double score(const Sample& sample) const {
    return static_cast<double>(svm::dot(sample.features, weights_.data(), weights_.size())) * kFeatureScale +
           bias_;
  }
  void step(Sample& sample, double gradient) {
    const double before = sample.alpha;
    sample.alpha = std::max(before - gradient / sample.curvature, 0.0);
    const double change = (sample.alpha - before) * sample.label;
    svm::add_multiple(static_cast<float>(change * kFeatureScale), sample.features, weights_.size(),
                      weights_.data());
    bias_ += change;
  }
  void restart() {
    active_.resize(samples_.size());
    for (std::size_t i = 0; i < active_.size(); ++i) active_[i] = i;
    shrink_above_ = std::numeric_limits<double>::infinity();
  }

  Random random_;
  double ridge_;
  std::vector<Sample> samples_;
  std::vector<std::size_t> active_;
  double shrink_above_ = 0;
  std::vector<float> weights_;
  double bias_ = 0;
};

}  // namespace

Separator train_svm(const Samples& positives, const Samples& negatives, double cost, unsigned seed,
                    const std::function<void()>& tick) {
  if (positives.size() == 0 || negatives.size() == 0) {
    throw Error(ExitCode::input, "training needs positives and negatives, but there are " +
                                     std::to_string(positives.size()) + " and " +
                                     std::to_string(negatives.size()));
  }
  Solver solver(positives, negatives, cost, seed);
  for (int pass = 0; pass < kMostPasses && !solver.pass(); ++pass) tick();
  return solver.separator(positives.features);
}

void quantise_separator(const Separator& separator, Model& model) {
  double largest = 0;
  for (const double w : separator.weights) largest = std::max(largest, std::fabs(w));
  if (largest == 0)
    throw Error(ExitCode::failed, "training gave a classifier with zero weights", "give more pictures");
  // A few large weights should not cost all others their precision: take the step of least squared error.
  double best_step = largest / kMaxWeight;
  double best_error = -1;
  for (double share = 1.0; share > 0.3; share -= 0.02) {
    const double step = share * largest / kMaxWeight;
    double error = 0;
    for (const double w : separator.weights) {
      const double rounded = step * std::clamp(std::nearbyint(w / step), -1.0 * kMaxWeight, 1.0 * kMaxWeight);
      error += (rounded - w) * (rounded - w);
    }
    if (best_error < 0 || error < best_error) {
      best_error = error;
      best_step = step;
    }
  }
  model.weights.clear();
  for (const double w : separator.weights) {
    model.weights.push_back(static_cast<std::int8_t>(
        std::clamp(std::nearbyint(w / best_step), -1.0 * kMaxWeight, 1.0 * kMaxWeight)));
  }
  model.scale = best_step * kFeatureScale;
  model.bias = std::llround(separator.bias / model.scale);
}

}  // namespace sightline::filterbank
