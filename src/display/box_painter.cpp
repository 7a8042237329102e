#include "display/box_painter.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::display {
namespace {

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
}

template <typename Paint>
void for_each_side(const Rect& r, int thickness, Paint paint) {
  const int across = std::min(thickness, (r.height + 1) / 2), down = std::min(thickness, (r.width + 1) / 2);
  paint(Rect{r.x, r.y, r.width, across});
  paint(Rect{r.x, r.bottom() - across, r.width, across});
  paint(Rect{r.x, r.y + across, down, r.height - 2 * across});
  paint(Rect{r.right() - down, r.y + across, down, r.height - 2 * across});
}

}  // namespace

Ink ink_of(const Color& color) {
  return {to_byte(color.red), to_byte(color.green), to_byte(color.blue), 255};
}

int to_pixel(double value) {
  return static_cast<int>(std::lround(std::clamp(value, -1e6, 1e6)));
}

bool is_drawable(const Box& b) {
  return std::isfinite(b.x) && std::isfinite(b.y) && std::isfinite(b.width) && std::isfinite(b.height) &&
         b.width > 0 && b.height > 0;
}

BoxPainter::BoxPainter(Scene& scene, TextCache& text, const Rect& place, int reference, double density)
    : scene_(scene),
      text_(text),
      place_(place),
      thickness_(reference < 120 ? 1
                                 : static_cast<int>(std::lround(std::max(2 * density, reference / 400.0)))),
      font_{static_cast<int>(std::lround(std::clamp(reference / 54.0, 11 * density, 40 * density))), false},
      padding_(std::max(2, font_.size / 4)),
      tags_({place.x, place.y, place.right(), place.bottom()}) {}

void BoxPainter::fill(const Rect& rect, const Ink& ink) {
  if (const Rect r = intersection(rect, place_); !r.empty()) scene_.push_back(Fill{r, ink});
}

void BoxPainter::outline(const Rect& box, const Ink& ink) {
  const Rect around{box.x - 1, box.y - 1, box.width + 2, box.height + 2};
  for_each_side(around, 1, [&](const Rect& side) { fill(side, {0, 0, 0, 128}); });
  for_each_side(box, thickness_, [&](const Rect& side) { fill(side, ink); });
}

void BoxPainter::dashes(const Rect& box, const Ink& ink) {
  const int dash = 4 * thickness_, step = 2 * dash;
  for_each_side(box, thickness_, [&](const Rect& whole) {
    fill(whole, {0, 0, 0, 90});  // so that the gaps can be seen on a bright ground
    // Counted from the side's own start, so that dashes move with the box; begun within the picture.
    const Rect side = intersection(whole, place_);
    if (side.empty()) return;
    if (whole.width > whole.height) {
      for (int x = whole.x + (side.x - whole.x) / step * step; x < side.right(); x += step)
        fill({x, whole.y, std::min(dash, whole.right() - x), whole.height}, ink);
    } else {
      for (int y = whole.y + (side.y - whole.y) / step * step; y < side.bottom(); y += step)
        fill({whole.x, y, whole.width, std::min(dash, whole.bottom() - y)}, ink);
    }
  });
}

int BoxPainter::tag_width(const std::string& words) const {
  return text_.width(words, font_) + 2 * padding_;
}

Rect BoxPainter::place_tag(const std::string& words, const Rect& box) {
  const auto at =
      tags_.next({box.x, box.y, box.right(), box.bottom()}, {tag_width(words), font_.size + padding_});
  return {at.left, at.top, at.right - at.left, at.bottom - at.top};
}

void BoxPainter::tag(std::string words, const Rect& at, const Ink& ink) {
  fill(at, ink);
  const Rect bounds = intersection(at, place_);
  if (bounds.empty()) return;
  const double brightness = (0.2126 * ink.red + 0.7152 * ink.green + 0.0722 * ink.blue) / 255;
  const Ink letters = brightness > 0.45 ? Ink{15, 15, 15, 255} : Ink{255, 255, 255, 255};
  const int ascent = static_cast<int>(std::lround(font_.size * 0.76));  // height of capitals in DejaVu Sans
  scene_.push_back(
      Words{std::move(words), font_, letters, at.x + padding_, at.y + (at.height + ascent) / 2, bounds});
}

}  // namespace sightline::display
