#pragma once
/// Internal to src/media: pictures that are not damaged, but of a kind that FFmpeg does not decode.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sightline::media {

struct Unsupported {
  std::string kind;    ///< "an animated WebP"
  std::string remedy;  ///< advice to the user
};

/// Examines the content (or its first 64 KiB) of a file that could not be decoded. No value if it is of no
/// known unsupported kind.
std::optional<Unsupported> unsupported_kind(std::span<const std::uint8_t> content);

}  // namespace sightline::media
