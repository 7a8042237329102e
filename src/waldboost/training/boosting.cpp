#include "waldboost/training/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"
#include "training/random.hpp"
#include "waldboost/scan.hpp"

namespace sightline::waldboost {
namespace {

using Histogram = std::array<double, kCodes>;

Histogram histogram(std::span<const std::uint8_t> codes, std::span<const float> weights, double total) {
  // Two, taken in turn: neighbouring samples seldom wait for each other's sums.
  std::array<std::array<float, kCodes>, 2> parts{};
  std::size_t i = 0;
  for (; i + 1 < codes.size(); i += 2) {
    parts[0][codes[i]] += weights[i];
    parts[1][codes[i + 1]] += weights[i + 1];
  }
  if (i < codes.size()) parts[0][codes[i]] += weights[i];
  Histogram sums{};
  for (int c = 0; c < kCodes; ++c) sums[c] = 0.5 * (double{parts[0][c]} + double{parts[1][c]}) / total;
  return sums;
}

double total_of(std::span<const float> weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

}  // namespace

std::vector<Feature> all_features(Size window, FeatureKind kind, std::size_t most, std::uint64_t seed) {
  std::vector<Feature> features;
  const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
  for (int height = 1; height <= kMaxBlock; ++height) {
    for (int width = 1; width <= kMaxBlock; ++width) {
      for (int y = 0; y + kGrid * height <= window.height; ++y) {
        for (int x = 0; x + kGrid * width <= window.width; ++x) {
          if (kind == FeatureKind::lbp) {
            features.push_back({byte(x), byte(y), byte(width), byte(height), 0, 0});
            continue;
          }
          for (int first = 0; first < kGrid * kGrid; ++first) {
            for (int second = first + 1; second < kGrid * kGrid; ++second)
              features.push_back({byte(x), byte(y), byte(width), byte(height), byte(first), byte(second)});
          }
        }
      }
    }
  }
  if (features.size() <= most) return features;
  training::Random random(seed, 0xfea7);
  for (std::size_t i = 0; i < most; ++i)
    std::swap(features[i], features[i + random.below(features.size() - i)]);
  features.resize(most);
  return features;
}

void Samples::add(GrayView window) {
  for (int y = 0; y < window_.height; ++y)
    pixels_.insert(pixels_.end(), window.row(y), window.row(y) + window_.width);
}

void CodeTable::assign(const Samples& samples) {
  samples_ = samples.size();
  codes_.resize(features_.size() * samples_);
  parallel_for_isolated(features_.size(), [&](std::size_t f) {
    std::uint8_t* const codes = codes_.data() + f * samples_;
    for (std::size_t i = 0; i < samples_; ++i)
      codes[i] = static_cast<std::uint8_t>(reference::code(kind_, features_[f], samples.view(i), 0, 0));
  });
}

WeakClassifier best_weak_classifier(std::size_t features, const WeightedCodes& positives,
                                    const WeightedCodes& negatives, const Smoothing& smoothing, double unit) {
  const double positive = total_of(positives.weights), negative = total_of(negatives.weights);
  std::vector<double> z(features);
  parallel_for_isolated(features, [&](std::size_t f) {
    const Histogram p = histogram(positives.table->codes(f), positives.weights, positive);
    const Histogram n = histogram(negatives.table->codes(f), negatives.weights, negative);
    double sum = 0;
    for (int c = 0; c < kCodes; ++c) sum += std::sqrt((p[c] + smoothing.weight) * (n[c] + smoothing.weight));
    z[f] = 2 * sum;
  });
  WeakClassifier best;
  best.feature = static_cast<std::size_t>(std::min_element(z.begin(), z.end()) - z.begin());
  best.z = z[best.feature];
  const Histogram p = histogram(positives.table->codes(best.feature), positives.weights, positive);
  const Histogram n = histogram(negatives.table->codes(best.feature), negatives.weights, negative);
  for (int c = 0; c < kCodes; ++c) {
    const double response = 0.5 * std::log((p[c] + smoothing.weight) / (n[c] + smoothing.weight));
    best.responses[c] = static_cast<std::int16_t>(std::clamp(std::lround(response / unit), -32767L, 32767L));
  }
  return best;
}

}  // namespace sightline::waldboost
