// Decodes the video stream of one opened container.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "media/container_end.hpp"
#include "media/live_packets.hpp"
#include "media/orientation.hpp"
#include "media/picture_end.hpp"
#include "media/secrets.hpp"
#include "media/source.hpp"
#include "media/stream_input.hpp"
#include "media/tiff.hpp"

namespace sightline::media {
namespace {

constexpr int kMaxReadErrors = 50;                        // consecutive read errors that end the input
constexpr int kMaxBeforeKey = 300;                        // encoders set key frames 250 apart, or closer
constexpr std::chrono::milliseconds kDeviceRecovery{10};  // after an error; a loss of signal may be short

class Stream final : public Source, private Concealments {
 public:
  Stream(const std::string& input, const SourceContext& context)
      : name_(redacted(input)),
        options_(context.options),
        errors_(context.errors),
        audio_shift_(context.audio_shift),
        input_(input, context.options) {
    choose_streams();
    check_index_is_in_front();
    if (input_.kind() == InputKind::camera) tell_of_other_choice();
    open_decoder();
    set_times();
    look_for_orientation();
    if (audio_stream_) open_audio(context.audio);
  }

  std::optional<SourceFrame> next() override {
    std::shared_ptr<const AVFrame> picture = ahead_ ? std::move(ahead_) : decode();
    ahead_.reset();
    if (picture && (picture->decode_error_flags != 0 || (picture->flags & AV_FRAME_FLAG_CORRUPT))) ++flagged_;
    for (const std::int64_t damaged = std::max(flagged_, frames.load()); told_ < damaged; ++told_)
      errors_.add_concealed();
    if (!picture) return std::nullopt;
    errors_.good();
    const double time = time_of(*picture);
    const FrameTimes times = times_of(*picture);
    return SourceFrame{std::move(picture), time, {}, times};
  }

  // Some formats (MPEG-TS and PS) seek to any frame rather than a key frame, and the decoder then skips to
  // the next of these, past the goal: so what comes first is looked at, and if need be the start is put
  // further back.
  bool seek(double time) override {
    const AVFormatContext& context = input_.context();
    if (context.iformat->flags & (AVFMT_NOTIMESTAMPS | AVFMT_NOFILE)) return true;
    if (!context.pb || !(context.pb->seekable & AVIO_SEEKABLE_NORMAL)) return true;
    // Streams without an index and without times count from wherever one begins to read.
    if (context.duration <= 0 || context.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE)
      return true;
    if (time / av_q2d(video_->time_base) > 9e18) return true;
    for (double back = 0;; back = std::min(time, back == 0 ? 1 : 4 * back)) {
      const auto ticks = static_cast<std::int64_t>(std::floor((time - back) / av_q2d(video_->time_base)));
      if (av_seek_frame(&input_.context(), video_->index, base_ + ticks, AVSEEK_FLAG_BACKWARD) < 0)
        return back == 0;
      avcodec_flush_buffers(decoder_.get());
      draining_ = false;
      std::shared_ptr<const AVFrame> picture = decode();
      if (picture && picture->best_effort_timestamp == AV_NOPTS_VALUE) return false;
      if (picture && seconds_of(*picture) <= time + period_ / 2) {
        ahead_ = std::move(picture);
        return true;
      }
      if (back >= time || input_.stopped()) return false;
    }
  }

  StreamInfo info() const override {
    const AVFormatContext& context = input_.context();
    StreamInfo info;
    info.frame_rate = {rate_.num, rate_.den};
    info.codec = avcodec_get_name(video_->codecpar->codec_id);
    info.has_audio = av_find_best_stream(&input_.context(), AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0) >= 0;
    const AVRational aspect = av_guess_sample_aspect_ratio(&input_.context(), video_, nullptr);
    if (aspect.num > 0 && aspect.den > 0) info.sample_aspect = {aspect.num, aspect.den};
    if (has_quarter_turn()) std::swap(info.sample_aspect.num, info.sample_aspect.den);
    if (input_.is_single_image()) {
      info.frames = 1;
      info.is_pictures = true;
    } else {
      if (video_->nb_frames > 0) info.frames = video_->nb_frames;
      if (video_->duration > 0)
        info.duration = static_cast<double>(video_->duration) * av_q2d(video_->time_base);
      else if (context.duration > 0)
        info.duration = static_cast<double>(context.duration) / AV_TIME_BASE;
    }
    return info;
  }

