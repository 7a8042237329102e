#include "media/caption_places.hpp"

#include <algorithm>

namespace sightline::media {
namespace {

bool overlap(const CaptionPlaces::Area& a, const CaptionPlaces::Area& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

}  // namespace

CaptionPlaces::Area CaptionPlaces::next(const Area& box, Size caption) {
  // No structured binding: Clang 14, which builds the fuzzers, cannot capture one.
  const int width = caption.width, height = caption.height;
  const auto at = [&](int left, int top) {
    left = std::clamp(left, picture_.left, std::max(picture_.left, picture_.right - width));
    return Area{left, top, left + width, top + height};
  };
  const int inside = std::max(box.top, picture_.top);
  // Inside a box, its lower end comes first: heads are above.
  const int above = box.top - height >= picture_.top ? box.top - height : box.bottom;
  const int lower = std::max(inside, std::min(box.bottom, picture_.bottom) - height);
  const Area places[] = {at(box.left, above),          at(box.right - width, above), at(box.left, box.bottom),
                         at(box.left, lower),          at(box.right - width, lower), at(box.left, inside),
                         at(box.right - width, inside)};
  const auto is_free = [&](const Area& place) {
    return place.bottom <= picture_.bottom &&
           std::ranges::none_of(taken_, [&](const Area& other) { return overlap(place, other); });
  };
  const Area* const found = std::ranges::find_if(places, is_free);
  if (found != std::end(places)) return taken_.emplace_back(*found);
  return taken_.emplace_back(box.top - height >= picture_.top ? places[0] : places[3]);
}

}  // namespace sightline::media
