#pragma once
/// Which windows are searched, and how a cascade's intermediate results lie in memory. All stages, on every
/// processor, share this.
///
/// | data      | element          | order                                             | made by  |
/// |-----------|------------------|---------------------------------------------------|----------|
/// | images    | uint8            | level after level, [y][x]                         | pyramid  |
/// | integrals | uint32 or uint16 | plane after plane (sums, squares, tilted), below  | integral |
/// | survivors | Survivor         | by level, y, x                                    | scan     |
///
/// Images and integrals are one run of memory each for all levels, laid out alike everywhere, and move as a
/// whole.
///
/// A plane of integrals holds all levels in one sheet of `stride` elements a row, as OpenCV's does: a
/// feature's corners then lie at the same distances from a window's corner on all levels. Levels of a step of
/// 1 have column x at x. In levels of a step of 2, neighbouring windows are two pixels apart; there, even
/// columns lie in the left half of the sheet and odd ones in the right half, so that neighbouring windows
/// have their corners side by side, in SIMD lanes and in a device's work-items:
///
///     element(X, Y) = origin + Y * stride + column(X),  column(X) = X                         (step 1)
///                                                                   X / 2 + X % 2 * stride/2  (step 2)
///
/// Row and column 0 of a level's integrals are zero: sums(X, Y) is the sum of the pixels with x < X and y <
/// Y, squares that of their squares, tilted(X, Y) that of the pixels with y < Y and |x - X + 1| < Y - y. All
/// of them wrap around: differences are what is used, and these fit. Sums have 16 bits where all that is used
/// of them are sums of blocks of up to 257 pixels (LBP); then there are neither squares nor tilted sums.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cascade/model.hpp"
#include "detection/window.hpp"
#include "image/view.hpp"

namespace sightline::cascade {

inline constexpr int kLanePad = 64;     ///< elements that SIMD code may read past a row of windows
inline constexpr int kPixelUnit = 16;   ///< integrals are made of so many pixels at a time
inline constexpr int kStrideUnit = 64;  ///< elements; a half of a row begins on a cache line
/// Largest block of an LBP feature whose sum fits in 16 bits.
inline constexpr int kMaxSmallBlock = 65535 / 255;

/// What is searched; each as the argument of that name of OpenCV's detectMultiScale.
struct Search {
  double scale_step = 1.1;  ///< scaleFactor, above 1
  Size min_size;            ///< windows with a smaller side are left out
  Size max_size;            ///< windows with a larger side are left out; 0: none are
};

/// One scale of the search. Window (i, j) of a level has its corner at pixel (i * step, j * step).
struct Level {
  float scale = 1;          ///< frame pixels a pixel of the level
  int step = 1;             ///< pixels between neighbouring windows: 2 below scale 2
  Size size;                ///< of the image; the integrals have a row and a column more
  Size windows;             ///< how many there are; may be none
  Size object;              ///< of a window in frame pixels
  std::int64_t image = 0;   ///< where the image begins: bytes
  int image_stride = 0;     ///< bytes from row to row
  std::int64_t origin = 0;  ///< where element (0, 0) lies in each plane
};

struct Layout {
  Size frame;
  std::vector<Level> levels;
  std::int64_t image_bytes = 0;  ///< of all levels
  int stride = 0;                ///< elements from row to row of a plane; even
  std::int64_t plane = 0;        ///< elements of a plane
  int planes = 1;                ///< 1: sums; 2: and squares; 3: and tilted sums
  int element_bytes = 4;         ///< of all planes: 2 or 4

  std::int64_t integral_bytes() const { return plane * planes * element_bytes; }
  static constexpr int kSquares = 1;  ///< the plane's number
  static constexpr int kTilted = 2;

  /// Column X of a level's integrals, from the level's origin.
  int column(int step, int x) const { return step == 1 ? x : x / 2 + x % 2 * (stride / 2); }
};

/// A window that is still in the running, named by its corner's pixel in the level. One that has passed all
/// stages becomes a Candidate, whose score is the last stage's sum less its threshold, 0 or more.
using Survivor = LevelWindow;

/// The levels that OpenCV 4.6 searches, their windows and their places in memory. The levels go from small
/// windows to large ones; there are none where no window fits.
Layout plan_layout(Size frame, const Model& model, const Search& search);

/// Whether the model's sums have 16 bits.
bool has_small_sums(const Model& model);

/// The window's box in the frame, before it is cut at the frame's edges.
Rect box_in_frame(const Level& level, int x, int y);

/// Where the samples of one axis of a level come from: a mix of source elements `first` and `second`, the
/// second weighted weight / 256. OpenCV's INTER_LINEAR_EXACT: position (i + 0.5) * source / target - 0.5,
/// rounded to 1/256 (ties to even) and clamped.
struct SampleAxis {
  std::vector<std::int32_t> first, second;
  std::vector<std::uint16_t> weight;
  SampleAxis() = default;
  SampleAxis(int source, int target);
};

}  // namespace sightline::cascade