 private:
  void choose_streams() {
    AVFormatContext& context = input_.context();
    const int best = best_video_stream(context);
    if (best < 0) input_.refuse_unsupported(AVERROR_INVALIDDATA);
    if (best < 0)
      throw Error(ExitCode::input, "'" + name_ + "' has no video stream",
                  context.nb_streams > 0 ? "it may have sound only" : "");
    video_ = context.streams[best];
    if (options_.keep_audio) {
      const int audio = av_find_best_stream(&context, AVMEDIA_TYPE_AUDIO, -1, best, nullptr, 0);
      if (audio >= 0) audio_stream_ = context.streams[audio];
    }
    for (unsigned i = 0; i < context.nb_streams; ++i)
      if (context.streams[i] != video_ && context.streams[i] != audio_stream_)
        context.streams[i]->discard = AVDISCARD_ALL;
  }

  /// Without seeking, the pictures of an MP4 are gone once the index behind them is read, unless they are
  /// still in the buffer.
  void check_index_is_in_front() {
    AVIOContext* const io = input_.context().pb;
    const AVIndexEntry* const first = avformat_index_get_entry(video_, 0);
    if (!first || !io || (io->seekable & AVIO_SEEKABLE_NORMAL)) return;
    if (!std::string_view(input_.context().iformat->name).starts_with("mov") ||
        first->pos >= avio_tell(io) - (io->buf_ptr - io->buffer))
      return;
    const bool is_network = input_.kind() == InputKind::network;
    throw Error(
        ExitCode::input,
        "'" + name_ + "' has its index at the end" +
            (is_network ? ", and the server sends no parts of a file (byte ranges)"
                        : ", and a pipe cannot be read twice"),
        std::string(is_network ? "download it first" : "name the file itself") +
            ", or move the index to the front: ffmpeg -i in.mp4 -c copy -movflags +faststart out.mp4");
  }

  void open_decoder() {
    const AVCodecParameters& parameters = *video_->codecpar;
    check_size(parameters.width, parameters.height);
    const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
    if (!codec)
      throw Error(ExitCode::input,
                  "no decoder for the codec " + std::string(avcodec_get_name(parameters.codec_id)) + " of '" +
                      name_ + "'",
                  "convert it, for instance to H.264");
    decoder_.reset(avcodec_alloc_context3(codec));
    if (!decoder_ || avcodec_parameters_to_context(decoder_.get(), &parameters) < 0) throw std::bad_alloc();
    decoder_->pkt_timebase = video_->time_base;
    decoder_->thread_count = input_.is_single_image() ? 1 : options_.threads;
    decoder_->thread_type = options_.low_delay ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
    if (options_.low_delay) decoder_->flags |= AV_CODEC_FLAG_LOW_DELAY;
    // A JPEG that is cut short is damaged, not a picture with a gray end; other decoders say so by
    // themselves. (Videos go on after damage.)
    if (input_.is_single_image() && codec->id == AV_CODEC_ID_MJPEG)
      decoder_->err_recognition |= AV_EF_EXPLODE;
    enable_arrivals(*decoder_);
    decoder_->opaque = static_cast<Concealments*>(this);
    decoder_->get_buffer2 = get_buffer;
#if FF_API_THREAD_SAFE_CALLBACKS  // later versions take it for granted
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    decoder_->thread_safe_callbacks = 1;  // else the decoder's threads wait for one another
#pragma GCC diagnostic pop
#endif
    const int result = fault::strikes(fault::Kind::decode, "avcodec_open2")
                           ? AVERROR(ENOMEM)
                           : avcodec_open2(decoder_.get(), codec, nullptr);
    if (result < 0)
      throw Error(ExitCode::input, std::string("cannot start the decoder ") + codec->name + " for '" + name_ +
                                       "' (" + error_text(result) + ")");
  }

