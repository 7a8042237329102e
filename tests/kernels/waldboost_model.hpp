#pragma once
/// Random WaldBoost models for the tests of their kernels.

#include <algorithm>
#include <vector>

#include "kernels/kernel_test.hpp"
#include "support/cascade.hpp"
#include "waldboost/scan.hpp"

namespace sightline::waldboost {

/// Weak classifiers of which each rejects about every sixth of the windows that are left, with the survivors
/// of the model's own sample. The last ones reject none. Sums that are equal to a threshold are frequent.
/// @param blocks  sizes that blocks have; none: all
inline Model drawn_model(unsigned seed, int weak, Size window = {24, 24}, FeatureKind kind = FeatureKind::lbp,
                         const std::vector<Size>& blocks = {}) {
  constexpr Size kPicture{160, 140};
  test::Numbers numbers(seed);
  const Image<std::uint8_t> picture = cascade::make_picture(kPicture, seed + 100);
  Model model;
  model.name = "random";
  model.label = "thing";
  model.window = window;
  model.kind = kind;
  model.unit = 0.25;
  struct Sample {
    int x, y;
    std::int32_t sum = 0;
  };
  std::vector<Sample> samples;
  for (int i = 0; i < 600; ++i)
    samples.push_back(
        {numbers(0, kPicture.width - window.width), numbers(0, kPicture.height - window.height)});
  const auto all = static_cast<float>(samples.size());
  for (int t = 0; t < weak; ++t) {
    Feature f;
    Size block{numbers(1, kMaxBlock), numbers(1, kMaxBlock)};
    if (!blocks.empty()) block = blocks[static_cast<std::size_t>(t) % blocks.size()];
    f.block_width = static_cast<std::uint8_t>(std::min(block.width, window.width / kGrid));
    f.block_height = static_cast<std::uint8_t>(std::min(block.height, window.height / kGrid));
    f.x = static_cast<std::uint8_t>(numbers(0, window.width - kGrid * f.block_width));
    f.y = static_cast<std::uint8_t>(numbers(0, window.height - kGrid * f.block_height));
    if (kind != FeatureKind::lbp) {
      f.first = static_cast<std::uint8_t>(numbers(0, 8));
      f.second = static_cast<std::uint8_t>((f.first + numbers(1, 8)) % 9);
    }
    model.features.push_back(f);
    for (int code = 0; code < kCodes; ++code)
      model.responses.push_back(static_cast<std::int16_t>(50 * numbers(-10, 10)));
    for (Sample& s : samples) s.sum += model.table(t)[reference::code(kind, f, picture.view(), s.x, s.y)];
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.sum < b.sum; });
    const std::size_t rejected = samples.size() / 6;
    model.thresholds.push_back(rejected > 0 ? samples[rejected].sum : kNoThreshold);
    std::erase_if(samples, [&](const Sample& s) { return s.sum < model.thresholds.back(); });
    model.survivors.push_back(static_cast<float>(samples.size()) / all);
  }
  return model;
}

}  // namespace sightline::waldboost
