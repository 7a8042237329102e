#pragma once
/// Internal to src/media: whether a picture's file holds all of the picture.

#include <cstdint>
#include <span>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Whether a file's content, or of GIF a frame's, ends before its picture does, lacks a part, or is partly
/// overwritten with zeros.
/// Bytes behind the picture are no matter. False where the content is of another kind.
using PictureCheck = bool (*)(std::span<const std::uint8_t> content);

/// Check for a format whose decoder accepts truncated files; null for others.
PictureCheck picture_check(AVCodecID codec);

}  // namespace sightline::media
