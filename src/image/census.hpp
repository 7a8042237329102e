#pragma once
/// Modified census transform (B. Froeba and A. Ernst, "Face Detection with the Modified Census Transform", FG
/// 2004): nine bits that say which pixels of a 3x3 neighbourhood, the middle one included, are brighter than
/// its mean. Exact: a bit is 9 * pixel > sum. Row by row, the first pixel is the highest bit. Never all nine:
/// 0..510, and 0 where the neighbourhood is flat.

#include "image/view.hpp"

namespace sightline {

inline constexpr int kCensusSide = 3;     ///< pixels
inline constexpr int kCensusCodes = 511;  ///< 0..510

/// The code of the neighbourhood whose upper left pixel is (x, y).
inline int census_code(GrayView image, int x, int y) {
  int sum = 0;
  for (int row = 0; row < kCensusSide; ++row) {
    for (int column = 0; column < kCensusSide; ++column) sum += image.at(x + column, y + row);
  }
  int code = 0;
  for (int row = 0; row < kCensusSide; ++row) {
    for (int column = 0; column < kCensusSide; ++column)
      code = 2 * code + (kCensusSide * kCensusSide * image.at(x + column, y + row) > sum ? 1 : 0);
  }
  return code;
}

/// The code of the same neighbourhood where the image is turned by a quarter, counterclockwise: what was at
/// the right is then at the top.
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
