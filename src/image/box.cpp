#include "image/box.hpp"

#include <algorithm>

namespace sightline {

double intersection_area(const Box& a, const Box& b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0.0;
}

double intersection_over_union(const Box& a, const Box& b) {
  const double both = intersection_area(a, b);
  const double either = a.area() + b.area() - both;
  return either > 0 ? both / either : 0.0;
}

Box clipped(const Box& box, Size frame) {
  const auto inside = [](double at, int end) { return std::clamp(at, 0.0, static_cast<double>(end)); };
  const double left = inside(box.x, frame.width), top = inside(box.y, frame.height);
  return {left, top, inside(box.x + box.width, frame.width) - left,
          inside(box.y + box.height, frame.height) - top};
}

}  // namespace sightline