  void set_times() {
    // Without timestamps, FFmpeg's average is what its demuxer assumes, and the codec's header knows better.
    const bool is_counted = input_.context().iformat->flags & AVFMT_NOTIMESTAMPS;
    rate_ = is_counted ? av_guess_frame_rate(&input_.context(), video_, nullptr) : video_->avg_frame_rate;
    if (rate_.num <= 0 || rate_.den <= 0) rate_ = av_guess_frame_rate(&input_.context(), video_, nullptr);
    if (rate_.num <= 0 || rate_.den <= 0) rate_ = {25, 1};
    period_ = av_q2d(av_inv_q(rate_));
    base_ = start_of(input_.context(), *video_);
  }

  void open_audio(std::shared_ptr<AudioTrack>& track) {
    if (!track) track = std::make_shared<AudioTrack>(*audio_stream_->codecpar, audio_stream_->time_base);
    audio_ = track;
    const double base = static_cast<double>(base_) * av_q2d(video_->time_base);
    audio_offset_ = std::llround((audio_shift_ - base) / av_q2d(audio_stream_->time_base));
    audio_from_ =
        options_.start > 0 ? options_.start + audio_shift_ : -std::numeric_limits<double>::infinity();
    audio_until_ = options_.duration ? options_.start + *options_.duration + audio_shift_
                                     : std::numeric_limits<double>::infinity();
  }

  bool is_too_large(int width, int height) const {
    return static_cast<std::int64_t>(width) * height > options_.max_pixels;
  }

  void check_size(int width, int height) const {
    check_picture_size(width, height, name_, options_.max_pixels);
  }

  // Called by the decoder, from any of its threads, before it allocates a picture: too large pictures are
  // refused.
  static int get_buffer(AVCodecContext* context, AVFrame* frame, int flags) {
    auto* self = static_cast<Stream*>(static_cast<Concealments*>(context->opaque));
    if (self->is_too_large(frame->width, frame->height)) {
      self->large_width_ = frame->width;
      self->large_height_ = frame->height;
      return AVERROR(EINVAL);
    }
    const int result = fault::strikes(fault::Kind::allocate, "get_buffer2")
                           ? AVERROR(ENOMEM)
                           : avcodec_default_get_buffer2(context, frame, flags);
    if (result < 0) ++self->without_memory_;
    return result;
  }

  std::shared_ptr<const AVFrame> decode() {
    std::optional<WorkLimit> limit;
    if (input_.is_single_image())
      limit.emplace("decoding '" + name_ + "'", input_.limits_of_picture(options_.max_pixels));
    for (;;) {
      if (input_.stopped()) return nullptr;
      if (tiff_) return std::exchange(tiff_, nullptr);
      FramePtr frame = make_av_frame();
      const int result = fault::strikes(fault::Kind::decode, "avcodec_receive_frame")
                             ? AVERROR_INVALIDDATA
                             : avcodec_receive_frame(decoder_.get(), frame.get());
      if (result >= 0) {
        decoded_ = Moment::now();
        if (!av_frame_get_side_data(frame.get(), AV_FRAME_DATA_DISPLAYMATRIX)) give_matrix(*frame);
        return std::shared_ptr<const AVFrame>(std::move(frame));
      }
      if (result == AVERROR_EOF) return end();
      if (result != AVERROR(EAGAIN))
        note_error(result);
      else if (draining_)
        return end();
      else
        feed();
    }
  }

  void look_for_orientation() {
    constexpr std::size_t kHead = std::size_t{1} << 20;
    AVIOContext* const file = input_.context().pb;
    const std::string_view container = input_.context().iformat->name;
    const AVCodecID codec = video_->codecpar->codec_id;
    const bool may_be_picture =
        container.starts_with("mov") && (codec == AV_CODEC_ID_AV1 || codec == AV_CODEC_ID_HEVC);
    if (!container.starts_with("matroska") && !may_be_picture) return;
    if (!matrix_of_stream(*video_).empty()) return;
    if (input_.kind() != InputKind::file || !file || !(file->seekable & AVIO_SEEKABLE_NORMAL)) return;
    const std::int64_t place = avio_tell(file);
    std::vector<std::uint8_t> head(kHead);
    const int got = avio_seek(file, 0, SEEK_SET) == 0 ? avio_read(file, head.data(), kHead) : 0;
    container_turn_ = turn_of_head({head.data(), static_cast<std::size_t>(std::max(got, 0))});
    avio_seek(file, place, SEEK_SET);
  }

