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

Size tile_grid(std::size_t count, Size output) {
  const int tiles = std::max(1, static_cast<int>(count));
  Size best{1, tiles};
  double widest = 0;
  for (int columns = 1; columns <= tiles; ++columns) {
    const int rows = (tiles + columns - 1) / columns;
    const double width =
        std::min(static_cast<double>(output.width) / columns, 16.0 / 9 * output.height / rows);
    if (width <= widest) continue;
    widest = width;
    best = {columns, rows};
  }
  return best;
}

std::vector<Rect> tile_places(std::size_t count, Size output, int gap) {
  const Size grid = tile_grid(count, output);
  const auto edge = [gap](int length, int parts, int i) {
    return static_cast<int>(static_cast<long>(length + gap) * i / parts);
  };
  std::vector<Rect> places;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    const int column = i % grid.width, row = i / grid.width;
    const int x = edge(output.width, grid.width, column), y = edge(output.height, grid.height, row);
    places.push_back(intersection({x, y, edge(output.width, grid.width, column + 1) - gap - x,
                                   edge(output.height, grid.height, row + 1) - gap - y},
                                  {0, 0, output.width, output.height}));
  }
  return places;
}

}  // namespace sightline::display
