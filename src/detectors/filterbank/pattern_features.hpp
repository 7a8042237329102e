#pragma once
/// The features of a cell's patterns by their counts.

#include <array>
#include <cstdint>

namespace sightline::filterbank {

inline constexpr int kMaxCellPixels = 256;

/// Feature of a pattern that `count` pixels of a cell have: `round(kPatternFactor * sqrt(count * 64 /
/// pixels))`, in the arithmetic of histogram_row. A byte holds every count but one, and there the next one
/// has the same feature: 255 of 256 pixels.
using PatternFeatures = std::array<std::uint8_t, kMaxCellPixels>;

/// @param pixels  1 to kMaxCellPixels. Thread-safe.
const PatternFeatures& pattern_features(int pixels);

}  // namespace sightline::filterbank
