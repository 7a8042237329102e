#include "detectors/waldboost/training/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "detectors/waldboost/haar.hpp"
#include "detectors/waldboost/scan.hpp"
#include "image/integral.hpp"

namespace sightline::waldboost {
namespace {

using Histogram = std::array<double, kCodes>;

Histogram weighted_histogram(std::span<const std::uint8_t> codes, std::span<const float> weights,
                             double total) {
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
  // Choices of a grid: shapes of Haar-like features; two blocks for ranks.
  std::vector<std::pair<std::uint8_t, std::uint8_t>> choices;
  if (kind == FeatureKind::lbp) {
    choices.emplace_back(0, 0);
  } else if (kind == FeatureKind::haar) {
    for (std::uint8_t shape = 0; shape < kHaarShapes.size(); ++shape) choices.emplace_back(shape, 0);
  } else {
    for (std::uint8_t first = 0; first < kBlocks; ++first) {
      for (std::uint8_t second = first + 1; second < kBlocks; ++second) choices.emplace_back(first, second);
    }
  }
  std::vector<Feature> features;
  const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
  const int largest = kind == FeatureKind::haar ? kMaxWindow : kMaxBlock;
  for (int height = 1; height <= std::min(largest, window.height); ++height) {
    for (int width = 1; width <= std::min(largest, window.width); ++width) {
      for (int y = 0; y + height <= window.height; ++y) {
        for (int x = 0; x + width <= window.width; ++x) {
          for (const auto& [first, second] : choices) {
            const Feature f{byte(x), byte(y), byte(width), byte(height), first, second};
            const Size grid = grid_of(kind, f);
            if (y + grid.height * height <= window.height && x + grid.width * width <= window.width)
              features.push_back(f);
          }
        }
      }
    }
  }
  if (features.size() <= most) return features;
  Random random(seed, 0xfea7);
  for (std::size_t i = 0; i < most; ++i)
    std::swap(features[i], features[i + random.below(features.size() - i)]);
  features.resize(most);
  return features;
}

void CodeTable::assign(const Samples& samples) {
  samples_ = samples.size();
  codes_.resize(features_.size() * samples_);
  if (kind_ == FeatureKind::haar) return assign_haar(samples);
  parallel_for_isolated(features_.size(), [&](std::size_t f) {
    std::uint8_t* const codes = codes_.data() + f * samples_;
    for (std::size_t i = 0; i < samples_; ++i)
      codes[i] = static_cast<std::uint8_t>(reference::code(kind_, features_[f], samples.view(i), 0, 0));
  });
}

// Through integral images: cells may be large. A few samples at a time, which stay in the cache.
void CodeTable::assign_haar(const Samples& samples) {
  constexpr std::size_t kTogether = 64;
  parallel_for_isolated((samples_ + kTogether - 1) / kTogether, [&](std::size_t block) {
    const std::size_t begin = block * kTogether, end = std::min(begin + kTogether, samples_);
    const GrayView window = samples.view(begin);
    SheetLevel level;
    level.size = window.size();
    const IntegralSheet sheet = plan_sheet({&level, 1}, SheetContents());
    const std::size_t plane = static_cast<std::size_t>(sheet.plane);
    std::vector<std::uint32_t> integrals((end - begin) * plane);
    for (std::size_t i = begin; i < end; ++i) {
      integrate_reference(samples.view(i), sheet, level, 0, 0, window.height(),
                          reinterpret_cast<std::byte*>(integrals.data() + (i - begin) * plane));
    }
    for (std::size_t f = 0; f < features_.size(); ++f) {
      use_haar_code(features_[f], sheet.stride, [&](const auto& code_at) {
        const std::uint32_t* corner = integrals.data() + level.origin;
        for (std::size_t i = begin; i < end; ++i, corner += plane)
          codes_[f * samples_ + i] = static_cast<std::uint8_t>(code_at(corner));
      });
    }
  });
}

WeakClassifier best_weak_classifier(std::size_t features, const WeightedCodes& positives,
                                    const WeightedCodes& negatives, const Smoothing& smoothing, double unit) {
  const double positive = total_of(positives.weights), negative = total_of(negatives.weights);
  std::vector<double> z(features);
  parallel_for_isolated(features, [&](std::size_t f) {
    const Histogram p = weighted_histogram(positives.table->codes(f), positives.weights, positive);
    const Histogram n = weighted_histogram(negatives.table->codes(f), negatives.weights, negative);
    double sum = 0;
    for (int c = 0; c < kCodes; ++c) sum += std::sqrt((p[c] + smoothing.weight) * (n[c] + smoothing.weight));
    z[f] = 2 * sum;
  });
  WeakClassifier best;
  best.feature = static_cast<std::size_t>(std::min_element(z.begin(), z.end()) - z.begin());
  best.z = z[best.feature];
  const Histogram p = weighted_histogram(positives.table->codes(best.feature), positives.weights, positive);
  const Histogram n = weighted_histogram(negatives.table->codes(best.feature), negatives.weights, negative);
  for (int c = 0; c < kCodes; ++c) {
    const double response = 0.5 * std::log((p[c] + smoothing.weight) / (n[c] + smoothing.weight));
    best.responses[c] = static_cast<std::int16_t>(std::clamp(std::lround(response / unit), -32767L, 32767L));
  }
  return best;
}

}  // namespace sightline::waldboost
