#include "media/scaler.hpp"

#include "base/error.hpp"
#include "base/fault.hpp"

namespace sightline::media {
namespace {

// The "j" formats are the plain ones plus a range; swscale needs the range separately.
AVPixelFormat without_j(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUVJ440P:
      return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ411P:
      return AV_PIX_FMT_YUV411P;
    default:
      return format;
  }
}

AVPixelFormat format_of(const AVFrame& picture) {
  return static_cast<AVPixelFormat>(picture.format);
}

}  // namespace

bool is_yuv(AVPixelFormat format) {
  const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(format);
  return description && description->nb_components >= 3 &&
         !(description->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL));
}

bool is_full_range(const AVFrame& picture) {
  const AVPixelFormat format = format_of(picture);
  if (without_j(format) != format || picture.color_range == AVCOL_RANGE_JPEG) return true;
  return picture.color_range == AVCOL_RANGE_UNSPECIFIED && !is_yuv(format);
}

bool has_plain_luma(AVPixelFormat format) {
  const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(format);
  constexpr auto unlike = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                          AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  if (!description || description->nb_components < 1 || (description->flags & unlike)) return false;
  const AVComponentDescriptor& luma = description->comp[0];
  return luma.plane == 0 && luma.depth == 8 && luma.step == 1 && luma.offset == 0 && luma.shift == 0;
}

ColorTags color_tags(const AVFrame& picture) {
  const bool yuv = is_yuv(static_cast<AVPixelFormat>(picture.format));
  return {picture.color_primaries, picture.color_trc, yuv ? int{picture.colorspace} : 0,
          yuv && is_full_range(picture)};
}

AVColorSpace matrix_of(const AVFrame& picture) {
  if (picture.colorspace != AVCOL_SPC_UNSPECIFIED && picture.colorspace != AVCOL_SPC_RGB &&
      picture.colorspace != AVCOL_SPC_RESERVED)
    return picture.colorspace;
  return picture.height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

bool is_near_bt709(const AVFrame& picture) {
  switch (matrix_of(picture)) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
    case AVCOL_SPC_SMPTE240M:
      return true;
    default:
      return false;
  }
}

LumaShares luma_shares(const AVFrame& picture) {
  switch (matrix_of(picture)) {
    case AVCOL_SPC_BT709:
      return kBt709;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return kBt2020;
    case AVCOL_SPC_SMPTE240M:
      return kSmpte240m;
    case AVCOL_SPC_FCC:
      return kFcc;
    default:
      return kBt601;
  }
}

void Scaler::prepare(const Kind& kind) {
  if (context_ && kind == kind_) return;
  const auto fail = [&] {
    context_.reset();
    const char* from = av_get_pix_fmt_name(kind.from_format);
    const char* to = av_get_pix_fmt_name(kind.to_format);
    throw Error(ExitCode::input, std::string("cannot convert pixel format ") + (from ? from : "(unknown)") +
                                     " of " + std::to_string(kind.from.width) + "x" +
                                     std::to_string(kind.from.height) + " to " + (to ? to : "(unknown)"));
  };
  if (!sws_isSupportedInput(kind.from_format) || !sws_isSupportedOutput(kind.to_format)) fail();
  context_.reset(sws_alloc_context());
  if (!context_ || fault::strikes(fault::Kind::allocate, "sws_alloc_context")) {
    context_.reset();
    throw std::bad_alloc();
  }
  const bool smaller = kind.to.width < kind.from.width || kind.to.height < kind.from.height;
  const int method = kind.from == kind.to ? SWS_BILINEAR : smaller ? SWS_AREA : SWS_BICUBIC;
  const auto set = [&](const char* option, int value) { av_opt_set_int(context_.get(), option, value, 0); };
  set("srcw", kind.from.width);
  set("srch", kind.from.height);
  set("src_format", kind.from_format);
  // Ranges must be known before the context is initialised, which is when swscale decides on a mere copy.
  set("src_range", kind.from_full);
  set("dstw", kind.to.width);
  set("dsth", kind.to.height);
  set("dst_format", kind.to_format);
  set("dst_range", kind.to_full);
  set("sws_flags", method | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP);
  if (sws_init_context(context_.get(), nullptr, nullptr) < 0) fail();
  // Fails for pairs of formats between which there is nothing to set: no harm.
  sws_setColorspaceDetails(context_.get(), sws_getCoefficients(kind.from_matrix), kind.from_full,
                           sws_getCoefficients(kind.to_matrix), kind.to_full, 0, 1 << 16, 1 << 16);
  kind_ = kind;
}

void Scaler::convert(const AVFrame& from, AVFrame& to) {
  Kind kind;
  kind.from = {from.width, from.height};
  kind.to = {to.width, to.height};
  kind.from_format = without_j(format_of(from));
  kind.to_format = without_j(format_of(to));
  kind.from_full = is_full_range(from);
  kind.to_full = is_full_range(to);
  kind.from_matrix = matrix_of(from);
  // From YUV to YUV the matrix stays unchanged, independent of the sizes.
  kind.to_matrix = is_yuv(kind.from_format) ? kind.from_matrix : matrix_of(to);
  prepare(kind);
  if (fault::strikes(fault::Kind::decode, "sws_scale") ||
      sws_scale(context_.get(), from.data, from.linesize, 0, from.height, to.data, to.linesize) < 0)
    throw Error(ExitCode::input, "cannot convert a picture");
}

void Scaler::to_gray(const AVFrame& from, Image<std::uint8_t>& to) {
  to.resize(from.width, from.height);
  FramePtr target = make_av_frame();  // a description of the image's memory, which it does not own
  target->format = AV_PIX_FMT_GRAY8;
  target->width = from.width;
  target->height = from.height;
  target->color_range = AVCOL_RANGE_JPEG;
  target->data[0] = to.view().data();
  target->linesize[0] = static_cast<int>(to.stride());
  convert(from, *target);
}

}  // namespace sightline::media
