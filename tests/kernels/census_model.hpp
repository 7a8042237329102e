#pragma once
/// Random census cascades for the tests of the detector and its kernels.

#include <algorithm>
#include <string>
#include <vector>

#include "detectors/census/scan.hpp"
#include "kernels/kernel_test.hpp"
#include "support/cascade.hpp"

namespace sightline::census {

/// What a random cascade is like.
struct Shape {
  std::vector<int> weak{4, 9, 30};  ///< weak classifiers of each stage
  Size window{24, 24};
  int views = 1;
  int most_cell = 2;     ///< side of cells
  int most_weight = 60;  ///< above about 200, sums of the first stages fit no bytes
};

/// Stages of which each rejects about half of the windows that are left of the model's own picture. Sums that
/// are equal to a threshold are frequent.
inline Model drawn_model(unsigned seed, const Shape& shape = {}) {
  constexpr Size kPicture{160, 140};
  test::Numbers numbers(seed);
  const Image<std::uint8_t> picture = cascade::make_picture(kPicture, seed + 100);
  Model model;
  model.name = "random";
  model.label = "thing";
  model.window = shape.window;
  for (int view = 0; view < shape.views; ++view) {
    std::vector<std::pair<int, int>> windows;
    for (int i = 0; i < 600; ++i)
      windows.push_back({numbers(0, kPicture.width - shape.window.width),
                         numbers(0, kPicture.height - shape.window.height)});
    const auto all = static_cast<float>(windows.size());
    for (const int weak : shape.weak) {
      const std::size_t begin = model.weak.size();
      for (int i = 0; i < weak; ++i) {
        WeakClassifier one;
        one.cell = static_cast<std::uint8_t>(numbers(1, shape.most_cell));
        one.x = static_cast<std::uint8_t>(numbers(0, shape.window.width - kCensusSide * one.cell));
        one.y = static_cast<std::uint8_t>(numbers(0, shape.window.height - kCensusSide * one.cell));
        one.weight = static_cast<std::uint16_t>(numbers(1, shape.most_weight));
        for (std::uint8_t& byte : one.codes) byte = static_cast<std::uint8_t>(numbers(0, 255));
        model.weak.push_back(one);
      }
      std::vector<std::int32_t> sums;
      for (const auto& [x, y] : windows) {
        std::int32_t sum = 0;
        for (std::size_t i = begin; i < model.weak.size(); ++i) {
          const WeakClassifier& one = model.weak[i];
          if (contains(one.codes, census_code(picture.view(), x + one.x, y + one.y, one.cell)))
            sum += one.weight;
        }
        sums.push_back(sum);
      }
      std::vector<std::int32_t> sorted = sums;
      std::ranges::sort(sorted);
      const std::int32_t threshold = sorted.empty() ? 0 : sorted[sorted.size() / 2];
      model.stages.push_back({static_cast<int>(model.weak.size()), threshold});
      std::size_t kept = 0;
      for (std::size_t i = 0; i < windows.size(); ++i) {
        if (sums[i] <= threshold) windows[kept++] = windows[i];
      }
      windows.resize(kept);
      model.survivors.push_back(static_cast<float>(windows.size()) / all);
    }
    model.views.push_back({"view " + std::to_string(view), static_cast<int>(model.stages.size()), 0.25});
  }
  return model;
}

}  // namespace sightline::census
