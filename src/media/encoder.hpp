#pragma once
/// Internal to src/media: a video encoder set up for a container.

#include <string>

#include "frame/stream_info.hpp"
#include "media/ffmpeg.hpp"
#include "media/fit.hpp"
#include "media/writer.hpp"

namespace sightline::media {

class VideoEncoder {
 public:
  /// @throws Error (usage) for an encoder or preset that is unknown or unfit
  VideoEncoder(const std::string& path, const AVOutputFormat& container, const StreamInfo& video,
               const WriteOptions& options);

  const AVCodecContext& context() const { return *context_; }
  /// Picture to put a frame into and draw on before `encode`.
  FittedPicture& picture() { return fitted_; }

  /// Gives the encoder the picture, shown at `time` seconds from the first. Times that would not rise are
  /// made to.
  /// @return FFmpeg's code
  int encode(double time);
  /// Announces the end. @return FFmpeg's code
  int drain();
  /// The next packet; AVERROR(EAGAIN) if more pictures are needed, AVERROR_EOF after the last.
  int receive(AVPacket& packet);

 private:
  void choose_format();
  void choose_time_base(const AVOutputFormat& container, const StreamInfo& video);
  void set_quality(const WriteOptions& options);
  void set_live(const WriteOptions& options);
  bool knows(const char* option) const;
  void set(const char* option, const char* value);
  bool is_key_due(double time);

  const AVCodec* codec_ = nullptr;
  CodecContextPtr context_;
  FittedPicture fitted_;
  Scaler scaler_;
  FramePtr converted_;  // for encoders that need another pixel format
  std::int64_t last_time_ = -1;
  double key_seconds_ = 0;  // 0: the encoder places its key frames
  double last_key_ = 0;     // time in seconds
};

}  // namespace sightline::media
