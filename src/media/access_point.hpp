#pragma once
/// Internal to src/media: packets that decoding can begin at.

#include "media/ffmpeg.hpp"

namespace sightline::media {

enum class AccessPoint {
  none,    ///< later pictures need earlier packets
  open,    ///< exact from this picture on in the order of display; pictures displayed before it are not (CRA)
  closed,  ///< exact for all pictures from this packet on
};

/// What decoding gives that begins at this packet: closed for IDR and BLA of H.264 and HEVC and key frames of
/// MPEG-1, -2 and -4, VP8, VP9, AV1 and of codecs without prediction.
AccessPoint access_point(const AVPacket& packet, const AVCodecParameters& codec);

}  // namespace sightline::media
