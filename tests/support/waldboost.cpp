#include "support/waldboost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "detectors/waldboost/scan.hpp"
#include "support/cascade.hpp"

namespace sightline::test {
namespace {

using waldboost::Feature;
using waldboost::FeatureKind;
using waldboost::kGrid;

constexpr Size kPicture{160, 140};
constexpr int kSamples = 600;  // windows that thresholds are made for

class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed) {}
  // Integers of [low, high].
  int operator()(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::uint8_t byte(int low, int high) { return static_cast<std::uint8_t>((*this)(low, high)); }

 private:
  std::mt19937_64 engine_;
};

Feature random_haar_feature(Generator& random, Size window) {
  Feature f;
  f.first = random.byte(0, static_cast<int>(waldboost::kHaarShapes.size()) - 1);
  const Size grid = waldboost::grid_of(FeatureKind::haar, f);
  f.block_width = random.byte(1, window.width / grid.width);
  f.block_height = random.byte(1, window.height / grid.height);
  f.x = random.byte(0, window.width - grid.width * f.block_width);
  f.y = random.byte(0, window.height - grid.height * f.block_height);
  return f;
}

Feature random_feature(Generator& random, Size window, FeatureKind kind, Size block) {
  if (kind == FeatureKind::haar) return random_haar_feature(random, window);
  Feature f;
  f.block_width = static_cast<std::uint8_t>(std::min(block.width, window.width / kGrid));
  f.block_height = static_cast<std::uint8_t>(std::min(block.height, window.height / kGrid));
  f.x = random.byte(0, window.width - kGrid * f.block_width);
  f.y = random.byte(0, window.height - kGrid * f.block_height);
  if (kind != FeatureKind::lbp) {
    f.first = random.byte(0, 8);
    f.second = static_cast<std::uint8_t>((f.first + random(1, 8)) % 9);
  }
  return f;
}

struct Sample {
  int x, y;
  std::int32_t sum = 0;
};

}  // namespace

waldboost::Model random_waldboost(unsigned seed, int weak, Size window, FeatureKind kind,
                                  const std::vector<Size>& blocks) {
  Generator random(seed);
  const Image<std::uint8_t> picture = cascade::make_picture(kPicture, seed + 100);
  waldboost::Model model;
  model.name = "random";
  model.label = "object";
  model.window = window;
  model.kind = kind;
  model.unit = 0.25;
  std::vector<Sample> samples;
  for (int i = 0; i < kSamples; ++i)
    samples.push_back({random(0, kPicture.width - window.width), random(0, kPicture.height - window.height)});
  for (int t = 0; t < weak; ++t) {
    Size block{random(1, waldboost::kMaxBlock), random(1, waldboost::kMaxBlock)};
    if (!blocks.empty()) block = blocks[static_cast<std::size_t>(t) % blocks.size()];
    const Feature f = random_feature(random, window, kind, block);
    model.features.push_back(f);
    for (int code = 0; code < waldboost::kCodes; ++code)
      model.responses.push_back(static_cast<std::int16_t>(50 * random(-10, 10)));
    for (Sample& s : samples)
      s.sum += model.table(t)[waldboost::reference::code(kind, f, picture.view(), s.x, s.y)];
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.sum < b.sum; });
    const std::size_t rejected = samples.size() / 6;
    model.thresholds.push_back(rejected > 0 ? samples[rejected].sum : waldboost::kNoThreshold);
    std::erase_if(samples, [&](const Sample& s) { return s.sum < model.thresholds.back(); });
    model.survivors.push_back(static_cast<float>(samples.size()) / kSamples);
  }
  return model;
}

void expect_the_same(const waldboost::Model& a, const waldboost::Model& b) {
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.window, b.window);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.responses, b.responses);
  EXPECT_EQ(a.thresholds, b.thresholds);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.threshold, b.threshold);
  EXPECT_EQ(a.survivors, b.survivors);
  EXPECT_EQ(a.provenance, b.provenance);
}

}  // namespace sightline::test
