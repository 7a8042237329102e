#include "display/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::display {

Rect intersection(const Rect& a, const Rect& b) {
  const int left = std::max(a.x, b.x), top = std::max(a.y, b.y);
  const Rect r{left, top, std::min(a.right(), b.right()) - left, std::min(a.bottom(), b.bottom()) - top};
  return r.empty() ? Rect{left, top, 0, 0} : r;
}

Rect place_picture(Size picture, double pixel_aspect, Size output) {
  if (picture.width <= 0 || picture.height <= 0) return {0, 0, output.width, output.height};
  if (!std::isfinite(pixel_aspect) || pixel_aspect <= 0) pixel_aspect = 1;
  const double shape = picture.width * pixel_aspect / picture.height;
  const auto pixels = [](double length, int limit) {
    return std::clamp(static_cast<int>(std::lround(std::min(length, 1e6))), std::min(1, limit), limit);
  };
  const Rect placed{0, 0, pixels(output.height * shape, output.width),
                    pixels(output.width / shape, output.height)};
  return {(output.width - placed.width) / 2, (output.height - placed.height) / 2, placed.width,
          placed.height};
}

}  // namespace sightline::display
