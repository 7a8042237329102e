#include "media/hardware_decoder.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
}

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "media/hardware_device.hpp"
#include "media/surface_download.hpp"

namespace sightline::media {
namespace {

using FaultKind = DecoderFault::Kind;

constexpr int kExtraSurfaces = 4;

/// Profiles by their numbers in the standards.
bool is_exact_profile(AVCodecID codec, int profile) {
  constexpr int kConstraints = 0xFF;  // FFmpeg adds flags to the profiles of H.264
  switch (codec) {
    case AV_CODEC_ID_H264:
      return (profile & kConstraints) == 66 || (profile & kConstraints) == 77 || profile == 100;
    case AV_CODEC_ID_HEVC:
      return profile == 1 || profile == 2;
    case AV_CODEC_ID_VP9:
      return profile == 0 || profile == 2;
    case AV_CODEC_ID_AV1:
      return profile == 0;
    default:
      return codec == AV_CODEC_ID_VP8;
  }
}

bool is_exact_codec(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_VP8 ||
         codec == AV_CODEC_ID_VP9 || codec == AV_CODEC_ID_AV1;
}

bool is_exact_format(AVCodecID codec, AVPixelFormat format) {
  if (format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P) return true;
  return format == AV_PIX_FMT_YUV420P10 && codec != AV_CODEC_ID_H264 && codec != AV_CODEC_ID_VP8;
}

AVPixelFormat surface_format(const AVCodec& codec, AVHWDeviceType type) {
  for (int i = 0; const AVCodecHWConfig* const config = avcodec_get_hw_config(&codec, i); ++i)
    if (config->device_type == type && (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX))
      return config->pix_fmt;
  return AV_PIX_FMT_NONE;
}

class HardwareDecoder final : public VideoDecoder, private Concealments {
 public:
  HardwareDecoder(const DecoderChoice& device, const StreamFacts& facts)
      : device_(device), max_pixels_(facts.max_pixels) {
    const AVCodecParameters& parameters = *facts.parameters;
    // The decoder that has the codec's name uses hardware through `hw_device_ctx`. Others, such as
    // h264_cuvid, parse the stream in the driver, and give other pictures for streams that are not perfect.
    const AVCodec* const codec = avcodec_find_decoder_by_name(avcodec_get_name(parameters.codec_id));
    const bool is_cuda = device.kind == DecoderChoice::Kind::cuda;
    if (codec) surface_ = surface_format(*codec, is_cuda ? AV_HWDEVICE_TYPE_CUDA : AV_HWDEVICE_TYPE_VAAPI);
    if (surface_ == AV_PIX_FMT_NONE)
      throw DecoderFault(FaultKind::refused, "this FFmpeg does not decode " +
                                                 std::string(avcodec_get_name(parameters.codec_id)) +
                                                 " on such devices");
    BufferPtr shared = open_hardware_device(device);
    context_ = make_decoder_context(*codec, parameters, facts.time_base, facts.low_delay);
    context_->hw_device_ctx = shared.release();
    context_->opaque = static_cast<Concealments*>(this);
    context_->get_format = get_format;
    context_->get_buffer2 = get_buffer;
    context_->hwaccel_flags = AV_HWACCEL_FLAG_IGNORE_LEVEL | AV_HWACCEL_FLAG_ALLOW_PROFILE_MISMATCH;
    context_->thread_count = 1;  // more gain nothing and may need more surfaces than there are
    context_->extra_hw_frames = kExtraSurfaces;
    context_->export_side_data |= AV_CODEC_EXPORT_DATA_FILM_GRAIN;
    if (const int code = avcodec_open2(context_.get(), codec, nullptr); code < 0)
      throw DecoderFault(FaultKind::refused, "the decoder does not start (" + error_text(code) + ")");
  }

  int send(AVPacket* packet, std::int64_t arrival) override {
    return checked(send_packet(*context_, packet, arrival));
  }

  int receive(AVFrame& picture) override {
    const int code = checked(avcodec_receive_frame(context_.get(), decoded_.get()));
    if (code < 0) return code;
    if (decoded_->format != surface_) throw DecoderFault(FaultKind::refused, "FFmpeg decodes it in software");
    // Software decoding adds the grain.
    if (av_frame_get_side_data(decoded_.get(), AV_FRAME_DATA_FILM_GRAIN_PARAMS))
      throw DecoderFault(FaultKind::refused, "it has film grain");
    download_.download(*decoded_, software_, picture, context_->flags & AV_CODEC_FLAG_UNALIGNED);
    if (!std::exchange(has_delivered_, true)) describe(picture);
    // The next packet may overwrite the surface.
    av_frame_unref(decoded_.get());
    return 0;
  }

