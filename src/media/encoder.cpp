#include "media/encoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "media/fragments.hpp"

namespace sightline::media {
namespace {

// Encoders call the lack of memory a general error. They need some dozens of pictures.
bool is_memory_short() {
  constexpr std::size_t kSome = std::size_t{256} << 20;
  void* volatile some = std::malloc(kSome);
  std::free(some);
  return !some;
}

const AVCodec* choose_codec(const std::string& path, const AVOutputFormat& container,
                            const std::string& name) {
  const AVCodec* codec = avcodec_find_encoder_by_name(name.c_str());
  if (!codec || codec->type != AVMEDIA_TYPE_VIDEO)
    throw Error(ExitCode::usage, "there is no video encoder named '" + name + "'",
                "`ffmpeg -encoders` lists the encoders; libx264 is the default");
  // image2 claims to hold anything, but the extension decides what readers expect.
  const bool images = (container.flags & AVFMT_NOFILE) && std::string_view(container.name) == "image2";
  if ((container.flags & AVFMT_NOFILE) && !images)
    throw Error(ExitCode::usage,
                "'" + path + "' (" + container.name + ") is a set of files, which is not supported",
                "choose a name that ends in .mp4 or .mkv");
  const bool has_own_codec =
      images || std::string_view(container.name) == "webp" || std::string_view(container.name) == "gif";
  // Below 0: the container does not say. Raw streams, which have no times, are of one codec.
  const int holds = avformat_query_codec(&container, codec->id, FF_COMPLIANCE_NORMAL);
  const bool is_raw = (container.flags & AVFMT_NOTIMESTAMPS) && container.video_codec != codec->id;
  if (!has_own_codec && (holds > 0 || (holds < 0 && !is_raw))) return codec;
  const AVCodecID id = av_guess_codec(&container, nullptr, path.c_str(), nullptr, AVMEDIA_TYPE_VIDEO);
  const AVCodec* own = avcodec_find_encoder(id);
  if (has_own_codec && own && own->id == codec->id) return codec;
  if (name != WriteOptions().encoder || !own)
    throw Error(ExitCode::usage, "'" + path + "' (" + container.name + ") cannot hold the output of " + name,
                "choose another encoder, or write to .mp4 or .mkv");
  return own;
}

// MPEG-4 part 2 and older count time in the frame rate, and no finer.
bool counts_in_frames(AVCodecID id) {
  switch (id) {
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_MSMPEG4V2:
    case AV_CODEC_ID_MSMPEG4V3:
    case AV_CODEC_ID_H263:
    case AV_CODEC_ID_H263P:
    case AV_CODEC_ID_FLV1:
    case AV_CODEC_ID_WMV1:
    case AV_CODEC_ID_WMV2:
    case AV_CODEC_ID_THEORA:
    case AV_CODEC_ID_GIF:
      return true;
    default:
      return false;
  }
}

bool needs_hardware(const AVCodec& codec) {
  return (codec.capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID)) != 0;
}

/// The pixel formats that an encoder takes, ended by AV_PIX_FMT_NONE; null if it does not say.
const AVPixelFormat* pixel_formats_of(const AVCodec& codec) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
  const void* formats = nullptr;
  avcodec_get_supported_config(nullptr, &codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &formats, nullptr);
  return static_cast<const AVPixelFormat*>(formats);
#else
  return codec.pix_fmts;
#endif
}

}  // namespace

