#pragma once
/// Internal to src/media: packets that decoding can begin at.

#include "media/ffmpeg.hpp"

namespace sightline::media {

enum class AccessPoint {
  none,    ///< later pictures need earlier packets
  open,    ///< exact from this picture on in the order of display; pictures displayed before it are not (CRA)
  closed,  ///< exact for all pictures from this packet on
};

/// Kind of a packet. Closed are IDR and BLA pictures of H.264 and HEVC, key frames of MPEG-1, -2 and -4, VP8,
/// VP9 and AV1, and all pictures of codecs without prediction.
AccessPoint access_point(const AVPacket& packet, const AVCodecParameters& codec);

}  // namespace sightline::media
