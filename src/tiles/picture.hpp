#pragma once
/// Pictures of any size, of which regions are read: files whose pixels need not all be in memory.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "image/view.hpp"

namespace sightline::tiles {

/// A rectangle of a picture's pixels.
struct Region {
  std::int64_t x = 0;
  std::int64_t y = 0;
  int width = 0;
  int height = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// A plane of 8 bits. Luma is BT.601 of full range (image/gray.hpp), and the picture's own samples where it
/// is gray.
enum class Channel { luma, red, green, blue };
const char* to_string(Channel channel);

struct PictureInfo {
  std::int64_t width = 0;  ///< pixels
  std::int64_t height = 0;
  bool has_colour = false;
  std::string format;  ///< for people: "tiled TIFF, JPEG, tiles of 240x240"
  /// What is decoded at once: a tile or a strip. The whole picture where all of it is kept in memory.
  Size block;
};

/// A part of a picture that could not be read.
struct Damage {
  Region where;
  std::string reason;
};

struct OpenOptions {
  int page = 0;  ///< of a file that has several: a resolution or a picture
  /// Which samples of more than 8 bits, or of floating point, are black and white: those between are spread
  /// over 0 to 255 (rounded to the nearest, clamped). None: such pictures are refused.
  std::optional<std::pair<double, double>> range;
  std::size_t cache_bytes = std::size_t{256} << 20;  ///< of decoded blocks that several reads share
};

/// A picture that regions are read from. Thread-safety: `read` from several threads at once.
class Picture {
 public:
  virtual ~Picture() = default;
  const PictureInfo& info() const { return info_; }

  /// Reads a region, which lies within the picture, into planes of its size: one for each channel. What
  /// cannot be decoded is zero and returned.
  /// @throws Error (input) where the file cannot be read any more, or has changed since it was opened
  virtual std::vector<Damage> read(const Region& region, std::span<const Channel> channels,
                                   std::span<const ImageView<std::uint8_t>> planes) = 0;

 protected:
  PictureInfo info_;
};

/// Opens a TIFF (tiled or in strips, BigTIFF, pages), a slide, or a picture of any format that FFmpeg
/// decodes, which is then kept in memory.
/// @throws Error (input) where it is none, is damaged at its head, or holds what is not read: says what to do
std::unique_ptr<Picture> open_picture(const std::filesystem::path& file, const OpenOptions& options = {});

}  // namespace sightline::tiles
