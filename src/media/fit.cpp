#include "media/fit.hpp"
#include "media/decoded_picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sightline::media {
namespace {

int even(int n) {
  return (n + 1) / 2 * 2;
}

void tag(AVFrame& picture, const ColorTags& color, int height) {
  picture.color_range = color.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  picture.colorspace = static_cast<AVColorSpace>(color.matrix);
  picture.color_primaries = static_cast<AVColorPrimaries>(color.primaries);
  picture.color_trc = static_cast<AVColorTransferCharacteristic>(color.transfer);
  // RGB has no YUV matrix: use the one that players assume for the size.
  if (color.matrix == AVCOL_SPC_RGB)
    picture.colorspace = height >= 720 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
}

}  // namespace

FittedPicture::FittedPicture(Size size, const ColorTags& color)
    : size_(size), picture_(make_picture(AV_PIX_FMT_YUV420P, even(size.width), even(size.height))) {
  tag(*picture_, color, size.height);
}

void FittedPicture::put(const Frame& frame) {
  // An encoder may still read the last picture: then this gives us memory of our own.
  if (av_frame_make_writable(picture_.get()) < 0) throw std::bad_alloc();
  scale_x_ = scale_y_ = 1;
  offset_x_ = offset_y_ = 0;
  if (frame.size() == size_)
    put_whole(*picture_of(frame));
  else
    put_scaled(*picture_of(frame));
  repeat_edges();
}

void FittedPicture::put_whole(const AVFrame& frame) {
  const bool as_is = (frame.format == AV_PIX_FMT_YUV420P || frame.format == AV_PIX_FMT_YUVJ420P) &&
                     is_full_range(frame) == is_full_range(*picture_);
  // The even size is for the encoder; to the conversion the picture has the frame's.
  const Size whole = even_size();
  picture_->width = size_.width;
  picture_->height = size_.height;
  if (as_is)
    av_image_copy(picture_->data, picture_->linesize, const_cast<const std::uint8_t**>(frame.data),
                  frame.linesize, AV_PIX_FMT_YUV420P, size_.width, size_.height);
  else
    scaler_.convert(frame, *picture_);
  picture_->width = whole.width;
  picture_->height = whole.height;
}

void FittedPicture::put_scaled(const AVFrame& frame) {
  const double scale = std::min(static_cast<double>(size_.width) / frame.width,
                                static_cast<double>(size_.height) / frame.height);
  const int width = std::clamp(static_cast<int>(std::lround(frame.width * scale)), 1, size_.width);
  const int height = std::clamp(static_cast<int>(std::lround(frame.height * scale)), 1, size_.height);
  if (!scaled_ || scaled_->width != width || scaled_->height != height)
    scaled_ = make_picture(AV_PIX_FMT_YUV420P, width, height);
  scaled_->color_range = picture_->color_range;
  scaled_->colorspace = picture_->colorspace;
  scaler_.convert(frame, *scaled_);

  offset_x_ = (size_.width - width) / 4 * 2;  // even, as chroma has half the columns and rows
  offset_y_ = (size_.height - height) / 4 * 2;
  scale_x_ = static_cast<double>(width) / frame.width;
  scale_y_ = static_cast<double>(height) / frame.height;
  const int black = picture_->color_range == AVCOL_RANGE_JPEG ? 0 : 16;
  for (int plane = 0; plane < 3; ++plane) {
    const int shift = plane == 0 ? 0 : 1;
    const int stride = picture_->linesize[plane];
    std::uint8_t* data = picture_->data[plane];
    for (int y = 0; y < picture_->height >> shift; ++y)
      std::memset(data + static_cast<std::ptrdiff_t>(y) * stride, plane == 0 ? black : 128,
                  static_cast<std::size_t>(picture_->width >> shift));
    av_image_copy_plane(
        data + static_cast<std::ptrdiff_t>(offset_y_ >> shift) * stride + (offset_x_ >> shift), stride,
        scaled_->data[plane], scaled_->linesize[plane], (width + shift) >> shift, (height + shift) >> shift);
  }
}

void FittedPicture::repeat_edges() {
  const auto luma = view().y;
  if (size_.width % 2 != 0)
    for (int y = 0; y < size_.height; ++y) luma.at(size_.width, y) = luma.at(size_.width - 1, y);
  if (size_.height % 2 != 0)
    std::memcpy(luma.row(size_.height), luma.row(size_.height - 1), static_cast<std::size_t>(luma.width()));
}

Box FittedPicture::map(const Box& box) const {
  return {box.x * scale_x_ + offset_x_, box.y * scale_y_ + offset_y_, box.width * scale_x_,
          box.height * scale_y_};
}

Yuv420View FittedPicture::view() {
  const int width = picture_->width, height = picture_->height;
  return {{picture_->data[0], width, height, picture_->linesize[0]},
          {picture_->data[1], width / 2, height / 2, picture_->linesize[1]},
          {picture_->data[2], width / 2, height / 2, picture_->linesize[2]},
          picture_->color_range == AVCOL_RANGE_JPEG ? LumaRange::full : LumaRange::limited,
          matrix_of(*picture_) == AVCOL_SPC_BT709};
}

}  // namespace sightline::media
