#pragma once
/// The code of a Haar-like feature (P. Viola and M. Jones, "Rapid object detection using a boosted cascade of
/// simple features", CVPR 2001): how much of its brightness is in the bright cells.
///
///     share = floor(128 bright / (bright + dark)),  code = min(max(share - 32, 0), 63)
///
/// where bright and dark are sums over cells, weighted so that both count as many pixels (kHaarShapes); all
/// black, a half is bright. The difference of the two, in parts of their sum, is what twice the brightness
/// leaves unchanged, as do codes of more contrast: no feature is divided by the window's standard deviation,
/// as Viola and Jones do, which would take an integral image of squares and a square root for each window,
/// and is no whole number. (S. Liao et al., "A fast and accurate unconstrained face detector", PAMI 2016, do
/// likewise with pairs of pixels.) 64 steps of 1/128 about the half hold all but the strongest edges.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "waldboost/model.hpp"

namespace sightline::waldboost {

inline constexpr std::uint32_t kHaarSteps = 128;  ///< of a share from 0 to 1
inline constexpr int kHaarCodes = 64;             ///< about the half

/// @param cells  sums of the shape's cells, row after row
inline int haar_code(const HaarShape& shape, const std::uint32_t* cells) {
  std::uint32_t bright = 0, all = 0;
  for (int i = 0; i < shape.columns * shape.rows; ++i) {
    const auto weight = static_cast<std::uint32_t>(shape.weights[static_cast<std::size_t>(i)]);
    bright += shape.is_bright(i) ? weight * cells[i] : 0;
    all += weight * cells[i];
  }
  const std::uint32_t share = all > 0 ? kHaarSteps * bright / all : kHaarSteps / 2;
  constexpr int kFirst = static_cast<int>(kHaarSteps / 2) - kHaarCodes / 2;
  return std::clamp(static_cast<int>(share) - kFirst, 0, kHaarCodes - 1);
}

/// @param corner  of the window in an integral image, whose rows lie `stride` elements apart
/// (image/integral.hpp)
inline int haar_code(const Feature& feature, const std::uint32_t* corner, std::ptrdiff_t stride) {
  const HaarShape& shape = kHaarShapes[feature.first];
  std::array<std::uint32_t, kBlocks> cells;
  const std::uint32_t* top = corner + feature.y * stride + feature.x;
  for (int row = 0, i = 0; row < shape.rows; ++row) {
    const std::uint32_t* const bottom = top + feature.block_height * stride;
    for (int x = 0; x < shape.columns * feature.block_width; x += feature.block_width, ++i) {
      const int right = x + feature.block_width;
      cells[static_cast<std::size_t>(i)] = bottom[right] - bottom[x] - top[right] + top[x];
    }
    top = bottom;
  }
  return haar_code(shape, cells.data());
}

}  // namespace sightline::waldboost
