#pragma once
/// Pictures of any size, of which regions are read: files whose pixels need not all be in memory.

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

namespace sightline::tiles {

/// A rectangle of a picture's pixels.
struct Region {
  std::int64_t x = 0;
  std::int64_t y = 0;
  int width = 0;
  int height = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// A plane of 8 bits. Luma is BT.601 of full range: by image/gray.hpp of red, green and blue; the file's own
/// where it is luma and chroma that are decoded (JPEG and WebP files, and TIFF files whose tiles or strips
/// are such JPEG data); the picture's samples where it is gray.
enum class Channel { luma, red, green, blue };
const char* to_string(Channel channel);

struct PictureInfo {
  std::string name;        ///< of the file, for messages
  std::int64_t width = 0;  ///< pixels
  std::int64_t height = 0;
  bool has_colour = false;
  std::string format;       ///< for people: "tiled TIFF, JPEG, tiles of 240x240"
  bool uses_range = false;  ///< whether OpenOptions::range had an effect
  /// What is decoded at once: a tile or a strip. The whole picture where all of it is kept in memory.
  Size block;
};

/// A part of a picture that could not be read: all that was decoded at once.
struct Damage {
  Region where;
  std::string reason;  ///< the decoder's words
  friend bool operator==(const Damage&, const Damage&) = default;
};
/// Adds a part to a list of at most 100 rectangles. Parts that make a larger rectangle are joined if their
/// reasons differ in numbers alone. Returns false where the list is full, and the part is left out.
bool add_damage(std::vector<Damage>& list, Damage part);
/// "x 512, y 1024, 256x256: reason".
std::string to_string(const Damage& damage);

struct OpenOptions {
  int page = 0;  ///< of a file that has several: a resolution or a picture
  /// Which samples of more than 8 bits, or of floating point, are black and white: those between are spread
  /// over 0 to 255 (rounded to the nearest, clamped; no number is black). The first may be larger than the
  /// second. None: such a TIFF is refused; in other formats, black and white are the lowest and the highest
  /// value that a sample can have. Of no effect on others.
  std::optional<std::pair<double, double>> range;
  /// Whether, without a range, unsigned samples are spread over all of their values rather than refused, and
  /// kinds of colours that only libtiff converts are read, of which the whole picture is kept in memory.
  bool spread_unsigned = false;
  /// Of decoded blocks that several reads share. Reading tiles row by row (`Picture::passed`), every block is
  /// decoded once where this holds the strips of a row of tiles, or two rows of a tiled picture's blocks: a
  /// byte for each of their pixels, three where colours are read; and as much for what is in use.
  std::size_t cache_bytes = std::size_t{512} << 20;
};

/// A picture that regions are read from. Upright: what EXIF data or the tag Orientation of a TIFF say of the
/// stored pixels has been done; slides have none.
/// Thread-safety: `read` from several threads at once.
class Picture {
 public:
  virtual ~Picture() = default;
  const PictureInfo& info() const { return info_; }

  /// Reads a region, which lies within the picture, into planes of its size: one for each channel. What
  /// cannot be decoded is zero (or, where the decoder could go on, what it made of it) and returned.
  /// @throws Error (input) where the file cannot be read any more, or has changed since it was opened
  virtual std::vector<Damage> read(const Region& region, std::span<const Channel> channels,
                                   std::span<const ImageView<std::uint8_t>> planes) = 0;
  /// A hint of who reads row by row: the region has been read, and those to come reach into it for `overlap`
  /// pixels at its right and lower edge at most. The region may reach outside of the picture.
  virtual void passed(const Region&, int /*overlap*/) {}

 protected:
  PictureInfo info_;
};

/// Reads a region that may reach outside of the picture, by any distance: what is there, the rule says, which
/// is not `skip` then. Damage is returned once, even where it shows at several places.
/// @throws as Picture::read
std::vector<Damage> read_with_border(Picture& picture, const Region& region, BorderRule border,
                                     std::span<const Channel> channels,
                                     std::span<const ImageView<std::uint8_t>> planes);

/// Bytes of decoded strips or tiles that a row of tiles needs, each of them so many rows high with what they
/// overlap: above OpenOptions::cache_bytes, each is decoded for many tiles anew. 0 of pictures that are kept
/// in memory as a whole.
std::int64_t bytes_of_tile_row(const PictureInfo& info, int rows, std::span<const Channel> channels);

/// Opens a TIFF (tiled or in strips, BigTIFF, pages), a slide, or a picture of any format that FFmpeg
/// decodes, which is then kept in memory.
/// @throws Error (input) where it is none, is damaged at its head, or holds what is not read: says what to do
std::unique_ptr<Picture> open_picture(const std::filesystem::path& file, const OpenOptions& options = {});

/// The same for a file that is a TIFF (tiff_pages.hpp).
std::unique_ptr<Picture> open_tiff(const std::filesystem::path& file, const OpenOptions& options = {});

}  // namespace sightline::tiles