  bool has_quarter_turn() const {
    if (container_turn_.transpose) return true;
    std::array<std::int32_t, 9> matrix{};
    const std::span<const std::uint8_t> bytes = matrix_of_stream(*video_);
    if (bytes.empty()) return false;
    std::memcpy(matrix.data(), bytes.data(), bytes.size());
    return turn_of_matrix(matrix).transpose;
  }

  /// Older versions of FFmpeg give pictures no matrix of their container's.
  void give_matrix(AVFrame& picture) const {
    const std::span<const std::uint8_t> matrix = matrix_of_stream(*video_);
    if (matrix.empty()) return;
    AVFrameSideData* const data =
        av_frame_new_side_data(&picture, AV_FRAME_DATA_DISPLAYMATRIX, matrix.size());
    if (!data) throw std::bad_alloc();
    std::ranges::copy(matrix, data->data);
  }

  /// Passes orientations to the decoder that it does not find itself.
  void give_orientation(AVPacket& packet) const {
    const AVCodecParameters& codec = *video_->codecpar;
    const bool is_animation = codec.codec_id == AV_CODEC_ID_APNG;
    const std::span<const std::uint8_t> file(
        is_animation ? codec.extradata : packet.data,
        static_cast<std::size_t>(is_animation ? codec.extradata_size : packet.size));
    const Turn of_file = turn_of_orientation(orientation_of_file(codec.codec_id, file));
    set_turn(packet, of_file.is_none() ? container_turn_ : of_file);
  }

  /// Called when all readable data are decoded. An incomplete input is an error, as far as it differs from a
  /// regular end.
  std::shared_ptr<const AVFrame> end() {
    // H.264's decoder goes on without such a picture and says nothing of it.
    while (without_memory_ > 0) note_error(AVERROR(ENOMEM));
    if (const int code = std::exchange(read_failure_, 0))
      throw Error(ExitCode::input, "'" + name_ + "' cannot be read further (" + error_text(code) + ")",
                  "check the disk or the connection; earlier frames are processed");
    if (is_unsupported_ && !any_time_) input_.refuse_unsupported(AVERROR_PATCHWELCOME);
    if (!input_.stopped() && is_cut_short()) errors_.add("the file ends before its last frame");
    return nullptr;
  }

  /// Whether the file was cut: its index (MP4, MOV) tells of frames that did not come, or its structure
  /// reaches past its end.
  bool is_cut_short() {
    AVIOContext* const file = input_.context().pb;
    if (input_.kind() != InputKind::file || !file || std::exchange(was_at_end_, true)) return false;
    if (!(file->seekable & AVIO_SEEKABLE_NORMAL)) return false;
    const std::string_view container = input_.context().iformat->name;
    if (container.starts_with("mov")) {
      const int indexed = avformat_index_get_entries_count(video_);
      const AVIndexEntry* const last = avformat_index_get_entry(video_, indexed - 1);
      if (last && avio_size(file) < last->pos + last->size) return true;
    }
    return is_container_cut(*file, container, *video_->codecpar);
  }

  /// Gives the decoder one packet, or the end of the stream.
  void feed() {
    const int result = input_.read(*packet_);
    if (result >= 0) {
      read_errors_ = 0;
      if (packet_->stream_index == video_->index)
        decode_packet();
      else if (audio_ && packet_->stream_index == audio_stream_->index)
        pass_audio();
      av_packet_unref(packet_.get());
      return;
    }
    const AVIOContext* io = input_.context().pb;
    const bool over = result == AVERROR_EOF || result == AVERROR_EXIT || result == AVERROR(ENODEV) ||
                      (io && avio_feof(input_.context().pb)) || ++read_errors_ >= kMaxReadErrors;
    const bool is_retried = result == AVERROR(EIO) && !over;  // nothing is lost so far
    if (result != AVERROR_EOF && result != AVERROR_EXIT && !is_retried) note_error(result);
    if (over) {
      draining_ = true;
      if (io && io->error < 0 && io->error != AVERROR_EOF && io->error != AVERROR_EXIT)
        read_failure_ = io->error;
      else if (read_errors_ >= kMaxReadErrors)
        read_failure_ = result;
      avcodec_send_packet(decoder_.get(), nullptr);
    } else if (input_.is_device()) {
      std::this_thread::sleep_for(kDeviceRecovery);
    }
  }

