#pragma once
/// Internal to src/media: the decoding that videos and pictures share.

#include <limits>

#include "image/turn.hpp"
#include "media/live_packets.hpp"
#include "media/source.hpp"
#include "media/stream_input.hpp"
#include "media/video_decoder.hpp"

namespace sightline::media {

/// A source that decodes the best video stream of an input. Derived classes choose the packets to decode.
class DecodingSource : public Source, private Concealments {
 public:
  std::optional<SourceFrame> next() override;
  void release() override;
  StreamInfo info() const override;
  std::string device() const override { return decoder_ ? decoder_->device() : ""; }
  bool tests_device() const override { return decoder_ && decoder_->tests_device(); }

 protected:
  /// @throws Error (input) if there is no video
  DecodingSource(std::unique_ptr<StreamInput> input, const SourceContext& context);
  /// Opens the decoder of pictures, in software, and sets how times count. Constructors call it.
  /// @param fails_on_damage  return an error for a damaged JPEG instead of a picture with a gray part
  void open_decoder(int threads, bool fails_on_damage);
  /// The same for videos, with the decoder of the options.
  void open_video_decoder();
  /// The next picture; null at the end or when stopped.
  std::shared_ptr<const AVFrame> decode();
  /// Decodes a packet of the video.
  void send(AVPacket& packet);
  void note_error(int code);
  /// Time of a picture with a timestamp.
  double seconds_of(const AVFrame& picture) const {
    return static_cast<double>(picture.best_effort_timestamp - base_) * av_q2d(video_->time_base);
  }

  /// Receives the packets, and calls `send` for those of the video that are to be decoded.
  virtual void take(AVPacket& packet) = 0;
  /// The message for an error of reading or decoding.
  virtual std::string explain(int code) { return error_text(code); }
  /// Whether the input ends early, asked once all packets are decoded.
  virtual bool is_cut_short() { return false; }

  const std::string name_;
  const ReadOptions options_;
  DecodeErrors& errors_;
  const std::unique_ptr<StreamInput> input_;
  AVStream* video_ = nullptr;         // owned by the input
  AVStream* audio_stream_ = nullptr;  // owned by the input; null: not read
  Turn container_turn_;               // if FFmpeg does not find it
  std::unique_ptr<VideoDecoder> decoder_;
  std::shared_ptr<const AVFrame> ahead_;  // decoded, and not delivered yet
  double period_ = 0;
  std::int64_t base_ = 0;
  bool draining_ = false;

 private:
  std::unique_ptr<VideoDecoder> open_software(int threads, bool fails_on_damage);
  void set_rate();
  static int get_buffer(AVCodecContext* context, AVFrame* frame, int flags);
  void give_matrix(AVFrame& picture) const;
  void give_orientation(AVPacket& packet) const;
  std::shared_ptr<const AVFrame> end();
  void feed();
  void note_damage();
  FrameTimes times_of(const AVFrame& picture) const;
  double time_of(const AVFrame& picture);

  PacketPtr packet_ = make_av_packet();
  Moment decoded_;  // the last picture
  AVRational rate_{25, 1};
  double rebase_ = 0;
  double last_time_ = -std::numeric_limits<double>::infinity();
  bool any_time_ = false;
  bool is_unsupported_ = false;  // says the decoder of a picture
  int read_errors_ = 0;
  int read_failure_ = 0;  // error that ended the reading early
  std::atomic<int> large_width_{0};
  std::atomic<int> large_height_{0};
  std::int64_t flagged_ = 0;            // pictures with damage by their flags
  std::int64_t told_ = 0;               // pictures with damage that are reported
  std::atomic<int> without_memory_{0};  // pictures that could not be made and are not yet reported
};

/// Opens the pictures of an input, where StreamInput::has_pictures. @throws Error
std::unique_ptr<Source> open_pictures(std::unique_ptr<StreamInput> input, const SourceContext& context);

}  // namespace sightline::media
