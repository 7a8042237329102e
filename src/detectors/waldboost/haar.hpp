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

#include "detectors/waldboost/model.hpp"

namespace sightline::waldboost {

inline constexpr std::uint32_t kHaarSteps = 128;  ///< steps of a share from 0 to 1
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

/// @param grid         its upper left corner in an integral image (image/integral.hpp)
/// @param right, down  elements of that from a cell to the next one
template <std::size_t kShape>
inline int haar_code(const std::uint32_t* grid, std::ptrdiff_t right, std::ptrdiff_t down) {
  constexpr HaarShape kLayout = kHaarShapes[kShape];
  std::array<std::uint32_t, kBlocks> cells;
  for (int i = 0; i < kLayout.columns * kLayout.rows; ++i) {
    const std::uint32_t* const cell = grid + i / kLayout.columns * down + i % kLayout.columns * right;
    cells[static_cast<std::size_t>(i)] = cell[down + right] - cell[down] - cell[right] + cell[0];
  }
  return haar_code(kLayout, cells.data());
}

/// Calls `use` with a function from the window's corner in an integral image (rows `stride` elements apart)
/// to a feature's code; each shape has its own function, for loops over windows.
template <class Use>
inline auto use_haar_code(const Feature& feature, std::ptrdiff_t stride, const Use& use) {
  const auto code_of = [&]<std::size_t kShape>() {
    return use([first = feature.y * stride + feature.x, right = std::ptrdiff_t{feature.block_width},
                down = feature.block_height * stride](const std::uint32_t* corner) {
      return haar_code<kShape>(corner + first, right, down);
    });
  };
  static_assert(kHaarShapes.size() == 5);
  switch (feature.first) {
    case 0:
      return code_of.template operator()<0>();
    case 1:
      return code_of.template operator()<1>();
    case 2:
      return code_of.template operator()<2>();
    case 3:
      return code_of.template operator()<3>();
    default:
      return code_of.template operator()<4>();
  }
}

}  // namespace sightline::waldboost
