#pragma once
/// Local binary patterns (T. Ojala et al., "Multiresolution gray-scale and rotation invariant texture
/// classification with local binary patterns", PAMI 2002) of the 3x3 neighbourhood: bit i of a pixel's code
/// says whether neighbour i is at least as bright as the pixel. A code is *uniform* where its circle of bits
/// changes at most twice; the mapping to bins gives each of the 58 uniform codes one of its own, and all
/// other codes share the last. All in integers: the same bits on every processor (lbp_simd.hpp for SIMD,
/// kernels/image/lbp.clh for OpenCL).

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "image/view.hpp"

namespace sightline {

inline constexpr int kLbpCodes = 256;
inline constexpr int kUniformLbpBins = 59;  ///< the uniform codes, and one for all others

/// (x, y) of each neighbour from the pixel, clockwise from the upper left.
inline constexpr std::array<std::pair<int, int>, 8> kLbpNeighbours{
    {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}}};

/// A code's bin, 0 .. kUniformLbpBins - 1: uniform codes in rising order, then the others'.
inline constexpr std::array<std::uint8_t, kLbpCodes> kUniformLbp = [] {
  std::array<std::uint8_t, kLbpCodes> bins{};
  std::uint8_t next = 0;
  for (unsigned code = 0; code < kLbpCodes; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const bool uniform = std::popcount(static_cast<std::uint8_t>(byte ^ std::rotl(byte, 1))) <= 2;
    bins[code] = uniform ? next++ : static_cast<std::uint8_t>(kUniformLbpBins - 1);
  }
  return bins;
}();

/// The code of a pixel, all of whose neighbours can be read.
inline std::uint8_t lbp_code(GrayView image, int x, int y) {
  unsigned code = 0;
  for (int i = 0; i < 8; ++i) {
    const auto [dx, dy] = kLbpNeighbours[i];
    code |= unsigned{image.at(x + dx, y + dy) >= image.at(x, y)} << i;
  }
  return static_cast<std::uint8_t>(code);
}

/// The bin of a pixel, likewise.
inline std::uint8_t uniform_lbp(GrayView image, int x, int y) {
  return kUniformLbp[lbp_code(image, x, y)];
}

}  // namespace sightline
