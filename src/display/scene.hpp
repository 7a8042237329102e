#pragma once
/// Scene: list of rectangles and words over the picture, in pixels of the output.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "display/geometry.hpp"
#include "display/overlay.hpp"
#include "display/text_cache.hpp"

namespace sightline::display {

/// A colour and its opacity, 0..255.
struct Ink {
  std::uint8_t red = 0, green = 0, blue = 0, alpha = 255;
};

struct Fill {
  Rect rect;
  Ink ink;
};

struct Words {
  std::string text;
  Font font;
  Ink ink;
  int x = 0;  ///< start position of the pen
  int baseline = 0;
  Rect bounds;  ///< clip rectangle
};

/// In the order of drawing.
using Scene = std::vector<std::variant<Fill, Words>>;

/// Adds boxes with captions for a frame of size `frame` that is shown in `place`, clipped to `place`.
/// @param density  pixels of the output a unit of the window (2 on many small screens); letters grow with it
void add_boxes(Scene& scene, TextCache& text, const Overlay& overlay, Size frame, const Rect& place,
               double density = 1);

/// Adds to a tile, which is at `place`, the name and the state of its source. A tile whose source is lost is
/// greyed out, and the chosen one has a frame.
void add_tile(Scene& scene, TextCache& text, const Overlay& overlay, Size output, const Rect& place,
              bool is_chosen, double density = 1);

/// Adds the head-up display, notices and help for an output of this size; parts that do not fit are left out.
void add_panels(Scene& scene, TextCache& text, const Overlay& overlay, Size output, double density = 1);

}  // namespace sightline::display
