#pragma once
/// Memory layout of the filter-bank detector's intermediate results, shared by all stages on every processor.
///
/// | data       | element          | order                                  | made by     |
/// |------------|------------------|----------------------------------------|-------------|
/// | responses  | uint32           | [y][x], see pack_response              | filter      |
/// | roots      | float            | [cell y][cell x][bin]                  | histogram   |
/// | patterns   | uint8            | [cell y][cell x][pattern]              | histogram   |
/// | totals     | int32            | [cell y][cell x]                       | histogram   |
/// | features   | uint8            | [block y][quad][block x][4]            | normalise   |
/// | scores     | int32            | [window y][window x]                   | classify    |
///
/// Responses and features, and the images before them, pass from stage to stage and so, where a schedule
/// says so, from processor to processor: each of the three is one run of memory for all levels of the pyramid
/// (LevelLayout), laid out alike everywhere, and moves as a whole.
///
/// "Normalise" is a launch of its own on OpenCL devices; on the CPU the histogram stage does it band by band,
/// and what it has of cells, two rows at a time, never leaves the cache. (OpenCL devices keep roots of
/// patterns, too, and have cells innermost: see kernels/filterbank/histogram.cl.)
///
/// Blocks lie in SIMD lanes: the innermost dimension runs over x, padded to `pitch` cells. A *quad* is four
/// consecutive features of one block, the unit of the 8-bit dot product.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "image/view.hpp"

namespace sightline::filterbank {

inline constexpr int kCell = 8;  ///< pixels a side of a cell
inline constexpr int kBlockCells =
    4;  ///< 2x2 cells a block, in the order left-top, right-top, left-bottom, right-bottom
inline constexpr int kTaps = 9;          ///< coefficients of a 3x3 filter
inline constexpr int kMaxFilters = 256;  ///< the index of a response has eight bits
inline constexpr int kLanePad = 16;      ///< widest SIMD vector, in 32-bit lanes
inline constexpr int kPitchUnit = 32;    ///< a row of cells is a whole number of the device's work-groups

constexpr int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Cells, blocks and windows of one pyramid level.
struct Grid {
  int cells_x = 0;
  int cells_y = 0;
  int bins = 0;      ///< the filters', rounded up to a multiple of 4; the added bins are always empty
  int patterns = 0;  ///< the patterns', rounded up likewise; 0 where patterns are not counted

  Grid() = default;
  Grid(Size image, int filter_bins, int pattern_bins = 0)
      : cells_x(image.width / kCell),
        cells_y(image.height / kCell),
        bins(round_up(filter_bins, 4)),
        patterns(round_up(pattern_bins, 4)) {}

  /// Elements between two rows of cells; there is always room to read one vector past the last cell.
  int pitch() const { return round_up(cells_x + kLanePad, kPitchUnit); }
  int blocks_x() const { return cells_x - 1; }
  int blocks_y() const { return cells_y - 1; }
  /// A block has the filters' features of its four cells, then the patterns' of its first.
  int quads() const { return (kBlockCells * bins + patterns) / 4; }

  /// Cells of a row that stages write, whole vectors: what lies beyond them up to `pitch` is unspecified.
  int columns() const { return round_up(cells_x, kLanePad); }

  /// Elements of a row of cells, including padding for whole vectors, whose content is unspecified.
  std::size_t roots_row() const { return static_cast<std::size_t>(cells_x) * bins + 4 * kLanePad; }
  std::size_t patterns_row() const { return static_cast<std::size_t>(cells_x) * patterns + 4 * kLanePad; }
  std::size_t totals_row() const { return static_cast<std::size_t>(pitch()); }
  std::size_t features_row() const { return static_cast<std::size_t>(quads()) * pitch() * 4; }
};

/// Stages may touch the element before a level's first: the first level's features and totals do not begin at
/// 0.
inline constexpr std::int64_t kFirstElement = 64;

/// Start of a level's part of each inter-stage buffer.
struct LevelLayout {
  std::int64_t images = 0;  ///< bytes, to the row above the first with its border: see PaddedImage::bind
  std::int64_t response_map = 0;  ///< responses
  std::int64_t features = 0;      ///< words of four features
};

/// Responses from row to row of a level `width` pixels wide.
constexpr int response_map_stride(int width) {
  return round_up(width, 64);
}

/// A pixel's response: the largest |response| over the dictionary (16 bits), the bin of the first filter that
/// reaches it, and the pixel's local binary pattern (0 where patterns are not counted).
constexpr std::uint32_t pack_response(std::uint32_t response, std::uint32_t index,
                                      std::uint32_t pattern = 0) {
  return pattern << 24 | response << 8 | index;
}
constexpr std::uint32_t response_pattern(std::uint32_t packed_response) {
  return packed_response >> 24;
}
constexpr std::uint32_t response_magnitude(std::uint32_t packed_response) {
  return packed_response >> 8 & 0xFFFF;
}
constexpr std::uint32_t response_bin(std::uint32_t packed_response) {
  return packed_response & 0xFF;
}

/// A detection window in blocks: one fewer than cells on each side.
struct WindowShape {
  int cells_x = 8;
  int cells_y = 16;
  int blocks_x() const { return cells_x - 1; }
  int blocks_y() const { return cells_y - 1; }
  int blocks() const { return blocks_x() * blocks_y(); }
  Size pixels() const { return {cells_x * kCell, cells_y * kCell}; }
};

/// From the root of a count of patterns, scaled to 64 pixels a cell, to its feature: 255 * sqrt(count / 64).
inline constexpr float kPatternFactor = 255.0F / 8.0F;

/// Raw score of a window that has been rejected by the pre-rejection.
inline constexpr std::int32_t kRejected = std::numeric_limits<std::int32_t>::min();

}  // namespace sightline::filterbank
