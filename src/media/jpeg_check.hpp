#pragma once
/// Internal to src/media: whether the compressed data of a JPEG file is whole.

#include <cstdint>
#include <span>

namespace sightline::media {

/// Decodes the data without making a picture of it.
/// @param content  up to and with the mark at the end
/// @return whether the decoder found it damaged; false if it does not read this kind or size
bool is_jpeg_damaged(std::span<const std::uint8_t> content);

}  // namespace sightline::media
