#pragma once
/// Internal to src/media: detects video files that are shorter than their container states.

#include <string_view>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Whether the file is shorter than its structure says: elements (Matroska, WebM), boxes (MP4, MOV), chunks
/// (AVI), pages (Ogg), blocks (GIF) or frames (YUV4MPEG) that reach past its end. Tags are not believed,
/// since tools copy them from longer files; bytes behind the end do not matter. False for other containers,
/// and for a cut that leaves no trace.
/// @param file    seekable; its position is lost
/// @param format  AVInputFormat::name
/// @param video   the stream that was read
bool is_container_cut(AVIOContext& file, std::string_view format, const AVCodecParameters& video);

}  // namespace sightline::media
