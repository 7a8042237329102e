#pragma once
/// Writes tiled TIFF files larger than memory.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "image/view.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {

/// Side of the tiles of a label file, in pixels.
inline constexpr std::int64_t kLabelTileSide = 512;

/// A tiled, compressed (deflate) BigTIFF of one 8- or 16-bit sample a pixel, written from regions in row
/// order. Compresses on the threads of the calling TBB arena. Bounded memory: the tiles of the file (512x512)
/// that are not whole yet, at most a row of them with regions whose sides are multiples of 512 or fewer.
/// `finish` gives the complete file its name; without it, the file is removed. Thread-safety: one thread at a
/// time.
class LabelWriter {
 public:
  /// @param bits  8 or 16
  /// Throws Error (failed) if it cannot be written, as to a pipe: tiles come before what says where they
  /// are.
  LabelWriter(const std::filesystem::path& file, std::int64_t width, std::int64_t height, int bits);
  ~LabelWriter();
  LabelWriter(const LabelWriter&) = delete;
  LabelWriter& operator=(const LabelWriter&) = delete;

  /// Pixels of a region that begins at (x, y). Regions come as TileGrid numbers its tiles: from left to
  /// right, then down; each pixel once. Throws Error (failed): no room.
  void write(std::int64_t x, std::int64_t y, ImageView<const std::uint8_t> pixels);
  void write(std::int64_t x, std::int64_t y, ImageView<const std::uint16_t> pixels);
  /// Copies the tiles of a file that a LabelWriter of the same width and bits has written, without unpacking
  /// them. Its first row of tiles becomes the first that is still missing, which begins at (0, y) where y is
  /// a multiple of kLabelTileSide. Throws Error (failed).
  void copy(const std::filesystem::path& file, std::int64_t y);
  /// Closes the complete file and gives it its name. Throws Error (failed).
  void finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::tiles
