// Videos: files, streams, devices and generators.

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "media/content_checks.hpp"
#include "media/decoding_source.hpp"
#include "media/orientation.hpp"

namespace sightline::media {
namespace {

constexpr int kMaxBeforeKey = 300;  // encoders set key frames 250 apart, or closer

class Stream final : public DecodingSource {
 public:
  Stream(std::unique_ptr<StreamInput> input, const SourceContext& context)
      : DecodingSource(std::move(input), context) {
    check_index_is_in_front();
    if (input_->kind() == InputKind::camera) tell_of_other_choice();
    open_video_decoder();
    look_for_orientation();
    if (audio_stream_) open_audio(context);
  }

  // Some formats (MPEG-TS and PS) seek to any frame rather than a key frame, and the decoder then skips to
  // the next of these, past the goal: so what comes first is looked at, and if need be the start is put
  // further back.
  bool seek(double time) override {
    const bool is_released = !decoder_;
    if (!can_seek(time)) return !is_released;
    if (is_released) open_video_decoder();
    for (double back = 0;; back = std::min(time, back == 0 ? 1 : 4 * back)) {
      const auto ticks = static_cast<std::int64_t>(std::floor((time - back) / av_q2d(video_->time_base)));
      if (av_seek_frame(&input_->context(), video_->index, base_ + ticks, AVSEEK_FLAG_BACKWARD) < 0)
        return back == 0;
      decoder_->flush();
      draining_ = false;
      std::shared_ptr<const AVFrame> picture = decode();
      if (picture && picture->best_effort_timestamp == AV_NOPTS_VALUE) return false;
      if (picture && seconds_of(*picture) <= time + period_ / 2) {
        ahead_ = std::move(picture);
        return true;
      }
      if (back >= time || input_->stopped()) return false;
    }
  }

 private:
  bool can_seek(double time) const {
    const AVFormatContext& context = input_->context();
    if (context.iformat->flags & (AVFMT_NOTIMESTAMPS | AVFMT_NOFILE)) return false;
    if (!context.pb || !(context.pb->seekable & AVIO_SEEKABLE_NORMAL)) return false;
    // Streams without an index and without times count from wherever one begins to read.
    if (context.duration <= 0 || context.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE)
      return false;
    return time / av_q2d(video_->time_base) <= 9e18;
  }

  /// Without seeking, the pictures of an MP4 are gone once the index behind them is read, unless they are
  /// still in the buffer.
  void check_index_is_in_front() {
    AVIOContext* const io = input_->context().pb;
    const AVIndexEntry* const first = avformat_index_get_entry(video_, 0);
    if (!first || !io || (io->seekable & AVIO_SEEKABLE_NORMAL) ||
        !std::string_view(input_->context().iformat->name).starts_with("mov") ||
        first->pos >= avio_tell(io) - (io->buf_ptr - io->buffer))
      return;
    const bool is_network = input_->kind() == InputKind::network;
    throw Error(
        ExitCode::input,
        "'" + name_ + "' has its index at the end" +
            (is_network ? ", and the server sends no parts of a file (byte ranges)"
                        : ", and a pipe cannot be read twice"),
        std::string(is_network ? "download it first" : "name the file itself") +
            ", or move the index to the front: ffmpeg -i in.mp4 -c copy -movflags +faststart out.mp4");
  }

  void open_audio(const SourceContext& context) {
    if (!context.audio)
      context.audio = std::make_shared<AudioTrack>(*audio_stream_->codecpar, audio_stream_->time_base);
    audio_ = context.audio;
    const double base = static_cast<double>(base_) * av_q2d(video_->time_base);
    audio_offset_ = std::llround((context.audio_shift - base) / av_q2d(audio_stream_->time_base));
    audio_from_ =
        options_.start > 0 ? options_.start + context.audio_shift : -std::numeric_limits<double>::infinity();
    audio_until_ = options_.duration ? options_.start + *options_.duration + context.audio_shift
                                     : std::numeric_limits<double>::infinity();
  }

  void look_for_orientation() {
    constexpr std::size_t kHead = std::size_t{1} << 20;
    AVIOContext* const file = input_->context().pb;
    const std::string_view container = input_->context().iformat->name;
    const AVCodecID codec = video_->codecpar->codec_id;
    const bool may_be_picture =
        container.starts_with("mov") && (codec == AV_CODEC_ID_AV1 || codec == AV_CODEC_ID_HEVC);
    if (!container.starts_with("matroska") && !may_be_picture) return;
    if (!matrix_of_stream(*video_).empty()) return;
    if (input_->kind() != InputKind::file || !file || !(file->seekable & AVIO_SEEKABLE_NORMAL)) return;
    container_turn_ = turn_of_head(input_->head(kHead));
  }

