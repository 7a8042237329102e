#pragma once
/// Positions of captions beside boxes, without overlap where there is room.

#include <vector>

#include "image/view.hpp"

namespace sightline::media {

/// Places the captions of one picture, the most important first. Thread-safety: one thread at a time.
class CaptionPlaces {
 public:
  /// Pixels; right and bottom are exclusive.
  struct Area {
    int left = 0, top = 0, right = 0, bottom = 0;
    bool empty() const { return left >= right || top >= bottom; }
    friend bool operator==(const Area&, const Area&) = default;
  };

  /// @param picture  captions stay within it as far as they fit
  explicit CaptionPlaces(const Area& picture) : picture_(picture) {}

  /// Place of the next caption: above its box, below it, or inside at the lower end, so that it covers no
  /// head. Inside at the upper end, or a little farther away, only if earlier captions leave no other place.
  /// Empty where it would hide one of them everywhere: the box then has no caption.
  /// @param box  may lie partly outside of the picture
  Area next(const Area& box, Size caption);

 private:
  Area picture_;
  std::vector<Area> taken_;
};

}  // namespace sightline::media
