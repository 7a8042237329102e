#pragma once
/// Internal to src/media: surfaces of hardware decoders as pictures on the host.

#include <cstdint>
#include <vector>

#include "media/ffmpeg.hpp"

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
  void allocate(AVFrame& picture, AVPixelFormat format, int width, int height);
  void transfer(const AVFrame& surface, AVPixelFormat stored, AVFrame& picture);
  void convert(AVFrame& picture) const;

  using PoolPtr = std::unique_ptr<AVBufferPool, FreeByAddress<av_buffer_pool_uninit>>;
  PoolPtr pool_;
  int bytes_ = 0;                     ///< of a picture of the pool
  std::vector<std::uint8_t> chroma_;  ///< U and V as the device stores them
  int chroma_stride_ = 0;             ///< bytes
};

}  // namespace sightline::media
