#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "display/box_painter.hpp"
#include "media/annotate.hpp"

namespace sightline::display {
namespace {

class BoxDrawer {
 public:
  BoxDrawer(Scene& scene, TextCache& text, const Overlay& overlay, Size frame, const Rect& place,
            double density)
      : painter_(scene, text, place, place.height, density),
        overlay_(overlay),
        place_(place),
        across_(static_cast<double>(place.width) / frame.width),
        down_(static_cast<double>(place.height) / frame.height) {}

  /// The caption's words and place, of the surest object first.
  void place(const Detection& object) {
    if (!is_drawable(object.box)) return;
    const Rect box = scaled(object.box);
    if (intersection(box, place_).empty()) return;
    Ink ink = ink_of(media::color_of(object));
    if (overlay_.stale) ink.alpha = 170;
    std::string words = caption(object, box);
    const Rect tag = words.empty() ? Rect{} : painter_.place_tag(words, box);
    drawn_.push_back({box, ink, std::move(words), tag});
  }

  /// Draws the placed boxes by rising confidence, so that the highest is on top; captions above all boxes.
  void draw() {
    for (std::size_t i = drawn_.size(); i-- > 0;) {
      if (overlay_.stale) {
        painter_.dashes(drawn_[i].box, drawn_[i].ink);
      } else {
        painter_.outline(drawn_[i].box, drawn_[i].ink);
      }
    }
    for (std::size_t i = drawn_.size(); i-- > 0;) {
      if (!drawn_[i].words.empty()) painter_.tag(std::move(drawn_[i].words), drawn_[i].tag, drawn_[i].ink);
    }
  }

 private:
  struct Drawn {
    Rect box;
    Ink ink;
    std::string words;  ///< text of the caption; empty: none
    Rect tag;
  };

  Rect scaled(const Box& b) const {
    const int left = to_pixel(place_.x + b.x * across_), top = to_pixel(place_.y + b.y * down_);
    const int right = std::max(to_pixel(place_.x + (b.x + b.width) * across_), left + 1);
    const int bottom = std::max(to_pixel(place_.y + (b.y + b.height) * down_), top + 1);
    return {left, top, right - left, bottom - top};
  }

  std::string caption(const Detection& object, const Rect& box) const {
    std::string words = media::caption_of(object, overlay_.labels);
    // Small boxes side by side: their tags would hide each other to repeat the only name there is.
    if (media::may_shorten_caption(object, overlay_.labels) && painter_.tag_width(words) > 1.3 * box.width)
      words = media::short_caption_of(object, overlay_.labels);
    return words;
  }

  BoxPainter painter_;
  const Overlay& overlay_;
  const Rect place_;
  const double across_, down_;
  std::vector<Drawn> drawn_;
};

}  // namespace

void add_boxes(Scene& scene, TextCache& text, const Overlay& overlay, Size frame, const Rect& place,
               double density) {
  if (!overlay.show_boxes || place.empty() || frame.width <= 0 || frame.height <= 0) return;
  BoxDrawer drawer(scene, text, overlay, frame, place, density);
  for (const Detection& object : overlay.objects) drawer.place(object);
  drawer.draw();
}

}  // namespace sightline::display
