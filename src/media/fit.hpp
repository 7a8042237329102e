#pragma once
/// Internal to src/media: pictures of any size and format brought to one size in yuv420p, to draw on and
/// encode.

#include "frame/frame.hpp"
#include "frame/stream_info.hpp"
#include "image/box.hpp"
#include "media/annotate.hpp"
#include "media/ffmpeg.hpp"
#include "media/scaler.hpp"

namespace sightline::media {

/// Holds one picture of the given size in yuv420p, and brings frames into it. The memory is rounded up to
/// even sides; the last row and column are then repeated. A frame of another size is scaled, with its
/// proportions kept and black bars around. Thread-safety: one thread at a time.
class FittedPicture {
 public:
  FittedPicture(Size size, const ColorTags& color);

  /// Brings a frame in. @throws Error (input) for a pixel format without conversion
  void put(const Frame& frame);
  /// Position of a box of the last frame in the picture.
  Box map(const Box& box) const;
  /// To draw on; valid until the next `put`.
  Yuv420View view();
  /// The picture, owned by this object; its next `put` leaves references to the old contents alone.
  AVFrame& picture() { return *picture_; }
  Size even_size() const { return {picture_->width, picture_->height}; }

 private:
  void put_whole(const AVFrame& frame);
  void put_scaled(const AVFrame& frame);
  void repeat_edges();

  Size size_;
  FramePtr picture_;
  FramePtr scaled_;
  Scaler scaler_;
  double scale_x_ = 1, scale_y_ = 1;
  int offset_x_ = 0, offset_y_ = 0;
};

}  // namespace sightline::media
