#pragma once
/// Uniform local binary patterns (T. Ojala et al., "Multiresolution gray-scale and rotation invariant texture
/// classification with local binary patterns", PAMI 2002), radius 1, eight neighbours: bit i of a pixel's
/// code says whether neighbour i is at least as bright as the pixel. A code is uniform where its circle of
/// bits changes at most twice; the 58 uniform codes have a bin each, all others share the last.

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "filterbank/layout.hpp"
#include "image/view.hpp"

namespace sightline::filterbank {

/// (x, y) of each neighbour from the pixel, clockwise from the upper left.
inline constexpr std::array<std::pair<int, int>, 8> kPatternNeighbours{
    {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}}};

/// A code's bin: uniform codes in rising order, then the others'.
inline constexpr std::array<std::uint8_t, 256> kUniformPatterns = [] {
  std::array<std::uint8_t, 256> bins{};
  std::uint8_t next = 0;
  for (unsigned code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const bool uniform = std::popcount(static_cast<std::uint8_t>(byte ^ std::rotl(byte, 1))) <= 2;
    bins[code] = uniform ? next++ : static_cast<std::uint8_t>(kPatternBins - 1);
  }
  return bins;
}();

/// The bin of a pixel, all of whose neighbours can be read.
inline std::uint8_t pattern_at(GrayView image, int x, int y) {
  unsigned code = 0;
  for (int i = 0; i < 8; ++i) {
    const auto [dx, dy] = kPatternNeighbours[i];
    code |= unsigned{image.at(x + dx, y + dy) >= image.at(x, y)} << i;
  }
  return kUniformPatterns[code];
}

/// From the root of a count, scaled to 64 pixels a cell, to its feature: 255 * sqrt(count / 64).
inline constexpr float kPatternFactor = 255.0F / 8.0F;

}  // namespace sightline::filterbank
