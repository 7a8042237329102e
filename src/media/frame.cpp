#include "media/frame.hpp"

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

}  // namespace

Frame Frame::damaged(std::string reason, std::int64_t number, double time, std::string name) {
  Frame frame;
  frame.number_ = number;
  frame.time_ = time;
  frame.name_ = std::move(name);
  frame.damage_ = std::move(reason);
  return frame;
}

FrameBuilder::FrameBuilder(bool keep_colour)
    : scaler_(std::make_unique<Scaler>()), keep_colour_(keep_colour) {}
FrameBuilder::~FrameBuilder() = default;
FrameBuilder::FrameBuilder(FrameBuilder&&) noexcept = default;
FrameBuilder& FrameBuilder::operator=(FrameBuilder&&) noexcept = default;

Frame FrameBuilder::build(std::shared_ptr<const AVFrame> picture, std::int64_t number, double time,
                          std::string name) {
  Frame frame;
  picture = upright(std::move(picture));
  std::shared_ptr<const AVFrame> shown = picture;
  std::optional<PictureView> view = view_of(*shown);
  if (!view && keep_colour_ && is_coloured(*picture)) {
    shown = with_colour(*picture, *scaler_);
    view = view_of(*shown);
    frame.converted_ = shown;
  }
  if (view) {
    frame.view_ = *view;
    frame.range_ = is_full_range(*shown) ? LumaRange::full : LumaRange::limited;
  } else {
    auto gray = std::make_shared<Image<std::uint8_t>>();
    const bool is_exact = has_exact_luma(*picture);
    if (is_exact)
      exact_luma(*picture, std::nullopt, *gray);
    else
      scaler_->to_gray(*picture, *gray);
    frame.view_ = std::as_const(*gray).view();
    frame.range_ = is_exact && !is_full_range(*picture) ? LumaRange::limited : LumaRange::full;
    frame.converted_ = std::move(gray);
  }
  frame.picture_ = std::move(picture);
  frame.number_ = number;
  frame.time_ = time;
  frame.name_ = std::move(name);
  return frame;
}

Frame frame_from_rgb(const std::uint8_t* rgb, Size size, std::int64_t number, double time) {
  return FrameBuilder().build(std::shared_ptr<const AVFrame>(rgb_picture(rgb, size)), number, time);
}

Frame frame_from_gray(GrayView gray, std::int64_t number, double time) {
  FramePtr picture = make_picture(AV_PIX_FMT_GRAY8, gray.width(), gray.height());
  picture->color_range = AVCOL_RANGE_JPEG;
  for (int y = 0; y < gray.height(); ++y)
    std::memcpy(picture->data[0] + static_cast<std::ptrdiff_t>(y) * picture->linesize[0], gray.row(y),
                static_cast<std::size_t>(gray.width()));
  return FrameBuilder().build(std::shared_ptr<const AVFrame>(std::move(picture)), number, time);
}

Frame frame_of_gray(std::shared_ptr<const Image<std::uint8_t>> gray, std::int64_t number, double time) {
  FramePtr picture = make_av_frame();
  const GrayView view = gray->view();
  picture->format = AV_PIX_FMT_GRAY8;
  picture->width = view.width();
  picture->height = view.height();
  picture->color_range = AVCOL_RANGE_JPEG;
  // FFmpeg's pointers are to what may be changed; the flag says that this may not.
  picture->data[0] = const_cast<std::uint8_t*>(view.data());
  picture->linesize[0] = static_cast<int>(view.stride());
  using Owner = std::shared_ptr<const Image<std::uint8_t>>;
  auto owner = std::make_unique<Owner>(std::move(gray));
  picture->buf[0] = av_buffer_create(
      picture->data[0], static_cast<std::size_t>(view.stride()) * static_cast<std::size_t>(view.height()),
      [](void* opaque, std::uint8_t*) { delete static_cast<Owner*>(opaque); }, owner.get(),
      AV_BUFFER_FLAG_READONLY);
  if (!picture->buf[0]) throw std::bad_alloc();
  owner.release();  // NOLINT(bugprone-unused-return-value): the buffer's from here on
  return FrameBuilder().build(std::shared_ptr<const AVFrame>(std::move(picture)), number, time);
}

bool has_colour(const Frame& frame) {
  const AVFrame& picture = *frame.picture();
  if (picture.format == AV_PIX_FMT_PAL8) return has_colour(picture);
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  return format && format->nb_components >= 3;
}

int sample_bits(const Frame& frame) {
  const auto* const format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.picture()->format));
  return format && !(format->flags & AV_PIX_FMT_FLAG_PAL) ? format->comp[0].depth : 8;
}

Image<std::uint8_t> to_gray(const Frame& frame, const SampleRange& range) {
  require_levels(*frame.picture());
  Image<std::uint8_t> luma;
  exact_luma(*frame.picture(), range, luma);
  return luma;
}

std::vector<std::uint8_t> to_rgb(const Frame& frame, const SampleRange& range) {
  require_levels(*frame.picture());
  return exact_rgb(*frame.picture(), range);
}

Image<std::uint8_t> to_gray(const Frame& frame) {
  const Size size = frame.size();
  Image<std::uint8_t> luma(size.width, size.height);
  if (!frame.view().is_gray()) {
    to_gray(frame.view().colour(), luma.view(), 0, size.height);
    return luma;
  }
  const GrayView gray = frame.gray();
  for (int y = 0; y < size.height; ++y)
    std::memcpy(luma.view().row(y), gray.row(y), static_cast<std::size_t>(size.width));
  return luma;
}

std::vector<std::uint8_t> to_rgb(const Frame& frame) {
  if (frame.empty()) return {};
  if (has_exact_rgb(*frame.picture())) return exact_rgb(*frame.picture(), std::nullopt);
  const FramePtr reduced = sample_bits(frame) > 8 ? exact_yuv8(*frame.picture()) : nullptr;
  const AVFrame& picture = reduced ? *reduced : *frame.picture();
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
