#pragma once

namespace sightline {

/// A place in a picture, whose upper left corner is (0, 0): the middle of its first pixel is (0.5, 0.5). In
/// pixels, unless whoever uses it says otherwise; may lie outside.
struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

}  // namespace sightline
