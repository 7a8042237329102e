#pragma once
/// Internal to src/tiles: luma out of JPEG data, without its colours being made.

#include <cstdint>
#include <span>
#include <string>

#include "image/view.hpp"

namespace sightline::tiles {

struct JpegLumaOutcome {
  /// Whether the data is of a kind that is read here: three components in one scan of 8 bits, of the size of
  /// the target. Else the target is as it was.
  bool is_known = false;
  std::string error;    ///< why it could not be decoded to the end; empty if it was
  std::string warning;  ///< the first thing that was found damaged, where the decoder went on
};

/// Decodes the luma of JPEG data that holds luma and chroma: chroma is read past, and not transformed. The
/// luma is the file's own: what libjpeg has before it makes red, green and blue of it. Thread-safe.
/// @param tables  what several pictures have in common (the TIFF tag JPEGTables); may be empty
/// @param data    a whole JPEG picture, which may be without these tables
/// @param target  takes the luma; what an error leaves of it is unspecified
JpegLumaOutcome decode_jpeg_luma(std::span<const std::uint8_t> tables, std::span<const std::uint8_t> data,
                                 ImageView<std::uint8_t> target);

}  // namespace sightline::tiles
