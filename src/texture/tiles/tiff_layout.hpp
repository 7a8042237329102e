#pragma once
/// Internal to src/tiles: how a page of a TIFF holds its pixels.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "image/turn.hpp"
#include "media/decoded_picture.hpp"
#include "texture/tiles/picture.hpp"
#include "texture/tiles/tiff_file.hpp"

namespace sightline::tiles {

/// Error for an intact file of an unsupported kind.
class KindNotRead : public Error {
 public:
  using Error::Error;
};

/// Format and meaning of one pixel's samples in decoded data.
struct SampleFormat {
  enum class Kind { natural, integer, real };
  Kind kind = Kind::natural;  ///< unsigned, signed, floating point
  int bits = 8;               ///< 1, 2, 4, 8, 10, 12, 14, 16, 32 or 64
  bool white_is_zero = false;
  /// Colour of each value where there is a palette; three equal ones where it has grays alone.
  std::vector<std::array<std::uint8_t, 3>> palette;
  /// Range of values that need one (OpenOptions::range).
  std::pair<double, double> range{0, 255};
};

struct TiffLayout {
  std::int64_t width = 0, height = 0;
  bool tiled = false;
  bool planar = false;  ///< samples in tiles or strips of their own
  /// A tile; or strips beside each other that are decoded together, since one may be a single row.
  Size block;
  int strips_per_block = 1;
  std::int64_t strip_rows = 0;
  std::uint32_t strips = 0;     ///< strips of one plane
  std::int64_t row_bytes = 0;   ///< bytes of a decoded row
  std::int64_t part_bytes = 0;  ///< bytes of a tile or strip
  int samples = 1;              ///< samples per pixel in the file
  int channels = 1;             ///< samples that are read: the first 1 or 3; 1 with a palette
  bool has_colour = false;
  bool is_jpeg_luma = false;  ///< JPEG with luma and chroma, whose luma is read separately
  bool uses_range = false;    ///< OpenOptions::range
  Turn turn;                  ///< from the tag Orientation
  SampleFormat format;
  std::string description;  ///< PictureInfo::format

  /// Tiles beside each other.
  std::int64_t across() const { return (width + block.width - 1) / block.width; }
  /// Tiles or strips of one plane.
  std::int64_t parts() const {
    return tiled ? across() * ((height + block.height - 1) / block.height) : strips;
  }

  /// Looks at the page's tags. Throws Error (input) if it is not read here; KindNotRead where only its
  /// samples or colours are of a kind that is not.
  TiffLayout(const std::filesystem::path& file, const TiffFile& tiff, const OpenOptions& options);
};

}  // namespace sightline::tiles
