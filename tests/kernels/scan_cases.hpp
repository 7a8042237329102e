#pragma once
/// What the tests of the scans have in common that go over a frame tile by tile: the tiles, and scratch with
/// guards.

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/kernel_test.hpp"
#include "support/cascade.hpp"

namespace sightline::test {

/// A tile of windows. @tparam Tile  has x, y, columns and rows
template <typename Tile>
struct ScanCase {
  Size window;
  Tile tile;

  /// Ends where the tile's windows end.
  Image<std::uint8_t> picture(unsigned seed) const {
    return cascade::make_picture(
        {tile.x + tile.columns + window.width - 1, tile.y + tile.rows + window.height - 1}, seed);
  }
  std::string text() const {
    return std::to_string(window.width) + "x" + std::to_string(window.height) + " window, tile " +
           std::to_string(tile.columns) + "x" + std::to_string(tile.rows) + " at " + std::to_string(tile.x) +
           ", " + std::to_string(tile.y);
  }
};

/// Around vector widths, at places that are not aligned, and as large as a tile can be.
template <typename Tile>
std::vector<ScanCase<Tile>> scan_cases(int most_columns, int most_rows) {
  return {
      {{24, 24}, {0, 0, 1, 1}},
      {{24, 24}, {3, 2, 15, 3}},
      {{24, 24}, {1, 0, 16, 2}},
      {{24, 24}, {5, 1, 17, 4}},
      {{8, 8}, {0, 7, 31, 2}},
      {{8, 8}, {9, 0, 33, 5}},
      {{64, 64}, {2, 1, 63, 7}},
      {{64, 64}, {0, 0, 65, 9}},
      {{9, 31}, {11, 3, 129, 6}},
      {{31, 9}, {0, 0, 200, 11}},
      {{24, 24}, {4, 3, most_columns, most_rows}},
  };
}

/// Elements behind what a scan may write.
inline constexpr std::size_t kScanGuard = 64;

/// Makes room for `size` elements, with canaries there and behind.
template <typename T>
void guard(AlignedBuffer<T>& buffer, std::size_t size) {
  buffer.resize(size + kScanGuard);
  std::memset(buffer.data(), kCanary, (size + kScanGuard) * sizeof(T));
}

/// Whether those behind `size` elements are as they were.
template <typename T>
bool is_intact(const AlignedBuffer<T>& buffer, std::size_t size) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(buffer.data() + size);
  return std::all_of(bytes, bytes + kScanGuard * sizeof(T), [](std::uint8_t b) { return b == kCanary; });
}

}  // namespace sightline::test
