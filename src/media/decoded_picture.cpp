#include "media/decoded_picture.hpp"

#include <libavutil/intreadwrite.h>

#include <cstring>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "image/colour.hpp"
#include "media/exact_samples.hpp"
#include "media/ffmpeg.hpp"
#include "media/orientation.hpp"
#include "media/scaler.hpp"

namespace sightline::media {
namespace {

// Rows of RGB without gaps, copied.
FramePtr rgb_picture(const std::uint8_t* rgb, Size size) {
  FramePtr picture = make_picture(AV_PIX_FMT_RGB24, size.width, size.height);
  const std::size_t row = static_cast<std::size_t>(size.width) * 3;
  for (int y = 0; y < size.height; ++y)
    std::memcpy(picture->data[0] + static_cast<std::ptrdiff_t>(y) * picture->linesize[0],
                rgb + static_cast<std::size_t>(y) * row, row);
  return picture;
}

std::optional<PackedFormat> packed_format(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_RGB24:
      return PackedFormat::rgb24;
    case AV_PIX_FMT_BGR24:
      return PackedFormat::bgr24;
    case AV_PIX_FMT_RGBA:
    case AV_PIX_FMT_RGB0:
      return PackedFormat::rgba;
    case AV_PIX_FMT_BGRA:
    case AV_PIX_FMT_BGR0:
      return PackedFormat::bgra;
    default:
      return std::nullopt;
  }
}

// Chroma beside plain luma: planes of 8-bit samples, or pairs of them.
std::optional<ChromaView> chroma_of(const AVFrame& picture) {
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  const AVComponentDescriptor &u = format.comp[1], &v = format.comp[2];
  if (format.nb_components < 3 || u.depth != 8 || u.step > 2 || u.step != v.step) return std::nullopt;
  ChromaView chroma;
  chroma.u = picture.data[u.plane] + u.offset;
  chroma.v = picture.data[v.plane] + v.offset;
  chroma.u_stride = picture.linesize[u.plane];
  chroma.v_stride = picture.linesize[v.plane];
  chroma.step = u.step;
  chroma.shift_x = format.log2_chroma_w;
  chroma.shift_y = format.log2_chroma_h;
  chroma.weights = yuv_weights(luma_shares(picture), is_full_range(picture));
  return chroma;
}

// The picture's own pixels; none if they must be converted.
std::optional<PictureView> view_of(const AVFrame& picture) {
  const auto format = static_cast<AVPixelFormat>(picture.format);
  const int width = picture.width, height = picture.height, stride = picture.linesize[0];
  if (has_plain_luma(format))
    return PictureView(GrayView(picture.data[0], width, height, stride), chroma_of(picture));
  const std::optional<PackedFormat> packed = packed_format(format);
  if (packed && is_full_range(picture)) return PackedView{picture.data[0], width, height, stride, *packed};
  return std::nullopt;
}

bool is_coloured(const AVFrame& picture) {
  const AVPixFmtDescriptor* const format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  return format && (format->nb_components >= 3 || (format->flags & AV_PIX_FMT_FLAG_PAL));
}

// The picture in a format of which `view_of` makes a view, with the luma that it has without colour.
std::shared_ptr<const AVFrame> with_colour(const AVFrame& picture, Scaler& scaler) {
  if (FramePtr planes = exact_yuv8(picture)) return planes;
  if (has_exact_rgb(picture))
    return rgb_picture(exact_rgb(picture, std::nullopt).data(), {picture.width, picture.height});
  FramePtr planes = make_picture(AV_PIX_FMT_YUVJ444P, picture.width, picture.height);
  scaler.convert(picture, *planes);
  return planes;
}

/// Some entries of a palette are of no pixel.
bool has_colour(const AVFrame& palette) {
  for (int y = 0; y < palette.height; ++y) {
    const std::uint8_t* const row = palette.data[0] + static_cast<std::ptrdiff_t>(y) * palette.linesize[0];
    for (int x = 0; x < palette.width; ++x) {
      const std::uint32_t colour = AV_RN32(palette.data[1] + 4 * row[x]);
      if (((colour ^ colour >> 8) & 0xFFFF) != 0) return true;
    }
  }
  return false;
}

void require_levels(const AVFrame& picture) {
  if (!has_exact_rgb(picture))
    throw Error(ExitCode::input,
                "a range of samples needs gray or red, green and blue, not pixel format " +
                    std::string(av_get_pix_fmt_name(static_cast<AVPixelFormat>(picture.format))),
                "leave out the range");
}

AVPixelFormat av_format(PackedFormat format) {
  switch (format) {
    case PackedFormat::rgb24:
      return AV_PIX_FMT_RGB24;
    case PackedFormat::bgr24:
      return AV_PIX_FMT_BGR24;
    case PackedFormat::rgba:
      return AV_PIX_FMT_RGBA;
    case PackedFormat::bgra:
      break;
  }
  return AV_PIX_FMT_BGRA;
}

// FFmpeg's description of pixels that it did not decode: luma or packed colour, shared.
std::shared_ptr<const AVFrame> described(const Frame& frame) {
  const PictureView view = frame.view();
  FramePtr picture = make_av_frame();
  picture->format = view.is_gray() ? AV_PIX_FMT_GRAY8 : av_format(view.colour().format);
  picture->width = view.width();
  picture->height = view.height();
  picture->color_range = frame.luma_range() == LumaRange::full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  // FFmpeg's pointers are to what may be changed; the flag says that this may not.
  picture->data[0] = const_cast<std::uint8_t*>(view.is_gray() ? view.gray().data() : view.colour().data);
  picture->linesize[0] = static_cast<int>(view.is_gray() ? view.gray().stride() : view.colour().stride);
  auto owner = std::make_unique<Frame>(frame);
  const std::size_t bytes = static_cast<std::size_t>(std::abs(picture->linesize[0])) * view.height();
  picture->buf[0] = av_buffer_create(
      picture->data[0], bytes, [](void* opaque, std::uint8_t*) { delete static_cast<Frame*>(opaque); },
      owner.get(), AV_BUFFER_FLAG_READONLY);
  if (!picture->buf[0]) throw std::bad_alloc();
  owner.release();  // NOLINT(bugprone-unused-return-value): the buffer's from here on
  return picture;
}

}  // namespace

