#pragma once
/// What takes the histograms of a picture's cells.

#include <cstdint>
#include <span>
#include <vector>

#include "texture/output.hpp"

namespace sightline::texture {

/// Takes the cells of a picture tile by tile. Thread-safety: one thread at a time.
class CellSink {
 public:
  virtual ~CellSink() = default;
  /// Called before the first tile.
  /// @param width, height  pixels of the picture that have codes; cells begin at their upper left
  virtual void begin(std::int64_t /*width*/, std::int64_t /*height*/) {}
  /// Takes all channels of a tile whose first cell is at (column, row). A tile that failed is left out.
  virtual void write(std::int64_t column, std::int64_t row,
                     std::span<const TextureOutput* const> channels) = 0;
};

/// Appends the histograms of cell (x, y) of a tile: channel after channel, in each operator after operator.
void append_cell(std::span<const TextureOutput* const> channels, int x, int y,
                 std::vector<std::uint32_t>& counts);

}  // namespace sightline::texture
