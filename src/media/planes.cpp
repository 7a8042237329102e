#include "media/planes.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "media/decoded_picture.hpp"
#include "media/ffmpeg.hpp"
#include "media/scaler.hpp"

namespace sightline::media {
namespace {

// A form of DisplayPlanes that the format is already in; `chroma_step` rows of its chroma for one of ours.
struct Form {
  PlaneKind kind;
  int planes;
  int chroma_step = 1;
  bool neutral_chroma = false;
};

std::optional<Form> form_of(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUV420P:
    case AV_PIX_FMT_YUVJ420P:
      return Form{PlaneKind::i420, 3};
    case AV_PIX_FMT_YUV422P:
    case AV_PIX_FMT_YUVJ422P:
      return Form{PlaneKind::i420, 3, 2};
    case AV_PIX_FMT_NV12:
      return Form{PlaneKind::nv12, 2};
    case AV_PIX_FMT_GRAY8:
      return Form{PlaneKind::i420, 1, 1, true};
    case AV_PIX_FMT_RGB24:
      return Form{PlaneKind::rgb24, 1};
    case AV_PIX_FMT_BGR24:
      return Form{PlaneKind::bgr24, 1};
    case AV_PIX_FMT_RGBA:
    case AV_PIX_FMT_RGB0:
      return Form{PlaneKind::rgba, 1};
    case AV_PIX_FMT_BGRA:
    case AV_PIX_FMT_BGR0:
      return Form{PlaneKind::bgra, 1};
    default:
      return std::nullopt;
  }
}

bool is_packed(PlaneKind kind) {
  return kind != PlaneKind::i420 && kind != PlaneKind::nv12;
}

bool is_bottom_up(const AVFrame& picture, int planes) {
  return std::any_of(picture.linesize, picture.linesize + planes, [](int stride) { return stride < 0; });
}

int half(int length) {
  return (length + 1) / 2;
}

}  // namespace

struct PlaneStore::Impl {
  Scaler scaler;
  FramePtr picture;  // result of the last conversion
  std::vector<std::uint8_t> neutral;

  // A picture to write to, reused while size and format stay.
  AVFrame& target(AVPixelFormat format, Size size) {
    if (!picture || picture->format != format || Size{picture->width, picture->height} != size)
      picture = make_picture(format, size.width, size.height);
    return *picture;
  }
  const AVFrame& upright(const AVFrame& from) {
    AVFrame& to = target(static_cast<AVPixelFormat>(from.format), {from.width, from.height});
    av_image_copy(to.data, to.linesize, const_cast<const std::uint8_t**>(from.data), from.linesize,
                  static_cast<AVPixelFormat>(from.format), from.width, from.height);
    return to;
  }
  const AVFrame& to_i420(const AVFrame& from, bool full_range) {
    AVFrame& to = target(AV_PIX_FMT_YUV420P, {from.width, from.height});
    to.color_range = full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    to.colorspace = matrix_of(from);
    scaler.convert(from, to);
    return to;
  }
};

PlaneStore::PlaneStore() : impl_(std::make_unique<Impl>()) {}
PlaneStore::~PlaneStore() = default;
PlaneStore::PlaneStore(PlaneStore&&) noexcept = default;
PlaneStore& PlaneStore::operator=(PlaneStore&&) noexcept = default;

DisplayPlanes planes_of(const Frame& frame, PlaneStore& scratch) {
  const std::shared_ptr<const AVFrame> described = picture_of(frame);
  const AVFrame& own = *described;
  const AVFrame* picture = &own;
  const bool full_range = is_full_range(own);
  std::optional<Form> form = form_of(static_cast<AVPixelFormat>(own.format));
  if (form && is_packed(form->kind) && !full_range) form.reset();

  DisplayPlanes planes;
  planes.by_reference = form.has_value();
  if (!form) {
    picture = &scratch.impl_->to_i420(own, full_range);
    form = Form{PlaneKind::i420, 3};
  } else if (is_bottom_up(own, form->planes)) {
    picture = &scratch.impl_->upright(own);
    planes.by_reference = false;
  }
  planes.kind = form->kind;
  planes.size = {own.width, own.height};
  planes.matrix = is_near_bt709(own) ? YuvMatrix::bt709 : YuvMatrix::bt601;
  planes.range = full_range ? LumaRange::full : LumaRange::limited;
  planes.sample_aspect = {own.sample_aspect_ratio.num, own.sample_aspect_ratio.den};
  if (planes.sample_aspect.num <= 0 || planes.sample_aspect.den <= 0) planes.sample_aspect = {0, 1};
  for (int i = 0; i < form->planes; ++i) {
    planes.data[i] = picture->data[i];
    planes.stride[i] = static_cast<std::ptrdiff_t>(picture->linesize[i]) * (i > 0 ? form->chroma_step : 1);
  }
  if (form->neutral_chroma) {
    std::vector<std::uint8_t>& neutral = scratch.impl_->neutral;
    const auto bytes = static_cast<std::size_t>(half(own.width)) * static_cast<std::size_t>(half(own.height));
    if (neutral.size() < bytes) neutral.resize(bytes, 128);
    for (int i = 1; i <= 2; ++i) {
      planes.data[i] = neutral.data();
      planes.stride[i] = half(own.width);
    }
  }
  return planes;
}

}  // namespace sightline::media
