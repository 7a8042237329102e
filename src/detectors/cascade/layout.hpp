#pragma once
/// Searched windows, and memory layout of a cascade's intermediate results, shared by all stages on every
/// processor.
///
/// | data      | element          | order                                  | made by  |
/// |-----------|------------------|----------------------------------------|----------|
/// | images    | uint8            | level after level, [y][x]              | pyramid  |
/// | integrals | uint32 or uint16 | on a sheet, see image/integral_sheet.hpp | integral |
/// | survivors | Survivor         | by level, y, x                         | scan     |
///
/// Integrals (image/integral.hpp) have 16 bits where all that is used of them are sums of blocks of up to
/// kMaxSmallBlock pixels (LBP); then there are neither squares nor tilted sums.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "detection/window.hpp"
#include "detectors/cascade/model.hpp"
#include "image/integral_sheet.hpp"
#include "image/view.hpp"

namespace sightline::cascade {

/// Search parameters, named after arguments of OpenCV's detectMultiScale.
struct Search {
  double scale_step = 1.1;  ///< scaleFactor, above 1
  Size min_size;            ///< windows with a smaller side are left out
  Size max_size;            ///< windows with a larger side are left out; 0: none are
};

/// One scale of the search, and where it lies. Window (i, j) of a level has its corner at pixel (i * step,
/// j * step): `step` is 2 below scale 2, else 1.
struct Level : SheetLevel {
  float scale = 1;  ///< frame pixels a pixel of the level
  Size windows;     ///< number of windows; may be 0
  Size object;      ///< size of a window in frame pixels
};

struct Layout : IntegralSheet {
  Size frame;
  std::vector<Level> levels;
};

/// A remaining window, given by its corner's pixel in the level. One that has passed all stages becomes a
/// Candidate, whose score is the last stage's sum less its threshold, 0 or more.
using Survivor = LevelWindow;

/// The levels that OpenCV 4.6 searches, their windows and their places in memory. The levels go from small
/// windows to large ones; there are none if no window fits.
Layout plan_layout(Size frame, const Model& model, const Search& search);

/// Whether the model's sums have 16 bits.
bool has_small_sums(const Model& model);

/// The window's box in the frame, before it is cut at the frame's edges.
Rect box_in_frame(const Level& level, int x, int y);

}  // namespace sightline::cascade
