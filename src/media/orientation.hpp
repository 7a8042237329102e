#pragma once
/// Internal to src/media: which way up a picture is stored, and the upright picture.

#include <memory>
#include <span>

#include "image/turn.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {

/// The turn that is nearest to a display matrix (9 numbers, see libavutil/display.h): scales, shears and
/// angles between the quarter turns are not regarded.
Turn turn_of_matrix(std::span<const std::int32_t, 9> matrix);

/// The same of a matrix's bytes; no turn if there are none.
Turn turn_of_matrix(std::span<const std::uint8_t> bytes);

/// The display matrix of a video, from its container; none if it has none.
std::span<const std::uint8_t> matrix_of_stream(const AVStream& stream);

/// Orientation from a picture's file: EXIF data of a PNG or WebP, or the tag of a TIFF; 1 (upright) if there
/// is none. FFmpeg reads that of a JPEG itself.
int orientation_of_file(AVCodecID codec, std::span<const std::uint8_t> file);

/// The turn that the beginning of a file tells of: a Matroska file of its first video, an AVIF or HEIF file
/// of its picture. FFmpeg looks from 6.1 and from 7.1 on.
Turn turn_of_head(std::span<const std::uint8_t> head);

/// Gives the packet a display matrix for a turn, which its pictures then have.
void set_turn(AVPacket& packet, const Turn& turn);

/// The turn that a decoded picture asks for by its display matrix.
Turn turn_of(const AVFrame& picture);

/// The picture turned as it asks for, without its display matrix and other side data; itself if it is
/// upright. Pixels are moved, not changed, unless the format cannot be turned.
/// @throws Error (input) for a format that can neither be turned nor converted
std::shared_ptr<const AVFrame> upright(std::shared_ptr<const AVFrame> picture);

}  // namespace sightline::media
