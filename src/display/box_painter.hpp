#pragma once
/// Internal to src/display: boxes on a picture, their outlines and tags.

#include <string>

#include "display/scene.hpp"
#include "drawing/canvas.hpp"
#include "media/caption_places.hpp"

namespace sightline::display {

Ink ink_of(const Color& color);
/// The nearest pixel, limited to a range far outside of any output.
int to_pixel(double value);
bool is_drawable(const Box& box);

/// Puts boxes into a scene, clipped to `place`.
class BoxPainter {
 public:
  /// @param reference  height in pixels of the output that thickness and letters follow
  BoxPainter(Scene& scene, TextCache& text, const Rect& place, int reference, double density);

  /// A line of `thickness()` pixels within the box, and a dark hairline around, so that it shows on a ground
  /// of its own colour.
  void outline(const Rect& box, const Ink& ink);
  void dashes(const Rect& box, const Ink& ink);
  void fill(const Rect& rect, const Ink& ink);
  /// Place of the next box's tag (media::CaptionPlaces); call it for the most important box first.
  Rect place_tag(const std::string& words, const Rect& box);
  /// Words on a ground of the colour.
  void tag(std::string words, const Rect& at, const Ink& ink);
  /// Width of a tag, in pixels.
  int tag_width(const std::string& words) const;
  int thickness() const { return thickness_; }
  const Rect& place() const { return place_; }

 private:
  Scene& scene_;
  TextCache& text_;
  const Rect place_;
  const int thickness_;
  const Font font_;
  const int padding_;
  media::CaptionPlaces tags_;
};

}  // namespace sightline::display
