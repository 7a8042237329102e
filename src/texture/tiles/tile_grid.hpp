#pragma once
/// Division of a picture into tiles.

#include <cstdint>

#include "image/border.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {

/// The tiles of a picture, row by row, with their halos. Immutable.
class TileGrid {
 public:
  /// @param tile  side of a tile's own pixels; those at the right and the lower edge are smaller
  /// @param halo  pixels around a tile that an operator looks at
  /// With BorderRule::skip the tiles leave out a border of `halo` pixels; a picture that is all border has no
  /// tiles.
  TileGrid(std::int64_t width, std::int64_t height, int tile, int halo, BorderRule border);

  std::int64_t columns() const { return columns_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t count() const { return columns_ * rows_; }
  int halo() const { return halo_; }
  BorderRule border() const { return border_; }
  /// Size of the tiled area: the picture, or the picture without its border.
  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }
  /// A tile's own pixels, relative to the upper left of the tiled area.
  Region tile(std::int64_t index) const;
  /// The same with the halo, in picture pixels. May reach outside, where the border rule applies.
  Region with_halo(std::int64_t index) const;

 private:
  std::int64_t width_ = 0, height_ = 0;
  int tile_ = 0, halo_ = 0;
  BorderRule border_ = BorderRule::clamp;
  std::int64_t columns_ = 0, rows_ = 0;
};

}  // namespace sightline::tiles