  /// Whether the file was cut: its index (MP4, MOV) tells of frames that did not come, or its structure
  /// reaches past its end.
  bool is_cut_short() override {
    AVIOContext* const file = input_->context().pb;
    if (input_->kind() != InputKind::file || !file || std::exchange(was_at_end_, true)) return false;
    if (!(file->seekable & AVIO_SEEKABLE_NORMAL)) return false;
    const std::string_view container = input_->context().iformat->name;
    if (container.starts_with("mov")) {
      const int indexed = avformat_index_get_entries_count(video_);
      const AVIndexEntry* const last = avformat_index_get_entry(video_, indexed - 1);
      if (last && avio_size(file) < last->pos + last->size) return true;
    }
    return is_container_cut(*file, container, *video_->codecpar, input_->take_skipped_blocks());
  }

  void take(AVPacket& packet) override {
    if (audio_ && packet.stream_index == audio_stream_->index) return pass_audio(packet);
    if (packet.stream_index != video_->index || !begins_to_make_sense(packet)) return;
    if (is_picture_cut(packet)) return note_error(AVERROR_INVALIDDATA);
    if (input_->kind() == InputKind::camera) copier_.own(packet);
    send(packet);
  }

  /// After joining a broadcast, packets refer to missing pictures: no errors, but nothing to decode until a
  /// key frame. Some streams never mark one.
  bool begins_to_make_sense(const AVPacket& packet) {
    if (joined_ || input_->kind() != InputKind::network) return true;
    const AVCodecDescriptor* const codec = avcodec_descriptor_get(video_->codecpar->codec_id);
    const bool all_are_keys = codec && (codec->props & AV_CODEC_PROP_INTRA_ONLY);
    joined_ = all_are_keys || (packet.flags & AV_PKT_FLAG_KEY) || ++packets_before_ > kMaxBeforeKey;
    return joined_;
  }

  /// The decoder makes a picture of any beginning of a GIF's frame.
  bool is_picture_cut(const AVPacket& packet) const {
    return std::string_view(input_->context().iformat->name) == "gif" &&
           picture_check(AV_CODEC_ID_GIF)({packet.data, static_cast<std::size_t>(packet.size)});
  }

  // Drivers give the nearest they can without an error.
  void tell_of_other_choice() const {
    const CaptureOptions& asked = options_.capture;
    const AVCodecParameters& got = *video_->codecpar;
    const char* const format = got.codec_id == AV_CODEC_ID_RAWVIDEO
                                   ? av_get_pix_fmt_name(static_cast<AVPixelFormat>(got.format))
                                   : avcodec_get_name(got.codec_id);
    if (asked.size.width > 0 && asked.size != Size{got.width, got.height})
      logger().warn("{} delivers {}x{}, not {}x{}", name_, got.width, got.height, asked.size.width,
                    asked.size.height);
    if (!asked.pixel_format.empty() && format && asked.pixel_format != format)
      logger().warn("{} delivers {}, not {}", name_, format, asked.pixel_format);
    const double rate = av_q2d(video_->avg_frame_rate);
    if (asked.frame_rate > 0 && video_->avg_frame_rate.num > 0 &&
        std::abs(rate / asked.frame_rate - 1) > 0.01)
      logger().warn("{} delivers {:.4g} frames/s, not {:.4g}", name_, rate, asked.frame_rate);
  }

  void pass_audio(AVPacket& packet) {
    for (std::int64_t* time : {&packet.pts, &packet.dts})
      if (*time != AV_NOPTS_VALUE) *time += audio_offset_;
    const std::int64_t ticks = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    const double time = static_cast<double>(ticks) * av_q2d(audio_stream_->time_base);
    if (ticks != AV_NOPTS_VALUE && (time < audio_from_ || time >= audio_until_)) return;
    audio_->push(packet);
  }

  PacketCopier copier_;
  int packets_before_ = 0;
  bool joined_ = false;
  bool was_at_end_ = false;
  std::shared_ptr<AudioTrack> audio_;
  std::int64_t audio_offset_ = 0;
  double audio_from_ = 0;
  double audio_until_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_stream(const std::string& input, const SourceContext& context) {
  if (std::unique_ptr<Source> tiff = open_tiff(input, context)) return tiff;
  auto opened = std::make_unique<StreamInput>(input, context.options);
  if (opened->has_pictures()) return open_pictures(std::move(opened), context);
  return std::make_unique<Stream>(std::move(opened), context);
}

}  // namespace sightline::media
