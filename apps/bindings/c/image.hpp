#pragma once
/// Pictures in the caller's memory as frames.

#include <cstddef>
#include <cstdint>

#include "apps/bindings/c/sightline.h"
#include "frame/frame.hpp"

namespace sightline::api {

/// Images of one call. Throws CallError (argument, limit) for what cannot be searched; no pixel is read.
/// Images and pixels must outlive it.
class Images {
 public:
  Images(const sl_image* images, std::size_t count);

  std::size_t size() const { return count_; }
  double time(std::size_t index) const { return at(index).time; }
  /// Number of images with samples of 16 bits.
  std::int64_t to_convert() const;
  /// The frame of an image, numbered from 1. Refers to the caller's pixels; 16-bit samples are converted.
  Frame frame(std::size_t index) const;

 private:
  /// The image, as far as the caller knows the struct.
  sl_image at(std::size_t index) const;

  const std::byte* first_;
  std::size_t stride_;  ///< bytes from image to image
  std::size_t count_;
};

/// The planes of a frame, borrowed from it. Throws CallError if it has no pixels.
sl_image image_of(const Frame& frame);

/// Writes a frame as BGR, 3 bytes a pixel. Throws CallError as `image_of`, Error (input) for a pixel format
/// that has no conversion.
/// @param stride  bytes from row to row; negative: from the bottom up
void write_bgr(const Frame& frame, std::uint8_t* to, std::ptrdiff_t stride);

}  // namespace sightline::api

struct sl_frame {
  sightline::Frame frame;
};
