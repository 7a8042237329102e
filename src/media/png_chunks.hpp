#pragma once
/// Internal to src/media: decompressed size of a PNG's chunks, computed before FFmpeg decompresses them.

#include <cstdint>
#include <span>

namespace sightline::media {

/// Whether the colour profile and the texts in a PNG picture (also one of APNG, or of a video) expand to more
/// than 32 MiB together, or are more than 10,000. FFmpeg expands them all, without a limit, when it decodes
/// the picture, in a time that grows with the square of their number.
bool has_giant_chunks(std::span<const std::uint8_t> png);

}  // namespace sightline::media
