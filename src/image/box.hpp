#pragma once
/// Boxes: axis-aligned rectangles in a frame.

#include "image/view.hpp"

namespace sightline {

/// An axis-aligned rectangle in pixels of the frame, origin top left; may reach past the frame's edges.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  double area() const { return width * height; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Pixels of a frame.
struct Crop {
  int x = 0;
  int y = 0;
  Size size;
};

/// Area of the intersection of two boxes, in square pixels.
double intersection_area(const Box& a, const Box& b);

/// Intersection over union (Jaccard index), 0..1; 0 if both are empty.
double intersection_over_union(const Box& a, const Box& b);

/// The part of a box that lies in a frame; of no area, at the frame's edge, where none does.
Box clipped(const Box& box, Size frame);

}  // namespace sightline
