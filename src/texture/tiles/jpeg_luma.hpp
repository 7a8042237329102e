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

/// Decodes the luma of JPEG data with luma and chroma; chroma is skipped, not transformed. The result is the
/// file's own luma, before libjpeg's conversion to RGB. Thread-safe.
/// @param tables  common tables of several pictures (the TIFF tag JPEGTables); may be empty
/// @param data    a whole JPEG picture, possibly without these tables
/// @param target  receives the luma; unspecified after an error
JpegLumaOutcome decode_jpeg_luma(std::span<const std::uint8_t> tables, std::span<const std::uint8_t> data,
                                 ImageView<std::uint8_t> target);

}  // namespace sightline::tiles