  void decode_packet() {
    if (packet_->flags & AV_PKT_FLAG_CORRUPT) errors_.add_concealed();
    if (!begins_to_make_sense()) return;
    if (input_.is_single_image() && !begins_as_first()) return;
    if (is_picture_cut()) return note_error(AVERROR_INVALIDDATA);
    if (video_->codecpar->codec_id == AV_CODEC_ID_TIFF) return decode_tiff_packet();
    input_.refuse_giant_chunks(video_->codecpar->codec_id,
                               {packet_->data, static_cast<std::size_t>(packet_->size)});
    if (input_.kind() == InputKind::camera) copier_.own(*packet_);
    give_orientation(*packet_);
    set_arrival(*packet_, *decoder_, Moment::now().steady);
    const int sent = fault::strikes(fault::Kind::decode, "avcodec_send_packet")
                         ? AVERROR_INVALIDDATA
                         : send_data(*decoder_, *packet_);
    if (sent < 0 && sent != AVERROR_EOF) note_error(sent);
  }

  /// After joining a broadcast, packets refer to missing pictures: no errors, but nothing to decode until a
  /// key frame. Some streams never mark one.
  bool begins_to_make_sense() {
    if (joined_ || input_.kind() != InputKind::network) return true;
    const AVCodecDescriptor* const codec = avcodec_descriptor_get(video_->codecpar->codec_id);
    const bool all_are_keys = codec && (codec->props & AV_CODEC_PROP_INTRA_ONLY);
    joined_ = all_are_keys || (packet_->flags & AV_PKT_FLAG_KEY) || ++packets_before_ > kMaxBeforeKey;
    return joined_;
  }

  void decode_tiff_packet() {
    TiffContent content =
        decode_tiff({packet_->data, static_cast<std::size_t>(packet_->size)}, name_, options_.max_pixels);
    if (!content.picture) return errors_.add(content.damage);
    content.picture->pts = packet_->pts;
    content.picture->best_effort_timestamp = packet_->pts;
    decoded_ = Moment::now();
    tiff_ = std::move(content.picture);
  }

  /// Programs append data of their own to a picture. Bytes behind its end are a picture, too, only if they
  /// begin as the first one does.
  bool begins_as_first() {
    constexpr std::size_t kMagic = 4;
    const std::string head(reinterpret_cast<const char*>(packet_->data),
                           std::min(static_cast<std::size_t>(packet_->size), kMagic));
    if (first_bytes_.empty()) first_bytes_ = head;
    return head == first_bytes_;
  }

  /// Some decoders make a picture of any beginning of its file.
  bool is_picture_cut() {
    const PictureCheck check = picture_check(video_->codecpar->codec_id);
    if (!check) return false;
    const std::string_view format = input_.context().iformat->name;
    if (format == "image2" || format == "gif")  // their packets are files, or frames
      return check({packet_->data, static_cast<std::size_t>(packet_->size)});
    if (!input_.is_single_image()) return false;
    if (!is_cut_) is_cut_ = check(input_.content_of_image());
    return *is_cut_;
  }

