#pragma once
/// Rectangles of pixels, and where a picture goes in a window.

#include <cstddef>
#include <vector>

#include "image/view.hpp"

namespace sightline::display {

/// Pixels [x, x + width) by [y, y + height), origin top left.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  int right() const { return x + width; }
  int bottom() const { return y + height; }
  bool empty() const { return width <= 0 || height <= 0; }
  friend bool operator==(const Rect&, const Rect&) = default;
};

Rect intersection(const Rect& a, const Rect& b);

/// The largest rectangle of the picture's shape within the output, centred; never empty unless the output is.
/// `pixel_aspect` is width : height of one of the picture's pixels; a value that is not positive counts as 1.
Rect place_picture(Size picture, double pixel_aspect, Size output);

/// Columns and rows of a grid with room for `count` tiles, in which a picture of 16:9 is shown largest.
Size tile_grid(std::size_t count, Size output);
/// The places of `count` tiles in that grid, row by row, `gap` pixels apart. One takes the whole output.
std::vector<Rect> tile_places(std::size_t count, Size output, int gap);

}  // namespace sightline::display
