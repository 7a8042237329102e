#pragma once
/// Modified census transform (B. Froeba and A. Ernst, "Face Detection with the Modified Census Transform", FG
/// 2004): nine bits that say which pixels of a 3x3 neighbourhood, the middle one included, are brighter than
/// its mean. Exact: a bit is 9 * pixel > sum. Row by row, the first pixel is the highest bit. Never all nine:
/// 0..510, and 0 if the neighbourhood is flat. In place of pixels, it may compare cells of 2x2: their
/// means, as the picture reduced by a half has them.

#include "image/view.hpp"

namespace sightline {

inline constexpr int kCensusSide = 3;     ///< pixels
inline constexpr int kCensusCodes = 511;  ///< 0..510
inline constexpr int kMostCell = 2;       ///< pixels a side

/// Mean of the cell whose upper left pixel is (x, y): of 2x2 pixels rounded, halves up; of one, itself.
inline int census_cell(GrayView image, int x, int y, int cell) {
  if (cell == 1) return image.at(x, y);
  return (image.at(x, y) + image.at(x + 1, y) + image.at(x, y + 1) + image.at(x + 1, y + 1) + 2) / 4;
}

/// The code of the neighbourhood whose upper left pixel is (x, y).
/// @param cell  side of the compared cells: 1 or 2
inline int census_code(GrayView image, int x, int y, int cell = 1) {
  const auto value = [&](int i) {
    return census_cell(image, x + i % kCensusSide * cell, y + i / kCensusSide * cell, cell);
  };
  int sum = 0;
  for (int i = 0; i < kCensusSide * kCensusSide; ++i) sum += value(i);
  int code = 0;
  for (int i = 0; i < kCensusSide * kCensusSide; ++i)
    code = 2 * code + (kCensusSide * kCensusSide * value(i) > sum ? 1 : 0);
  return code;
}

/// The code of the same neighbourhood in the image turned by a quarter counterclockwise, which moves the
/// right side to the top.
constexpr int turned_census_code(int code) {
  int turned = 0;
  for (int row = 0; row < kCensusSide; ++row) {
    for (int column = 0; column < kCensusSide; ++column) {
      // Pixel (column, row) of the turned one was at (2 - row, column).
      const int from = column * kCensusSide + (kCensusSide - 1 - row);
      turned = 2 * turned + (code >> (kCensusSide * kCensusSide - 1 - from) & 1);
    }
  }
  return turned;
}

}  // namespace sightline
