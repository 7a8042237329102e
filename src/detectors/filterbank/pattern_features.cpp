#include "detectors/filterbank/pattern_features.hpp"

#include <algorithm>
#include <cmath>

#include "detectors/filterbank/layout.hpp"

namespace sightline::filterbank {
namespace {

using Tables = std::array<PatternFeatures, kMaxCellPixels + 1>;

Tables make_tables() {
  Tables tables{};
  for (int pixels = 1; pixels <= kMaxCellPixels; ++pixels) {
    const float scale = 64.0F / static_cast<float>(pixels);
    for (int count = 0; count < static_cast<int>(tables[pixels].size()); ++count) {
      const float root = std::sqrt(static_cast<float>(std::min(count, pixels)) * scale);
      tables[pixels][count] = static_cast<std::uint8_t>(std::min(std::lrint(root * kPatternFactor), 255L));
    }
  }
  return tables;
}

}  // namespace

const PatternFeatures& pattern_features(int pixels) {
  static const Tables tables = make_tables();
  return tables[pixels];
}

}  // namespace sightline::filterbank
