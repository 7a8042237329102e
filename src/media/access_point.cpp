#include "media/access_point.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace sightline::media {
namespace {

/// First NAL unit of a packet that is a slice; units have their length in front (`prefix` bytes) or a start
/// code (`prefix` 0). None if the packet has no slice.
std::optional<std::uint8_t> slice_header(std::span<const std::uint8_t> packet, std::size_t prefix,
                                         bool hevc) {
  std::size_t at = 0;
  while (at + std::max<std::size_t>(prefix, 3) < packet.size()) {
    std::size_t length = 0;
    if (prefix > 0) {
      for (std::size_t i = 0; i < prefix; ++i) length = length << 8 | packet[at + i];
      at += prefix;
    } else if (packet[at] == 0 && packet[at + 1] == 0 && packet[at + 2] == 1) {
      at += 3;
    } else {
      ++at;
      continue;
    }
    const std::uint8_t type = hevc ? packet[at] >> 1 & 63 : packet[at] & 31;
    if (hevc ? type < 32 : type >= 1 && type <= 5) return type;
    at += length;
  }
  return std::nullopt;
}

AccessPoint point_of_hevc(std::uint8_t slice) {
  constexpr std::uint8_t kCra = 21;
  if (slice == kCra) return AccessPoint::open;
  return slice >= 16 && slice < kCra ? AccessPoint::closed : AccessPoint::none;
}

}  // namespace

AccessPoint access_point(const AVPacket& packet, const AVCodecParameters& codec) {
  if (!(packet.flags & AV_PKT_FLAG_KEY)) return AccessPoint::none;
  const std::span<const std::uint8_t> data(packet.data, static_cast<std::size_t>(packet.size));
  const std::span<const std::uint8_t> head(codec.extradata, static_cast<std::size_t>(codec.extradata_size));
  const bool has_lengths = !head.empty() && head[0] == 1;
  const auto prefix = [&](std::size_t at) -> std::size_t {
    return has_lengths && head.size() > at ? (head[at] & 3U) + 1 : 0;
  };
  const auto closed_if = [](bool is_closed) { return is_closed ? AccessPoint::closed : AccessPoint::none; };
  switch (codec.codec_id) {
    case AV_CODEC_ID_H264:
      return closed_if(slice_header(data, prefix(4), false) == 5);
    case AV_CODEC_ID_HEVC:
      return point_of_hevc(slice_header(data, prefix(21), true).value_or(0));
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1:
      return AccessPoint::closed;
    default: {
      const AVCodecDescriptor* const description = avcodec_descriptor_get(codec.codec_id);
      return closed_if(description && (description->props & AV_CODEC_PROP_INTRA_ONLY));
    }
  }
}

}  // namespace sightline::media
