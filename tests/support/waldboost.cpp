#include "support/waldboost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace sightline::test {
namespace {

using waldboost::Feature;
using waldboost::FeatureKind;
using waldboost::kGrid;

constexpr int kWindows = 1000;  // that thresholds are made for

using Generator = std::mt19937;

int below(Generator& random, int n) {
  return static_cast<int>(random() % static_cast<unsigned>(n));
}

struct Window {
  std::vector<std::uint8_t> pixels;
  std::int32_t sum = 0;  // of the responses so far
};

// A slope, an edge and noise of random strength; hardly any noise in some.
Window random_window(Generator& random, Size size) {
  Window window;
  const int dx = below(random, 9) - 4, dy = below(random, 9) - 4;
  const int edge = below(random, size.width), step = below(random, 100);
  const int noise = 1 + below(random, 2) * below(random, 60);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const int value = 80 + dx * x / 2 + dy * y / 2 + (x > edge ? step : 0) + below(random, noise);
      window.pixels.push_back(static_cast<std::uint8_t>(std::clamp(value, 0, 255)));
    }
  }
  return window;
}

Feature random_feature(Generator& random, Size window, FeatureKind kind) {
  Feature feature;
  const auto byte = [&](int n) { return static_cast<std::uint8_t>(below(random, n)); };
  feature.block_width = static_cast<std::uint8_t>(1 + byte(waldboost::kMaxBlock));
  feature.block_height = static_cast<std::uint8_t>(1 + byte(waldboost::kMaxBlock));
  feature.x = byte(window.width - kGrid * feature.block_width + 1);
  feature.y = byte(window.height - kGrid * feature.block_height + 1);
  if (kind != FeatureKind::lbp) {
    feature.first = byte(kGrid * kGrid);
    feature.second =
        static_cast<std::uint8_t>((feature.first + 1 + byte(kGrid * kGrid - 1)) % (kGrid * kGrid));
  }
  return feature;
}

std::array<int, kGrid * kGrid> block_sums(const Window& window, int width, const Feature& feature) {
  std::array<int, kGrid * kGrid> sums{};
  for (int y = 0; y < kGrid * feature.block_height; ++y) {
    for (int x = 0; x < kGrid * feature.block_width; ++x) {
      sums[y / feature.block_height * kGrid + x / feature.block_width] +=
          window.pixels[static_cast<std::size_t>(feature.y + y) * width + feature.x + x];
    }
  }
  return sums;
}

// The sum below which the given share of the windows lies.
std::int32_t sum_at(const std::vector<Window>& windows, double share) {
  std::vector<std::int32_t> sums;
  for (const Window& window : windows) sums.push_back(window.sum);
  std::ranges::sort(sums);
  return sums[static_cast<std::size_t>(share * static_cast<double>(sums.size()))];
}

}  // namespace

waldboost::Model random_waldboost(unsigned seed, int weak, Size window, FeatureKind kind) {
  Generator random(seed);
  waldboost::Model model;
  model.name = "random";
  model.label = "object";
  model.window = window;
  model.kind = kind;
  model.unit = std::ldexp(1.0, -10);
  std::vector<Window> windows;
  for (int i = 0; i < kWindows; ++i) windows.push_back(random_window(random, window));
  double rejected = 0.3;
  for (int i = 0; i < weak; ++i) {
    const Feature feature = random_feature(random, window, kind);
    model.features.push_back(feature);
    for (int code = 0; code < waldboost::kCodes; ++code)
      model.responses.push_back(static_cast<std::int16_t>(below(random, 2001) - 1000));
    for (Window& one : windows)
      one.sum += model.table(i)[waldboost::code_of(kind, feature, block_sums(one, window.width, feature))];
    const bool rejects = i == 0 || below(random, 5) != 0;
    const std::int32_t threshold = rejects ? sum_at(windows, rejected) : waldboost::kNoThreshold;
    std::erase_if(windows, [&](const Window& one) { return one.sum < threshold; });
    model.thresholds.push_back(threshold);
    model.survivors.push_back(static_cast<float>(windows.size()) / kWindows);
    if (rejects) rejected *= 0.87;
  }
  return model;
}

}  // namespace sightline::test