VideoEncoder::VideoEncoder(const std::string& path, const AVOutputFormat& container, const StreamInfo& video,
                           const WriteOptions& options)
    : codec_(choose_codec(path, container, options.encoder)), fitted_(video.size, video.color) {
  context_.reset(avcodec_alloc_context3(codec_));
  if (!context_ || fault::strikes(fault::Kind::allocate, "avcodec_alloc_context3")) throw std::bad_alloc();
  choose_format();
  choose_time_base(container, video);

  const AVFrame& picture = fitted_.picture();
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(context_->pix_fmt);
  const bool subsampled = format.log2_chroma_w > 0 || format.log2_chroma_h > 0;
  context_->width = subsampled ? picture.width : video.size.width;
  context_->height = subsampled ? picture.height : video.size.height;
  context_->sample_aspect_ratio = {std::max(video.sample_aspect.num, 0),
                                   std::max(video.sample_aspect.den, 1)};
  if (is_yuv(context_->pix_fmt)) {
    context_->color_range = context_->pix_fmt == AV_PIX_FMT_YUVJ420P ? AVCOL_RANGE_JPEG : picture.color_range;
    context_->colorspace = picture.colorspace;
    context_->color_primaries = picture.color_primaries;
    context_->color_trc = picture.color_trc;
  }
  context_->thread_count = options.threads;
  if (container.flags & AVFMT_GLOBALHEADER) context_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  set_quality(options);
  if (options.live) set_live(options);

  // Some encoders look at their preset only now.
  const int result = fault::strikes(fault::Kind::encode, "avcodec_open2")
                         ? AVERROR(EINVAL)
                         : avcodec_open2(context_.get(), codec_, nullptr);
  if (result == AVERROR(ENOMEM) || (result < 0 && is_memory_short())) throw std::bad_alloc();
  if (result < 0 && needs_hardware(*codec_))
    throw Error(ExitCode::usage,
                std::string("the encoder ") + codec_->name +
                    " needs hardware or a driver that was not found (" + error_text(result) + ")",
                "leave out --encoder; libx264 runs everywhere"_message);
  if (result < 0)
    throw Error(ExitCode::usage,
                std::string("the encoder ") + codec_->name + " cannot be set up for " +
                    std::to_string(context_->width) + "x" + std::to_string(context_->height) +
                    " pixels with the preset '" + options.preset + "' (" + error_text(result) + ")",
                "choose other settings or another encoder");
  if (context_->pix_fmt != AV_PIX_FMT_YUV420P || context_->width != picture.width ||
      context_->height != picture.height) {
    converted_ = make_picture(context_->pix_fmt, context_->width, context_->height);
    converted_->color_range = is_yuv(context_->pix_fmt) ? context_->color_range : AVCOL_RANGE_UNSPECIFIED;
    converted_->colorspace = context_->colorspace;
  }
}

void VideoEncoder::choose_format() {
  context_->pix_fmt = AV_PIX_FMT_YUV420P;
  const AVPixelFormat* const formats = pixel_formats_of(*codec_);
  if (!formats) return;
  bool has_j = false;
  for (const AVPixelFormat* f = formats; *f != AV_PIX_FMT_NONE; ++f) has_j |= *f == AV_PIX_FMT_YUVJ420P;
  // JPEG lists the limited range too, but has no way to say which it is and means full.
  if (codec_->id == AV_CODEC_ID_MJPEG && has_j)
    context_->pix_fmt = AV_PIX_FMT_YUVJ420P;
  else
    context_->pix_fmt = avcodec_find_best_pix_fmt_of_list(formats, AV_PIX_FMT_YUV420P, 0, nullptr);
  const AVPixFmtDescriptor* const format = av_pix_fmt_desc_get(context_->pix_fmt);
  if (!format || (format->flags & AV_PIX_FMT_FLAG_HWACCEL))
    throw Error(ExitCode::usage,
                std::string("the encoder ") + codec_->name +
                    " takes pictures from a GPU's memory, which is not supported",
                "leave out --encoder, or choose one that takes pictures from main memory"_message);
}

void VideoEncoder::choose_time_base(const AVOutputFormat& container, const StreamInfo& video) {
  const AVRational rate = video.frame_rate.num > 0 && video.frame_rate.den > 0
                              ? AVRational{video.frame_rate.num, video.frame_rate.den}
                              : AVRational{25, 1};
  context_->framerate = rate;
  const bool mov = is_mov(container);  // holds any times, which not every FFmpeg says of it
  const bool in_frames = counts_in_frames(codec_->id) || !(mov || container.flags & AVFMT_VARIABLE_FPS);
  // MP4 takes over our unit: it is made fine enough for any time, and exact for those of the rate.
  const int unit = mov && rate.num < 90000 ? (90000 + rate.num - 1) / rate.num * rate.num : 90000;
  context_->time_base = in_frames ? av_inv_q(rate) : AVRational{1, unit};
  // These codecs write the rate with 16 bits.
  if (counts_in_frames(codec_->id))
    av_reduce(&context_->time_base.num, &context_->time_base.den, rate.den, rate.num, 65535);
}

