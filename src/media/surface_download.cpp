#include "media/surface_download.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
}

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <string>

#include "media/semi_planar.hpp"
#include "media/video_decoder.hpp"

namespace sightline::media {
namespace {

constexpr int kRowAlignment = 64;  // bytes

int bytes_per_sample(AVPixelFormat format) {
  return av_pix_fmt_desc_get(format)->comp[0].depth > 8 ? 2 : 1;
}

/// FFmpeg's copy from CUDA returns success even if it failed (5.1 to 7.1). So the end of a plane is marked
/// before the copy. A plane that ends with the mark is copied again with another mark.
class CopyMark {
 public:
  CopyMark(std::uint8_t* plane, int stride, int row_bytes, int rows)
      : size_(std::min<std::size_t>(kBytes, static_cast<std::size_t>(row_bytes))),
        end_(plane + static_cast<std::ptrdiff_t>(stride) * (rows - 1) + row_bytes - size_) {}

  void set(std::uint8_t value) { std::fill_n(end_, size_, value); }
  bool is_left(std::uint8_t value) const {
    return std::all_of(end_, end_ + size_, [=](std::uint8_t byte) { return byte == value; });
  }

 private:
  static constexpr std::size_t kBytes = 16;
  std::size_t size_;
  std::uint8_t* end_;
};

template <typename Sample>
Sample* row_of(std::uint8_t* plane, int stride, int y) {
  return reinterpret_cast<Sample*>(plane + static_cast<std::ptrdiff_t>(stride) * y);
}

}  // namespace

void SurfaceDownload::download(const AVFrame& surface, AVPixelFormat format, AVFrame& picture,
                               bool is_unaligned) {
  const auto& frames = *reinterpret_cast<const AVHWFramesContext*>(surface.hw_frames_ctx->data);
  const bool is_deep = bytes_per_sample(format) == 2;
  if (frames.sw_format != (is_deep ? AV_PIX_FMT_P010 : AV_PIX_FMT_NV12))
    throw DecoderFault(DecoderFault::Kind::refused, "the device delivers " +
                                                        std::string(av_get_pix_fmt_name(frames.sw_format)) +
                                                        " for " + av_get_pix_fmt_name(format));
  prepare(format, surface);
  allocate(picture);
  transfer(surface, frames.sw_format, picture);
  convert(picture);
  if (av_frame_copy_props(&picture, &surface) < 0) throw std::bad_alloc();
  // FFmpeg has cropped the surface at the right and the bottom only.
  if (av_frame_apply_cropping(&picture, is_unaligned ? AV_FRAME_CROP_UNALIGNED : 0) < 0)
    throw DecoderFault(DecoderFault::Kind::damage, "the crop is larger than the picture");
}

/// Allocates memory for pictures of this size and format, unless it is there.
void SurfaceDownload::prepare(AVPixelFormat format, const AVFrame& surface) {
  if (format == format_ && surface.width == width_ && surface.height == height_) return;
  const int bytes = av_image_get_buffer_size(format, surface.width, surface.height, kRowAlignment);
  if (bytes < 0) throw std::bad_alloc();
  const auto& frames = *reinterpret_cast<const AVHWFramesContext*>(surface.hw_frames_ctx->data);
  chroma_stride_ = FFALIGN(surface.width * bytes_per_sample(format), kRowAlignment);
  const int chroma_bytes = chroma_stride_ * (surface.height / 2);
  chroma_.reset(
      av_buffer_pool_get(make_host_pool(*frames.device_ref, static_cast<std::size_t>(chroma_bytes)).get()));
  if (!chroma_) throw std::bad_alloc();
  pictures_ =
      make_host_pool(*frames.device_ref, static_cast<std::size_t>(bytes) + AV_INPUT_BUFFER_PADDING_SIZE);
  format_ = format;
  width_ = surface.width;
  height_ = surface.height;
}

/// Gives a picture its planes, all in one buffer.
void SurfaceDownload::allocate(AVFrame& picture) const {
  picture.buf[0] = av_buffer_pool_get(pictures_.get());
  if (!picture.buf[0]) throw std::bad_alloc();
  picture.format = format_;
  picture.width = width_;
  picture.height = height_;
  av_image_fill_arrays(picture.data, picture.linesize, picture.buf[0]->data, format_, width_, height_,
                       kRowAlignment);
}

/// Copies luma to its place, and chroma to `chroma_`.
void SurfaceDownload::transfer(const AVFrame& surface, AVPixelFormat stored, AVFrame& picture) {
  FramePtr target = make_av_frame();
  target->format = stored;
  target->width = surface.width;
  target->height = surface.height;
  target->buf[0] = av_buffer_ref(picture.buf[0]);  // else FFmpeg would allocate a picture
  if (!target->buf[0]) throw std::bad_alloc();
  target->data[0] = picture.data[0];
  target->linesize[0] = picture.linesize[0];
  target->data[1] = chroma_->data;
  target->linesize[1] = chroma_stride_;
  const int bytes = bytes_per_sample(stored);
  std::array marks{CopyMark(target->data[0], target->linesize[0], surface.width * bytes, surface.height),
                   CopyMark(target->data[1], target->linesize[1], surface.width * bytes, surface.height / 2)};
  for (const std::uint8_t value : {std::uint8_t{0xA5}, std::uint8_t{0x5A}}) {
    for (CopyMark& mark : marks) mark.set(value);
    if (const int code = av_hwframe_transfer_data(target.get(), &surface, 0); code < 0)
      throw DecoderFault(DecoderFault::Kind::device, "a picture cannot be copied (" + error_text(code) + ")");
    if (std::ranges::none_of(marks, [=](const CopyMark& mark) { return mark.is_left(value); })) return;
  }
  throw DecoderFault(DecoderFault::Kind::device, "a picture was not copied");
}

/// From the device's layout to that of software.
void SurfaceDownload::convert(AVFrame& picture) const {
  const int rows = picture.height / 2;
  const auto pairs = static_cast<std::size_t>(picture.width / 2);
  std::uint8_t* const chroma = chroma_->data;
  if (bytes_per_sample(static_cast<AVPixelFormat>(picture.format)) == 1) {
    for (int y = 0; y < rows; ++y)
      split_chroma(row_of<std::uint8_t>(chroma, chroma_stride_, y),
                   row_of<std::uint8_t>(picture.data[1], picture.linesize[1], y),
                   row_of<std::uint8_t>(picture.data[2], picture.linesize[2], y), pairs);
    return;
  }
  for (int y = 0; y < picture.height; ++y)
    lower_10_bits(row_of<std::uint16_t>(picture.data[0], picture.linesize[0], y),
                  static_cast<std::size_t>(picture.width));
  for (int y = 0; y < rows; ++y)
    split_chroma_10(row_of<std::uint16_t>(chroma, chroma_stride_, y),
                    row_of<std::uint16_t>(picture.data[1], picture.linesize[1], y),
                    row_of<std::uint16_t>(picture.data[2], picture.linesize[2], y), pairs);
}

}  // namespace sightline::media