  void flush() override { avcodec_flush_buffers(context_.get()); }

 private:
  void describe(const AVFrame& picture) const {
    const auto& surfaces = *reinterpret_cast<const AVHWFramesContext*>(decoded_->hw_frames_ctx->data);
    logger().debug("{} decodes {} in {} surfaces of {}x{} {} to pictures of {}x{} {}", device_.name(),
                   avcodec_get_name(context_->codec_id), surfaces.initial_pool_size, surfaces.width,
                   surfaces.height, av_get_pix_fmt_name(surfaces.sw_format), picture.width, picture.height,
                   av_get_pix_fmt_name(software_));
  }

  static HardwareDecoder& of(AVCodecContext& context) {
    return *static_cast<HardwareDecoder*>(static_cast<Concealments*>(context.opaque));
  }

  /// Called before the first picture, after each change of the stream's properties, and again without a
  /// format whose device refuses the stream.
  static AVPixelFormat get_format(AVCodecContext* context, const AVPixelFormat* formats) {
    return of(*context).choose(*context, formats);
  }

  AVPixelFormat choose(const AVCodecContext& context, const AVPixelFormat* formats) noexcept {
    software_ = AV_PIX_FMT_NONE;
    bool is_offered = false;
    for (; *formats != AV_PIX_FMT_NONE; ++formats) {
      is_offered = is_offered || *formats == surface_;
      const bool is_hardware = av_pix_fmt_desc_get(*formats)->flags & AV_PIX_FMT_FLAG_HWACCEL;
      if (!is_hardware && software_ == AV_PIX_FMT_NONE) software_ = *formats;
    }
    refusal_ = reason_for_software(context.codec_id, context.profile, software_);
    // FFmpeg computes the place of NVIDIA's chroma from the height.
    if (refusal_.empty() && (context.coded_width % 2 != 0 || context.coded_height % 2 != 0))
      refusal_ = "no hardware decodes odd sizes exactly";
    if (refusal_.empty() && !is_offered) refusal_ = "the device does not decode its profile or size";
    if (refusal_.empty() && (context.properties & FF_CODEC_PROPERTY_FILM_GRAIN))
      refusal_ = "it may have film grain";
    return refusal_.empty() ? surface_ : AV_PIX_FMT_NONE;
  }

  static int get_buffer(AVCodecContext* context, AVFrame* frame, int flags) {
    HardwareDecoder& self = of(*context);
    if (static_cast<std::int64_t>(frame->width) * frame->height > self.max_pixels_) {
      self.refusal_ = "its pictures are larger than the limit";
      return AVERROR(EINVAL);
    }
    return avcodec_default_get_buffer2(context, frame, flags);
  }

  int checked(int code) const {
    if (!refusal_.empty()) throw DecoderFault(FaultKind::refused, refusal_);
    return code;
  }

  const DecoderChoice device_;
  const std::int64_t max_pixels_;
  AVPixelFormat surface_ = AV_PIX_FMT_NONE;
  AVPixelFormat software_ = AV_PIX_FMT_NONE;  ///< that software decoding gives
  std::string refusal_;                       ///< of the stream, as FFmpeg found it last
  bool has_delivered_ = false;
  CodecContextPtr context_;
  FramePtr decoded_ = make_av_frame();
  SurfaceDownload download_;
};

}  // namespace

StreamFacts facts_of(const AVStream& stream, std::int64_t max_pixels, bool low_delay) {
  CodecParametersPtr copy(avcodec_parameters_alloc());
  if (!copy || avcodec_parameters_copy(copy.get(), stream.codecpar) < 0) throw std::bad_alloc();
  return {std::move(copy), stream.time_base, max_pixels, low_delay};
}

std::string reason_for_software(AVCodecID codec, int profile, AVPixelFormat format) {
  const std::string name = avcodec_get_name(codec);
  if (!is_exact_codec(codec)) return "no hardware decodes " + name + " exactly";
  if (profile >= 0 && !is_exact_profile(codec, profile)) {
    const char* const known = avcodec_profile_name(codec, profile);
    return "no hardware decodes " + name + " of the profile " + (known ? known : std::to_string(profile)) +
           " exactly";
  }
  if (format != AV_PIX_FMT_NONE && !is_exact_format(codec, format))
    return "no hardware decodes " + name + " of the format " + av_get_pix_fmt_name(format) + " exactly";
  return "";
}

std::unique_ptr<VideoDecoder> open_hardware_decoder(const DecoderChoice& device, const StreamFacts& facts) {
  return std::make_unique<HardwareDecoder>(device, facts);
}

}  // namespace sightline::media