bool VideoEncoder::knows(const char* option) const {
  return context_->priv_data && codec_->priv_class &&
         av_opt_find(context_->priv_data, option, nullptr, 0, 0) != nullptr;
}

void VideoEncoder::set(const char* option, const char* value) {
  if (knows(option)) av_opt_set(context_->priv_data, option, value, 0);
}

void VideoEncoder::set_live(const WriteOptions& options) {
  key_seconds_ = options.key_seconds;
  // Key frames are asked for by time, as the rate may vary; this is for encoders that do not listen.
  const double frames = std::ceil(av_q2d(context_->framerate) * key_seconds_) + 1;
  context_->gop_size = static_cast<int>(std::clamp(frames, 1.0, 600.0));
  context_->max_b_frames = 0;
  if (codec_->id == AV_CODEC_ID_H264 || codec_->id == AV_CODEC_ID_HEVC) set("tune", "zerolatency");
  set("forced-idr", "1");
  set("lag-in-frames", "0");  // libvpx, libaom
  set("deadline", "realtime");
}

void VideoEncoder::set_quality(const WriteOptions& options) {
  void* codec = context_->priv_data;
  if (knows("crf")) {
    av_opt_set(codec, "crf", std::to_string(options.quality).c_str(), 0);
  } else {
    context_->flags |= AV_CODEC_FLAG_QSCALE;
    context_->global_quality = FF_QP2LAMBDA * std::clamp(options.quality / 5, 1, 31);
  }
  // x265 writes to standard error by itself, past every log.
  if (knows("x265-params")) av_opt_set(codec, "x265-params", "log-level=error", 0);
  // Hardware encoders, and that of WebP, have presets of other names; they get one when the user names it.
  const bool is_default = options.preset == WriteOptions().preset;
  if (knows("preset") && !options.preset.empty() &&
      !(is_default && (needs_hardware(*codec_) || codec_->id == AV_CODEC_ID_WEBP)) &&
      av_opt_set(codec, "preset", options.preset.c_str(), 0) < 0)
    throw Error(
        ExitCode::usage,
        std::string("the encoder ") + codec_->name + " has no preset '" + options.preset + "'",
        "libx264 has ultrafast, superfast, veryfast, faster, fast, medium, slow, slower and veryslow");
}

bool VideoEncoder::is_key_due(double time) {
  constexpr double rounding = 1e-6;
  if (key_seconds_ <= 0 || (last_time_ >= 0 && time < last_key_ + key_seconds_ - rounding)) return false;
  last_key_ = time;
  return true;
}

int VideoEncoder::encode(double time) {
  AVFrame* picture = &fitted_.picture();
  if (converted_) {
    if (av_frame_make_writable(converted_.get()) < 0) throw std::bad_alloc();
    const int width = picture->width, height = picture->height;
    picture->width = context_->width;  // leaves out the repeated column and row where the encoder needs none
    picture->height = context_->height;
    scaler_.convert(*picture, *converted_);
    picture->width = width;
    picture->height = height;
    picture = converted_.get();
  }
  const double ticks = std::round(time / av_q2d(context_->time_base));
  picture->pts = std::max(static_cast<std::int64_t>(std::clamp(ticks, -1e15, 1e15)), last_time_ + 1);
  picture->pict_type = is_key_due(time) ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
  last_time_ = picture->pts;
  picture->quality = context_->global_quality;  // read by QSCALE encoders
  if (fault::strikes(fault::Kind::encode, "avcodec_send_frame")) return AVERROR_EXTERNAL;
  return avcodec_send_frame(context_.get(), picture);
}

int VideoEncoder::drain() {
  if (fault::strikes(fault::Kind::encode, "avcodec_send_frame")) return AVERROR_EXTERNAL;
  return avcodec_send_frame(context_.get(), nullptr);
}

int VideoEncoder::receive(AVPacket& packet) {
  if (fault::strikes(fault::Kind::encode, "avcodec_receive_packet")) return AVERROR_EXTERNAL;
  return avcodec_receive_packet(context_.get(), &packet);
}

}  // namespace sightline::media
