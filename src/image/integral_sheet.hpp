#pragma once
/// Memory layout of a pyramid's levels and their integral images: one block for the images and one for the
/// integrals, the same on every processor, so that each is copied as a whole.
///
/// | data      | element          | order                                       |
/// |-----------|------------------|---------------------------------------------|
/// | images    | uint8            | level after level, [y][x]                   |
/// | integrals | uint32 or uint16 | plane after plane (sums, squares, tilted)   |
///
/// A plane of integrals holds all levels in one sheet of `stride` elements a row, as OpenCV's does: the
/// corners of a rectangle then lie at the same distances from a window's corner on all levels. Levels of a
/// step of 1 have column x at x. Levels of a step of 2 are for windows that are two pixels apart; there, even
/// columns lie in the left half of the sheet and odd ones in the right half, so that neighbouring windows
/// have their corners side by side, in SIMD lanes and in a device's work-items:
///
///     element(X, Y) = origin + Y * stride + column(X),  column(X) = X                         (step 1)
///                                                                   X / 2 + X % 2 * stride/2  (step 2)
///
/// Thread-safety: plain values and pure functions.

#include <cstddef>
#include <cstdint>
#include <span>

#include "image/view.hpp"

namespace sightline {

inline constexpr int kSheetSlack = 64;  ///< elements past a plane's last row that SIMD code may read
inline constexpr int kPixelUnit = 16;   ///< pixels per step in the computation of integrals

/// One level on a sheet.
struct SheetLevel {
  Size size;                ///< image size in pixels; integrals have one more row and column
  int step = 1;             ///< 1 or 2: the order of the integrals' columns, see above
  std::int64_t image = 0;   ///< byte offset of the image
  int image_stride = 0;     ///< bytes from row to row: whole cache lines
  std::int64_t origin = 0;  ///< offset of element (0, 0) of the integrals in each plane, in elements
};

/// Integrals that are made of each level's pixels.
struct SheetContents {
  int planes = 1;         ///< 1: sums; 2: and squares; 3: and tilted sums
  int element_bytes = 4;  ///< element size: 4, or 2 for sums alone
};

/// Layout of all levels' images and integrals.
struct IntegralSheet : SheetContents {
  std::int64_t image_bytes = 0;  ///< size of all levels
  int stride = 0;                ///< elements from row to row of a plane; even
  std::int64_t plane = 0;        ///< elements of a plane

  std::int64_t integral_bytes() const { return plane * planes * element_bytes; }
  static constexpr int kSquares = 1;  ///< the plane's number
  static constexpr int kTilted = 2;

  /// Column X of a level's integrals, from the level's origin.
  int column(int step, int x) const { return step == 1 ? x : x / 2 + x % 2 * (stride / 2); }
};

/// Places every level of the given size (1 x 1 pixel and more) and step. Levels with step 2 come first, then
/// those with step 1. Each is placed beside the one before while the row of the sheet, which is as wide as
/// the widest level, has room. Without levels, the sheet is empty.
IntegralSheet plan_sheet(std::span<SheetLevel> levels, SheetContents contents);

}  // namespace sightline
