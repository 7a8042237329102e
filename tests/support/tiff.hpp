#pragma once
// TIFF files of every kind, made at test time with libtiff, and their content.

#include <tiffio.h>

#include <cstdint>
#include <string>
#include <vector>

#include "texture/tiles/picture.hpp"

namespace sightline::test {

/// Storage format of a made picture. Samples are those of `made_sample`, converted.
struct TiffKind {
  std::string name = {};
  int samples = 3;
  int bits = 8;
  int format = SAMPLEFORMAT_UINT;
  int photometric = PHOTOMETRIC_RGB;
  int compression = COMPRESSION_NONE;
  Size tile{64, 48};  ///< 0x0: strips
  int strip_rows = 7;
  bool planar = false;
  int predictor = PREDICTOR_NONE;
  int orientation = ORIENTATION_TOPLEFT;
  int palette_factor = 257;  ///< factor from bytes to the palette's values
  std::string mode = "w";    ///< mode of TIFFOpen: "w8" for BigTIFF, "wb" for big-endian
};

/// Sample `channel` (0 to 3) of a pixel: no tile, row or channel is like another.
inline std::uint8_t made_sample(std::int64_t x, std::int64_t y, int channel) {
  return static_cast<std::uint8_t>((x * (3 + channel) + y * (5 - channel) + x * y % 23 + channel * 40) % 256);
}

/// Adds a page to a file, or makes it. Throws std::runtime_error.
void write_tiff(const std::string& file, const TiffKind& kind, Size size, bool append = false);

/// The planes of a region, read in one call.
std::vector<Image<std::uint8_t>> read_planes(tiles::Picture& picture, const tiles::Region& region,
                                             std::vector<tiles::Channel> channels,
                                             std::vector<tiles::Damage>* damage = nullptr);
/// Luma of the whole picture.
Image<std::uint8_t> read_luma(tiles::Picture& picture, std::vector<tiles::Damage>* damage = nullptr);

}  // namespace sightline::test
