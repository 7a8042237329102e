#pragma once
/// Pictures of any size, read region by region, so that not all pixels are in memory.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "image/border.hpp"
#include "image/view.hpp"
#include "media/decoded_picture.hpp"

namespace sightline::tiles {

/// A rectangle of a picture's pixels.
struct Region {
  std::int64_t x = 0;
  std::int64_t y = 0;
  int width = 0;
  int height = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// A plane of 8 bits. Luma is full-range BT.601: from red, green and blue by image/gray.hpp; the file's own
/// luma if it stores luma and chroma (JPEG, WebP, and TIFF with such JPEG data); the samples themselves if
/// the picture is gray.
enum class Channel { luma, red, green, blue };
const char* to_string(Channel channel);

struct PictureInfo {
  std::string name;        ///< file name for messages
  std::int64_t width = 0;  ///< pixels
  std::int64_t height = 0;
  bool has_colour = false;
  std::string format;       ///< description: "tiled TIFF, JPEG, tiles of 240x240"
  bool uses_range = false;  ///< whether OpenOptions::range had an effect
  /// Unit of decoding: a tile or a strip. The whole picture if it is kept in memory.
  Size block;
};

/// A part of a picture that could not be read: one unit of decoding.
struct Damage {
  Region where;
  std::string reason;  ///< the decoder's words
  friend bool operator==(const Damage&, const Damage&) = default;
};
/// Adds a part to a list of at most 100 rectangles. Parts that make a larger rectangle are joined if their
/// reasons differ in numbers alone. Returns false if the list is full, and the part is left out.
bool add_damage(std::vector<Damage>& list, Damage part);
/// "x 512, y 1024, 256x256: reason".
std::string to_string(const Damage& damage);

struct OpenOptions {
  int page = 0;  ///< page of a file with several: a resolution or a picture
  /// Black and white of samples of more than 8 bits or in floating point. Values between are spread over 0 to
  /// 255 (rounded to the nearest, clamped; NaN is black). The first may be larger than the second. Without a
  /// range, such a TIFF is refused, and other formats use the lowest and highest possible sample value. No
  /// effect on 8-bit samples.
  std::optional<std::pair<double, double>> range;
  /// Whether, without a range, unsigned samples are spread over all of their values rather than refused, and
  /// kinds of colours that only libtiff converts are read, of which the whole picture is kept in memory.
  bool spread_unsigned = false;
  /// Cache size for decoded blocks. If tiles are read row by row (`Picture::passed`), every block is decoded
  /// once if the cache holds the strips of a row of tiles, or two rows of a tiled picture's blocks. Each of
  /// their pixels takes one byte, three with colours, and blocks in use take as much again.
  std::size_t cache_bytes = std::size_t{512} << 20;
};

/// A picture that regions are read from. Upright: what EXIF data or the tag Orientation of a TIFF say of the
/// stored pixels has been done; slides have none.
/// Thread-safety: `read` from several threads at once.
class Picture {
 public:
  virtual ~Picture() = default;
  const PictureInfo& info() const { return info_; }

  /// Reads a region inside the picture into planes of its size, one for each channel. Parts that cannot be
  /// decoded are zero (or the decoder's output, if it continued) and returned as damage.
  /// @throws Error (input) if the file cannot be read any more, or has changed since it was opened
  virtual std::vector<Damage> read(const Region& region, std::span<const Channel> channels,
                                   std::span<const ImageView<std::uint8_t>> planes) = 0;
  /// Hint for row-by-row reading: the region has been read, and later ones overlap its right and lower edge
  /// by at most `overlap` pixels. The region may reach outside of the picture.
  virtual void passed(const Region&, int /*overlap*/) {}

 protected:
  PictureInfo info_;
};

/// Reads a region that may reach outside of the picture by any distance; the rule, then not `skip`, gives the
/// outer pixels. Damage is returned once, even if it appears in several places.
/// @throws like Picture::read
std::vector<Damage> read_with_border(Picture& picture, const Region& region, BorderRule border,
                                     std::span<const Channel> channels,
                                     std::span<const ImageView<std::uint8_t>> planes);

/// Bytes of decoded strips or tiles needed for a row of tiles that are `rows` high including their overlap.
/// If they exceed OpenOptions::cache_bytes, blocks are decoded again for many tiles. 0 for pictures kept in
/// memory.
std::int64_t bytes_of_tile_row(const PictureInfo& info, int rows, std::span<const Channel> channels);

/// Opens a TIFF (tiled or in strips, BigTIFF, pages), a slide, or a picture of any format that FFmpeg
/// decodes, which is then kept in memory.
/// @throws Error (input) with a remedy if it is no picture, has a damaged head, or is of an unsupported kind
std::unique_ptr<Picture> open_picture(const std::filesystem::path& file, const OpenOptions& options = {});

/// The same for a file that is a TIFF (tiff_pages.hpp).
std::unique_ptr<Picture> open_tiff(const std::filesystem::path& file, const OpenOptions& options = {});

}  // namespace sightline::tiles
