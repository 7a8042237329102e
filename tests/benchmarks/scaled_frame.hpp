#pragma once
/// Frames of any video at the size that a benchmark asks for.

#include <algorithm>

#include "image/pyramid.hpp"
#include "media/reader.hpp"

namespace sightline::benchmarks {

/// A frame's luma, scaled to `size` by however much that is in each direction.
inline Image<std::uint8_t> scaled_frame(const Frame& frame, Size size) {
  const Image<std::uint8_t> luma = to_gray(frame);
  const GrayView gray = luma.view();
  const double ratio = std::min(static_cast<double>(gray.width()) / size.width,
                                static_cast<double>(gray.height()) / size.height);
  Image<std::uint8_t> scaled(size.width, size.height);
  Resizer(gray.size(), size, ratio).run(gray, scaled.view(), 0, size.height);
  return scaled;
}

}  // namespace sightline::benchmarks