FrameBuilder::FrameBuilder(bool keep_colour)
    : scaler_(std::make_unique<Scaler>()), keep_colour_(keep_colour) {}
FrameBuilder::~FrameBuilder() = default;
FrameBuilder::FrameBuilder(FrameBuilder&&) noexcept = default;
FrameBuilder& FrameBuilder::operator=(FrameBuilder&&) noexcept = default;

Frame FrameBuilder::build(std::shared_ptr<const AVFrame> picture, std::int64_t number, double time,
                          std::string name) {
  picture = upright(std::move(picture));
  return Frame(with_view(std::move(picture)), number, time, std::move(name));
}

std::shared_ptr<const DecodedPicture> FrameBuilder::with_view(std::shared_ptr<const AVFrame> picture) {
  const auto range_of = [](const AVFrame& shown) {
    return is_full_range(shown) ? LumaRange::full : LumaRange::limited;
  };
  if (const std::optional<PictureView> own = view_of(*picture)) {
    const LumaRange range = range_of(*picture);
    return std::make_shared<DecodedPicture>(std::move(picture), nullptr, *own, range);
  }
  if (keep_colour_ && is_coloured(*picture)) {
    const std::shared_ptr<const AVFrame> shown = with_colour(*picture, *scaler_);
    const PictureView view = view_of(*shown).value();
    return std::make_shared<DecodedPicture>(std::move(picture), shown, view, range_of(*shown));
  }
  auto gray = std::make_shared<Image<std::uint8_t>>();
  const bool is_exact = has_exact_luma(*picture);
  if (is_exact)
    exact_luma(*picture, std::nullopt, *gray);
  else
    scaler_->to_gray(*picture, *gray);
  const LumaRange range = is_exact ? range_of(*picture) : LumaRange::full;
  const GrayView view = std::as_const(*gray).view();
  return std::make_shared<DecodedPicture>(std::move(picture), std::move(gray), view, range);
}

std::shared_ptr<const AVFrame> picture_of(const Frame& frame) {
  if (frame.empty()) return nullptr;
  if (const auto* const decoded = frame.storage<DecodedPicture>()) return decoded->picture();
  return described(frame);
}

bool has_colour(const Frame& frame) {
  const std::shared_ptr<const AVFrame> picture = picture_of(frame);
  if (picture->format == AV_PIX_FMT_PAL8) return has_colour(*picture);
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture->format));
  return format && format->nb_components >= 3;
}

int sample_bits(const Frame& frame) {
  const auto* const format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture_of(frame)->format));
  return format && !(format->flags & AV_PIX_FMT_FLAG_PAL) ? format->comp[0].depth : 8;
}

Image<std::uint8_t> to_gray(const Frame& frame, const SampleRange& range) {
  const std::shared_ptr<const AVFrame> picture = picture_of(frame);
  require_levels(*picture);
  Image<std::uint8_t> luma;
  exact_luma(*picture, range, luma);
  return luma;
}

std::vector<std::uint8_t> to_rgb(const Frame& frame, const SampleRange& range) {
  const std::shared_ptr<const AVFrame> picture = picture_of(frame);
  require_levels(*picture);
  return exact_rgb(*picture, range);
}

std::vector<std::uint8_t> to_rgb(const Frame& frame) {
  if (frame.empty()) return {};
  const std::shared_ptr<const AVFrame> own = picture_of(frame);
  if (has_exact_rgb(*own)) return exact_rgb(*own, std::nullopt);
  const FramePtr reduced = sample_bits(frame) > 8 ? exact_yuv8(*own) : nullptr;
  const AVFrame& picture = reduced ? *reduced : *own;
  FramePtr target = make_picture(AV_PIX_FMT_RGB24, picture.width, picture.height);
  target->color_range = AVCOL_RANGE_JPEG;
  Scaler().convert(picture, *target);
  const std::size_t row = static_cast<std::size_t>(picture.width) * 3;
  std::vector<std::uint8_t> rgb(row * static_cast<std::size_t>(picture.height));
  for (int y = 0; y < picture.height; ++y)
    std::memcpy(rgb.data() + static_cast<std::size_t>(y) * row,
                target->data[0] + static_cast<std::ptrdiff_t>(y) * target->linesize[0], row);
  return rgb;
}

}  // namespace sightline::media
