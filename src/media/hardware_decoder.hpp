#pragma once
/// Internal to src/media: FFmpeg's decoders on NVIDIA's and VA-API's hardware.

#include <cstdint>
#include <memory>
#include <string>

#include "media/decoder_choice.hpp"
#include "media/video_decoder.hpp"

namespace sightline::media {

/// Properties of a stream that its decoder needs. They outlive the container.
struct StreamFacts {
  std::shared_ptr<const AVCodecParameters> parameters;
  AVRational time_base{0, 1};
  std::int64_t max_pixels = 0;
  bool low_delay = false;
};

/// @throws std::bad_alloc
StreamFacts facts_of(const AVStream& stream, std::int64_t max_pixels, bool low_delay);

/// Why hardware may decode other pixels than software; empty if the standard fixes them and all decoders give
/// the same: H.264 of 8 bits, HEVC Main and Main 10, VP8, VP9 profiles 0 and 2, and AV1 Main, all in 4:2:0.
/// @param format   of software decoding; AV_PIX_FMT_NONE: not known yet
/// @param profile  below 0: not known yet
std::string reason_for_software(AVCodecID codec, int profile, AVPixelFormat format);

/// Opens a decoder whose pictures are, byte for byte, those of software decoding. Its calls throw
/// DecoderFault for what is not the stream's fault, and for streams that it does not decode.
/// @throws DecoderFault (refused, device)
std::unique_ptr<VideoDecoder> open_hardware_decoder(const DecoderChoice& device, const StreamFacts& facts);

}  // namespace sightline::media
