#include "media/caption_places.hpp"

#include <algorithm>

namespace sightline::media {
namespace {

constexpr int kFarthest = 3;  // heights of a caption between it and its box

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
  std::vector<Area> places{at(box.left, above),          at(box.right - width, above),
                           at(box.left, box.bottom),     at(box.left, lower),
                           at(box.right - width, lower), at(box.left, inside),
                           at(box.right - width, inside)};
  // In a crowd: stacked above and below, and beside the box.
  for (int away = 1; away <= kFarthest; ++away) {
    for (const int left : {box.left, box.right - width}) {
      places.push_back(at(left, box.top - (away + 1) * height));
      places.push_back(at(left, box.bottom + away * height));
      places.push_back(at(left, inside + away * height));
    }
    for (const int left : {box.left - width, box.right})
      places.push_back(at(left, inside + (away - 1) * height));
  }
  const auto is_free = [&](const Area& place) {
    return place.top >= picture_.top && place.bottom <= picture_.bottom &&
           std::ranges::none_of(taken_, [&](const Area& other) { return overlap(place, other); });
  };
  const auto found = std::ranges::find_if(places, is_free);
  if (found != places.end()) return taken_.emplace_back(*found);
  // A picture that is too small for any caption has the first one, cut off.
  return taken_.empty() ? taken_.emplace_back(box.top - height >= picture_.top ? places[0] : places[3])
                        : Area{};
}

}  // namespace sightline::media
