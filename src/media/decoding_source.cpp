#include "media/decoding_source.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "media/decoder_selection.hpp"
#include "media/orientation.hpp"

namespace sightline::media {
namespace {

constexpr int kMaxReadErrors = 50;                        // consecutive read errors that end the input
constexpr std::chrono::milliseconds kDeviceRecovery{10};  // after an error; a loss of signal may be short

}  // namespace

DecodingSource::DecodingSource(std::unique_ptr<StreamInput> input, const SourceContext& context)
    : name_(input->name()), options_(context.options), errors_(context.errors), input_(std::move(input)) {
  AVFormatContext& container = input_->context();
  const int best = best_video_stream(container);
  if (best < 0) input_->refuse_unsupported(AVERROR_INVALIDDATA);
  if (best < 0)
    throw Error(ExitCode::input, "'" + name_ + "' has no video stream",
                container.nb_streams > 0 ? "it may have sound only" : "");
  video_ = container.streams[best];
  if (options_.keep_audio) {
    const int audio = av_find_best_stream(&container, AVMEDIA_TYPE_AUDIO, -1, best, nullptr, 0);
    if (audio >= 0) audio_stream_ = container.streams[audio];
  }
  for (unsigned i = 0; i < container.nb_streams; ++i)
    if (container.streams[i] != video_ && container.streams[i] != audio_stream_)
      container.streams[i]->discard = AVDISCARD_ALL;
}

std::optional<SourceFrame> DecodingSource::next() {
  std::shared_ptr<const AVFrame> picture = decode();
  if (picture && is_damaged(*picture)) ++flagged_;
  for (const std::int64_t damaged = std::max(flagged_, frames.load()); told_ < damaged; ++told_)
    errors_.add_concealed();
  if (!picture) return std::nullopt;
  errors_.good();
  const double time = time_of(*picture);
  const FrameTimes times = times_of(*picture);
  return SourceFrame{std::move(picture), time, {}, times};
}

void DecodingSource::release() {
  decoder_.reset();
  ahead_.reset();
  any_time_ = false;
  rebase_ = 0;
  last_time_ = -std::numeric_limits<double>::infinity();
  frames = flagged_ = told_ = 0;  // damage that was not told of is met again
  input_->take_skipped_blocks();
#ifdef __GLIBC__
  malloc_trim(0);  // else half of it stays with the arenas of threads that have ended
#endif
}

StreamInfo DecodingSource::info() const {
  AVFormatContext& context = input_->context();
  StreamInfo info;
  info.frame_rate = {rate_.num, rate_.den};
  info.codec = avcodec_get_name(video_->codecpar->codec_id);
  info.has_audio = av_find_best_stream(&context, AVMEDIA_TYPE_AUDIO, -1, -1, nullptr, 0) >= 0;
  const AVRational aspect = av_guess_sample_aspect_ratio(&context, video_, nullptr);
  if (aspect.num > 0 && aspect.den > 0) info.sample_aspect = {aspect.num, aspect.den};
  if (container_turn_.transpose || turn_of_matrix(matrix_of_stream(*video_)).transpose)
    std::swap(info.sample_aspect.num, info.sample_aspect.den);
  if (video_->nb_frames > 0) info.frames = video_->nb_frames;
  if (video_->duration > 0)
    info.duration = static_cast<double>(video_->duration) * av_q2d(video_->time_base);
  else if (context.duration > 0)
    info.duration = static_cast<double>(context.duration) / AV_TIME_BASE;
  return info;
}

void DecodingSource::open_decoder(int threads, bool fails_on_damage) {
  decoder_ = open_software(threads, fails_on_damage);
  set_rate();
}

void DecodingSource::open_video_decoder() {
  decoder_ = media::open_video_decoder(options_, name_, *video_,
                                       [this] { return open_software(options_.threads, false); });
  set_rate();
}

std::unique_ptr<VideoDecoder> DecodingSource::open_software(int threads, bool fails_on_damage) {
  const AVCodecParameters& parameters = *video_->codecpar;
  check_picture_size(parameters.width, parameters.height, name_, options_.max_pixels);
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  if (!codec)
    throw Error(ExitCode::input,
                "no decoder for the codec " + std::string(avcodec_get_name(parameters.codec_id)) + " of '" +
                    name_ + "'",
                "convert it, for instance to H.264");
  CodecContextPtr context = make_decoder_context(*codec, parameters, video_->time_base, options_.low_delay);
  context->thread_count = threads;
  context->thread_type = options_.low_delay ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
  if (fails_on_damage) context->err_recognition |= AV_EF_EXPLODE;
  context->opaque = static_cast<Concealments*>(this);
  context->get_buffer2 = get_buffer;
#if FF_API_THREAD_SAFE_CALLBACKS  // later versions take it for granted
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  context->thread_safe_callbacks = 1;  // else the decoder's threads wait for one another
#pragma GCC diagnostic pop
#endif
  const int result = fault::strikes(fault::Kind::decode, "avcodec_open2")
                         ? AVERROR(ENOMEM)
                         : avcodec_open2(context.get(), codec, nullptr);
  if (result < 0)
    throw Error(ExitCode::input, std::string("cannot start the decoder ") + codec->name + " for '" + name_ +
                                     "' (" + error_text(result) + ")");
  return std::make_unique<SoftwareDecoder>(std::move(context));
}

void DecodingSource::set_rate() {
  // Without timestamps, FFmpeg's average is what its demuxer assumes, and the codec's header knows better.
  const bool is_counted = input_->context().iformat->flags & AVFMT_NOTIMESTAMPS;
  rate_ = is_counted ? av_guess_frame_rate(&input_->context(), video_, nullptr) : video_->avg_frame_rate;
  if (rate_.num <= 0 || rate_.den <= 0) rate_ = av_guess_frame_rate(&input_->context(), video_, nullptr);
  if (rate_.num <= 0 || rate_.den <= 0) rate_ = {25, 1};
  period_ = av_q2d(av_inv_q(rate_));
  base_ = start_of(input_->context(), *video_);
}

// Called by the decoder, from any of its threads, before it allocates a picture: too large pictures are
// refused.
int DecodingSource::get_buffer(AVCodecContext* context, AVFrame* frame, int flags) {
  auto* self = static_cast<DecodingSource*>(static_cast<Concealments*>(context->opaque));
  if (static_cast<std::int64_t>(frame->width) * frame->height > self->options_.max_pixels) {
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

std::shared_ptr<const AVFrame> DecodingSource::decode() {
  for (;;) {
    if (input_->stopped()) return nullptr;
    if (ahead_) return std::exchange(ahead_, nullptr);
    FramePtr frame = make_av_frame();
    const int result = fault::strikes(fault::Kind::decode, "avcodec_receive_frame")
                           ? AVERROR_INVALIDDATA
                           : decoder_->receive(*frame);
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

/// Older versions of FFmpeg give pictures no matrix of their container's.
void DecodingSource::give_matrix(AVFrame& picture) const {
  const std::span<const std::uint8_t> matrix = matrix_of_stream(*video_);
  if (matrix.empty()) return;
  AVFrameSideData* const data = av_frame_new_side_data(&picture, AV_FRAME_DATA_DISPLAYMATRIX, matrix.size());
  if (!data) throw std::bad_alloc();
  std::ranges::copy(matrix, data->data);
}

/// Passes orientations to the decoder that it does not find itself.
void DecodingSource::give_orientation(AVPacket& packet) const {
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
std::shared_ptr<const AVFrame> DecodingSource::end() {
  // H.264's decoder goes on without such a picture and says nothing of it.
  while (without_memory_ > 0) note_error(AVERROR(ENOMEM));
  if (const int code = std::exchange(read_failure_, 0))
    throw Error(ExitCode::input, "'" + name_ + "' cannot be read further (" + error_text(code) + ")",
                "check the disk or the connection; earlier frames are processed");
  if (is_unsupported_ && !any_time_) input_->refuse_unsupported(AVERROR_PATCHWELCOME);
  if (!input_->stopped() && is_cut_short()) errors_.add("the file ends before its last frame");
  return nullptr;
}

/// Takes one packet, or gives the decoder the end of the stream.
void DecodingSource::feed() {
  const int result = input_->read(*packet_);
  if (result >= 0) {
    read_errors_ = 0;
    if (packet_->stream_index == video_->index) note_damage();
    take(*packet_);
    av_packet_unref(packet_.get());
    return;
  }
  const AVIOContext* io = input_->context().pb;
  const bool over = result == AVERROR_EOF || result == AVERROR_EXIT || result == AVERROR(ENODEV) ||
                    (io && avio_feof(input_->context().pb)) || ++read_errors_ >= kMaxReadErrors;
  const bool is_retried = result == AVERROR(EIO) && !over;  // nothing is lost so far
  if (result != AVERROR_EOF && result != AVERROR_EXIT && !is_retried) note_error(result);
  if (over) {
    draining_ = true;
    if (io && io->error < 0 && io->error != AVERROR_EOF && io->error != AVERROR_EXIT)
      read_failure_ = io->error;
    else if (read_errors_ >= kMaxReadErrors)
      read_failure_ = result;
    decoder_->send(nullptr, 0);
  } else if (input_->is_device()) {
    std::this_thread::sleep_for(kDeviceRecovery);
  }
}

// Damage that the container shows, of the packet or in front of it.
void DecodingSource::note_damage() {
  if (packet_->flags & AV_PKT_FLAG_CORRUPT) errors_.add_concealed();
  if (input_->take_skipped_blocks())
    errors_.add_concealed("frames are missing, since their blocks in the Matroska file are damaged");
}

void DecodingSource::send(AVPacket& packet) {
  const AVCodecID codec = video_->codecpar->codec_id;
  const std::span<const std::uint8_t> content(packet.data, static_cast<std::size_t>(packet.size));
  if (codec == AV_CODEC_ID_TIFF) {
    TiffContent tiff = decode_tiff(content, name_, options_.max_pixels);
    if (!tiff.picture) return errors_.add(tiff.damage);
    tiff.picture->pts = tiff.picture->best_effort_timestamp = packet.pts;
    decoded_ = Moment::now();
    ahead_ = std::move(tiff.picture);
    return;
  }
  input_->refuse_giant_chunks(codec, content);
  give_orientation(packet);
  const int sent = fault::strikes(fault::Kind::decode, "avcodec_send_packet")
                       ? AVERROR_INVALIDDATA
                       : decoder_->send(&packet, Moment::now().steady);
  if (sent < 0 && sent != AVERROR_EOF) note_error(sent);
}

FrameTimes DecodingSource::times_of(const AVFrame& picture) const {
  FrameTimes times{arrival_of(picture), decoded_.steady};
  if (input_->is_device() && picture.pts != AV_NOPTS_VALUE) {
    const std::int64_t stamp = av_rescale_q(picture.pts, video_->time_base, AVRational{1, 1'000'000});
    times.captured = captured_at(stamp, decoded_).value_or(times.captured);
  }
  return times;
}

void DecodingSource::note_error(int code) {
  if (const int width = large_width_.exchange(0))
    check_picture_size(width, large_height_, name_, options_.max_pixels);
  if (code == AVERROR(ENOMEM) && without_memory_ > 0) --without_memory_;
  is_unsupported_ = is_unsupported_ || code == AVERROR_PATCHWELCOME;
  errors_.add(explain(code));
}

/// Seconds from the start; always later than the frame before.
double DecodingSource::time_of(const AVFrame& picture) {
  constexpr double kJump = 1.0;  // a step back by more is a new count of time, not a disorder in this one
  double time = any_time_ ? last_time_ + period_ : 0;
  if (picture.best_effort_timestamp != AV_NOPTS_VALUE) {
    const double stamp = seconds_of(picture);
    if (stamp + rebase_ > last_time_) {
      time = stamp + rebase_;
    } else if (stamp + rebase_ < last_time_ - kJump) {
      rebase_ = time - stamp;
    } else {
      time = last_time_ + period_ / 8;  // out of order by a little: leaves the later ones in their place
    }
  }
  any_time_ = true;
  return last_time_ = time;
}

}  // namespace sightline::media
