#pragma once
/// Internal to src/media: TIFF files as a source, through the TiffReader that is set.

#include <span>

#include "media/source.hpp"

namespace sightline::media {

struct TiffContent {
  FramePtr picture;    ///< gray or RGB of 8 bits and full range; null if it is damaged
  std::string damage;  ///< why it cannot be read whole
};

/// Decodes the first picture of a file's content; warns of others. Unsigned samples of more than 8 bits are
/// spread over all of their values.
/// @param name  of the file, for messages
/// @throws Error (input) for kinds that are not read, and pictures over `max_pixels`
TiffContent decode_tiff(std::span<const std::uint8_t> content, const std::string& name,
                        std::int64_t max_pixels);

/// A local file, if its first bytes are those of a TIFF; else null.
std::unique_ptr<Source> open_tiff(const std::string& input, const SourceContext& context);

}  // namespace sightline::media
