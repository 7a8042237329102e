#pragma once
/// Internal to src/media: surfaces of hardware decoders as pictures on the host.

#include "media/hardware_device.hpp"
#include "media/page_locked.hpp"

namespace sightline::media {

/// Copies surfaces into pictures of the format, the planes and the crop that software decoding gives.
/// Thread-safety: one thread at a time.
class SurfaceDownload {
 public:
  /// @param surface       of even width and height
  /// @param format        of the picture: planar 4:2:0 of 8 or 10 bits
  /// @param picture       empty; gets memory of a pool, and all properties of the surface
  /// @param is_unaligned  whether the decoder crops to any pixel (AV_CODEC_FLAG_UNALIGNED)
  /// @throws DecoderFault (device; refused for a surface that is not NV12 or P010), std::bad_alloc
  void download(const AVFrame& surface, AVPixelFormat format, AVFrame& picture, bool is_unaligned);

 private:
  void prepare(AVPixelFormat format, const AVFrame& surface);
  void allocate(AVFrame& picture) const;
  void transfer(const AVFrame& surface, AVPixelFormat stored, AVFrame& picture);
  void convert(AVFrame& picture) const;

  BufferPoolPtr pictures_;
  BufferPtr chroma_;  ///< U and V as the device stores them
  int chroma_stride_ = 0;
  // Format and size of the pictures in `pictures_`.
  AVPixelFormat format_ = AV_PIX_FMT_NONE;
  int width_ = 0;
  int height_ = 0;
};

}  // namespace sightline::media
