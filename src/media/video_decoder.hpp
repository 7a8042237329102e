#pragma once
/// Internal to src/media: decoders of one video stream, whatever decodes it.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Packets in, pictures out. Codes are FFmpeg's: 0, AVERROR(EAGAIN) where a packet is needed first,
/// AVERROR_EOF behind the last picture, or an error, which decoding may go on after.
/// Thread-safety: one thread at a time.
class VideoDecoder {
 public:
  virtual ~VideoDecoder() = default;
  /// Takes the next packet in the order of decoding; null: the end. To be called when `receive` needs one.
  /// @param arrival  passed on to the picture of the packet; see live_packets.hpp
  virtual int send(AVPacket* packet, std::int64_t arrival) = 0;
  /// Makes the next picture in the order of display.
  virtual int receive(AVFrame& picture) = 0;
  /// Forgets all packets; what follows is from another place of the stream.
  virtual void flush() = 0;
  /// The device that decodes at present, as in ReadOptions::decoder; empty: software does.
  virtual std::string device() const { return ""; }
  /// Whether software decodes and tests a device, which may take over.
  virtual bool tests_device() const { return false; }
};

/// A decoder of FFmpeg's, without hardware.
class SoftwareDecoder final : public VideoDecoder {
 public:
  /// @param context  opened
  explicit SoftwareDecoder(CodecContextPtr context) : context_(std::move(context)) {}

  int send(AVPacket* packet, std::int64_t arrival) override;
  int receive(AVFrame& picture) override;
  void flush() override;

 private:
  CodecContextPtr context_;
};

/// A context for a stream, not opened, that passes on arrivals. @throws std::bad_alloc
CodecContextPtr make_decoder_context(const AVCodec& codec, const AVCodecParameters& parameters,
                                     AVRational time_base, bool low_delay);

/// Gives a packet to an FFmpeg decoder, with its arrival; null: the end.
int send_packet(AVCodecContext& context, AVPacket* packet, std::int64_t arrival);

/// A fault of a hardware decoder, or of what it is given.
struct DecoderFault : std::runtime_error {
  enum class Kind {
    damage,       ///< of the stream; software decides what becomes of it
    unavailable,  ///< the device cannot be used
    refused,      ///< this stream is not decoded by this device
    wrong,        ///< its pixels are not those of software
    device,       ///< the device or its driver failed
    hang,         ///< a call did not return in time
  };

  DecoderFault(Kind its_kind, const std::string& reason) : std::runtime_error(reason), kind(its_kind) {}

  Kind kind;
};

/// Whether the decoder found damage in a picture.
bool is_damaged(const AVFrame& picture);

}  // namespace sightline::media
