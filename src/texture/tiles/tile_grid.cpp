#include "texture/tiles/tile_grid.hpp"

#include <algorithm>

namespace sightline::tiles {

TileGrid::TileGrid(std::int64_t width, std::int64_t height, int tile, int halo, BorderRule border)
    : width_(width), height_(height), tile_(tile), halo_(halo), border_(border) {
  if (border == BorderRule::skip) {
    width_ = std::max<std::int64_t>(width - 2 * std::int64_t{halo}, 0);
    height_ = std::max<std::int64_t>(height - 2 * std::int64_t{halo}, 0);
  }
  columns_ = (width_ + tile - 1) / tile;
  rows_ = (height_ + tile - 1) / tile;
}

Region TileGrid::tile(std::int64_t index) const {
  const std::int64_t x = index % columns_ * tile_, y = index / columns_ * tile_;
  return {x, y, static_cast<int>(std::min<std::int64_t>(tile_, width_ - x)),
          static_cast<int>(std::min<std::int64_t>(tile_, height_ - y))};
}

Region TileGrid::with_halo(std::int64_t index) const {
  const Region own = tile(index);
  const int shift = border_ == BorderRule::skip ? 0 : halo_;
  return {own.x - shift, own.y - shift, own.width + 2 * halo_, own.height + 2 * halo_};
}

}  // namespace sightline::tiles
