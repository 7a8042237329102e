#pragma once
/// Internal to src/media: checks of a file's content that FFmpeg leaves out, each in its own source file.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Whether a video file is shorter than its structure says (container_end.cpp): elements (Matroska, WebM),
/// boxes (MP4, MOV), chunks (AVI), pages (Ogg), blocks (GIF) or frames (YUV4MPEG) that reach past its end.
/// Tags are not believed, since tools copy them from longer files; bytes behind the end do not matter. False
/// for other containers, and for a cut that leaves no trace.
/// @param file    seekable; its position is lost
/// @param format  AVInputFormat::name
/// @param video   the stream that was read
/// @param has_skipped_blocks  see StreamInput::take_skipped_blocks; then also looks into the clusters of
/// Matroska,
///                            whether they hold anything but what belongs there
bool is_container_cut(AVIOContext& file, std::string_view format, const AVCodecParameters& video,
                      bool has_skipped_blocks);

/// Whether a picture file's content, or of GIF a frame's, ends before its picture does, lacks a part, or is
/// partly overwritten with zeros. Bytes behind the picture are no matter. False where the content is of
/// another kind.
using PictureCheck = bool (*)(std::span<const std::uint8_t> content);

/// Check for a format whose decoder accepts truncated files (picture_end.cpp); null for others.
PictureCheck picture_check(AVCodecID codec);

/// Whether libjpeg finds the compressed data of a JPEG file damaged (jpeg_check.cpp). Makes no picture of it.
/// @param content  up to and with the mark at the end
/// @return false if it does not read this kind or size
bool is_jpeg_damaged(std::span<const std::uint8_t> content);

/// Whether the colour profile and the texts in a PNG picture (also one of APNG, or of a video) expand to more
/// than 32 MiB together, or are more than 10,000 (png_chunks.cpp). FFmpeg expands them all, without a limit,
/// when it decodes the picture, in a time that grows with the square of their number.
bool has_giant_chunks(std::span<const std::uint8_t> png);

/// A kind of picture that is not damaged, but that FFmpeg does not decode.
struct Unsupported {
  std::string kind;    ///< "an animated WebP"
  std::string remedy;  ///< advice to the user
};

/// Examines the content (or its first 64 KiB) of a file that could not be decoded (unsupported.cpp). No value
/// if it is of no known unsupported kind.
std::optional<Unsupported> unsupported_kind(std::span<const std::uint8_t> content);

}  // namespace sightline::media
