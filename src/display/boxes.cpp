#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "display/scene.hpp"
#include "media/annotate.hpp"
#include "media/caption_places.hpp"

namespace sightline::display {
namespace {

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
}

int to_pixel(double value) {
  return static_cast<int>(std::lround(std::clamp(value, -1e6, 1e6)));
}

bool is_drawable(const Box& b) {
  return std::isfinite(b.x) && std::isfinite(b.y) && std::isfinite(b.width) && std::isfinite(b.height) &&
         b.width > 0 && b.height > 0;
}

class BoxDrawer {
 public:
  BoxDrawer(Scene& scene, TextCache& text, const Overlay& overlay, Size frame, const Rect& place)
      : scene_(scene),
        text_(text),
        overlay_(overlay),
        place_(place),
        across_(static_cast<double>(place.width) / frame.width),
        down_(static_cast<double>(place.height) / frame.height),
        thickness_(place.height < 120 ? 1 : std::max(2, static_cast<int>(std::lround(place.height / 400.0)))),
        font_{std::clamp(static_cast<int>(std::lround(place.height / 54.0)), 11, 40), false},
        captions_({place.x, place.y, place.right(), place.bottom()}) {}

  /// The caption's text and place, of the surest object first.
  void place(const Detection& object) {
    if (!is_drawable(object.box)) return;
    const Rect box = scaled(object.box);
    if (intersection(box, place_).empty()) return;
    const Color color = media::color_of(object);
    Ink ink{to_byte(color.red), to_byte(color.green), to_byte(color.blue), 255};
    if (overlay_.stale) ink.alpha = 170;
    drawn_.push_back({box, ink, color, {}, {}});
    place_caption(object, drawn_.back());
  }

  /// What has been placed, from the least to the surest, so that the surest is on top; captions above all
  /// boxes.
  void draw() {
    for (std::size_t i = drawn_.size(); i-- > 0;) draw_outline(drawn_[i].box, drawn_[i].ink);
    for (std::size_t i = drawn_.size(); i-- > 0;) draw_caption(drawn_[i]);
  }

 private:
  struct Drawn {
    Rect box;
    Ink ink;
    Color color;
    std::string words;
    Rect tag;
  };

  void draw_outline(const Rect& box, const Ink& ink) {
    // A dark hairline around, so that the outline shows on a ground of its own colour.
    const Rect around{box.x - 1, box.y - 1, box.width + 2, box.height + 2};
    if (overlay_.stale) {
      dashes(box, ink);
    } else {
      outline(around, 1, [&](const Rect& side) { fill(side, {0, 0, 0, 128}); });
      outline(box, thickness_, [&](const Rect& side) { fill(side, ink); });
    }
  }

  Rect scaled(const Box& b) const {
    const int left = to_pixel(place_.x + b.x * across_), top = to_pixel(place_.y + b.y * down_);
    const int right = std::max(to_pixel(place_.x + (b.x + b.width) * across_), left + 1);
    const int bottom = std::max(to_pixel(place_.y + (b.y + b.height) * down_), top + 1);
    return {left, top, right - left, bottom - top};
  }

  void fill(const Rect& rect, const Ink& ink) {
    if (const Rect r = intersection(rect, place_); !r.empty()) scene_.push_back(Fill{r, ink});
  }

  template <typename Paint>
  static void outline(const Rect& r, int thickness, Paint paint) {
    const int across = std::min(thickness, (r.height + 1) / 2), down = std::min(thickness, (r.width + 1) / 2);
    paint(Rect{r.x, r.y, r.width, across});
    paint(Rect{r.x, r.bottom() - across, r.width, across});
    paint(Rect{r.x, r.y + across, down, r.height - 2 * across});
    paint(Rect{r.right() - down, r.y + across, down, r.height - 2 * across});
  }

  void dashes(const Rect& box, const Ink& ink) {
    const int dash = 4 * thickness_, step = 2 * dash;
    outline(box, thickness_, [&](const Rect& whole) {
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

  void place_caption(const Detection& object, Drawn& drawn) {
    std::string words = media::caption_of(object, overlay_.labels);
    if (words.empty()) return;
    int width = text_.width(words, font_) + 2 * padding_;
    // Small boxes side by side: their tags would hide each other to repeat the only name there is.
    if (media::may_shorten_caption(object, overlay_.labels) && width > 1.3 * drawn.box.width) {
      words = media::short_caption_of(object, overlay_.labels);
      width = text_.width(words, font_) + 2 * padding_;
    }
    const auto at = captions_.next({drawn.box.x, drawn.box.y, drawn.box.right(), drawn.box.bottom()},
                                   {width, font_.size + padding_});
    drawn.words = std::move(words);
    drawn.tag = {at.left, at.top, at.right - at.left, at.bottom - at.top};
  }

  void draw_caption(Drawn& drawn) {
    const Rect& tag = drawn.tag;
    const Rect bounds = intersection(tag, place_);
    if (bounds.empty()) return;
    fill(tag, drawn.ink);
    const Color& color = drawn.color;
    const double brightness = 0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue;
    const Ink letters = brightness > 0.45 ? Ink{15, 15, 15, 255} : Ink{255, 255, 255, 255};
    const int ascent = static_cast<int>(std::lround(font_.size * 0.76));  // of capitals in DejaVu Sans
    scene_.push_back(Words{std::move(drawn.words), font_, letters, tag.x + padding_,
                           tag.y + (tag.height + ascent) / 2, bounds});
  }

  Scene& scene_;
  TextCache& text_;
  const Overlay& overlay_;
  const Rect place_;
  const double across_, down_;
  const int thickness_;
  const Font font_;
  const int padding_ = std::max(2, font_.size / 4);
  media::CaptionPlaces captions_;
  std::vector<Drawn> drawn_;
};

}  // namespace

void add_boxes(Scene& scene, TextCache& text, const Overlay& overlay, Size frame, const Rect& place) {
  if (!overlay.show_boxes || place.empty() || frame.width <= 0 || frame.height <= 0) return;
  BoxDrawer drawer(scene, text, overlay, frame, place);
  for (const Detection& object : overlay.objects) drawer.place(object);
  drawer.draw();
}

}  // namespace sightline::display