  FrameTimes times_of(const AVFrame& picture) const {
    FrameTimes times{arrival_of(picture), decoded_.steady};
    if (input_.is_device() && picture.pts != AV_NOPTS_VALUE) {
      const std::int64_t stamp = av_rescale_q(picture.pts, video_->time_base, AVRational{1, 1'000'000});
      times.captured = captured_at(stamp, decoded_).value_or(times.captured);
    }
    return times;
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

  void note_error(int code) {
    if (const int width = large_width_.exchange(0)) check_size(width, large_height_);
    if (code == AVERROR(ENOMEM) && without_memory_ > 0) --without_memory_;
    if (input_.is_single_image() && !is_cut_.value_or(false)) input_.refuse_unsupported(code);
    is_unsupported_ = is_unsupported_ || code == AVERROR_PATCHWELCOME;
    const bool is_bad_picture = code == AVERROR_INVALIDDATA && input_.is_single_image();
    errors_.add(is_bad_picture ? "the picture is damaged or cut short" : error_text(code));
  }

  void pass_audio() {
    for (std::int64_t* time : {&packet_->pts, &packet_->dts})
      if (*time != AV_NOPTS_VALUE) *time += audio_offset_;
    const std::int64_t ticks = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
    const double time = static_cast<double>(ticks) * av_q2d(audio_stream_->time_base);
    if (ticks != AV_NOPTS_VALUE && (time < audio_from_ || time >= audio_until_)) return;
    audio_->push(*packet_);
  }

  /// Time of a picture with a timestamp.
  double seconds_of(const AVFrame& picture) const {
    return static_cast<double>(picture.best_effort_timestamp - base_) * av_q2d(video_->time_base);
  }

  /// Seconds from the start; always later than the frame before.
  double time_of(const AVFrame& picture) {
    constexpr double kJump = 1.0;  // a step back by more is a new count of time, not a disorder in this one
    double time = last_time_ + period_;
    if (picture.best_effort_timestamp != AV_NOPTS_VALUE) {
      const double stamp = seconds_of(picture);
      if (stamp + rebase_ > last_time_) {
        time = stamp + rebase_;
      } else if (stamp + rebase_ < last_time_ - kJump) {
        rebase_ = time - stamp;
      } else {
        time = last_time_ + period_ / 8;  // out of order by a little: leaves the later ones in their place
      }
    } else if (!any_time_) {
      time = 0;
    }
    any_time_ = true;
    return last_time_ = time;
  }

  const std::string name_;
  const ReadOptions options_;
  DecodeErrors& errors_;
  const double audio_shift_;
  // av_find_best_stream and the like want a mutable context even where they change nothing.
  mutable StreamInput input_;
  AVStream* video_ = nullptr;         // owned by the input
  AVStream* audio_stream_ = nullptr;  // owned by the input
  Turn container_turn_;               // if FFmpeg does not find it
  CodecContextPtr decoder_;
  std::shared_ptr<const AVFrame> ahead_;  // decoded by `seek`
  std::shared_ptr<const AVFrame> tiff_;   // decoded, and not delivered yet
  PacketPtr packet_ = make_av_packet();
  PacketCopier copier_;
  Moment decoded_;  // the last picture
  int packets_before_ = 0;
  bool joined_ = false;
  std::optional<bool> is_cut_;  // for a single picture, once known
  std::string first_bytes_;     // first bytes of a picture file
  AVRational rate_{25, 1};
  double period_ = 0;
  std::int64_t base_ = 0;
  double rebase_ = 0;
  double last_time_ = -std::numeric_limits<double>::infinity();
  bool any_time_ = false;
  bool is_unsupported_ = false;  // says the decoder of a picture
  bool draining_ = false;
  int read_errors_ = 0;
  bool was_at_end_ = false;
  int read_failure_ = 0;  // error that ended the reading early
  std::atomic<int> large_width_{0};
  std::atomic<int> large_height_{0};
  std::int64_t flagged_ = 0;            // pictures with damage by their flags
  std::int64_t told_ = 0;               // pictures with damage that are reported
  std::atomic<int> without_memory_{0};  // pictures that could not be made and are not yet reported
  std::shared_ptr<AudioTrack> audio_;
  std::int64_t audio_offset_ = 0;
  double audio_from_ = 0;
  double audio_until_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_stream(const std::string& input, const SourceContext& context) {
  if (std::unique_ptr<Source> tiff = open_tiff(input, context)) return tiff;
  return std::make_unique<Stream>(input, context);
}

}  // namespace sightline::media
