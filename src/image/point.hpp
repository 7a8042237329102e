#pragma once

namespace sightline {

/// A point in a picture with upper left corner (0, 0); the middle of the first pixel is (0.5, 0.5). In pixels
/// unless noted; may be outside.
struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

}  // namespace sightline
