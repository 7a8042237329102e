#include "opencl/frame_input.hpp"

#include <cstdint>
#include <cstring>

#include "opencl/data.hpp"

namespace sightline::opencl {

void FrameInput::prepare(Queue& queue, const PictureView& frame, int stride) {
  std::int64_t bytes = std::int64_t{stride} * frame.height();
  if (!frame.is_gray())
    bytes = std::int64_t{bytes_per_pixel(frame.colour().format)} * frame.width() * frame.height();
  const auto size = static_cast<std::size_t>(checked(bytes));
  // Not made smaller: streams that change between formats are to find both buffers there.
  if (!frame.is_gray() && colour_.bytes() < size) colour_ = Buffer(queue.context(), size);
  if (!queue.context().maps_buffers() && staging_.bytes() < size) staging_ = StagingBuffer(queue, size);
}

Event FrameInput::upload(Queue& queue, const PictureView& frame, const Buffer& luma, int stride) {
  const auto copy = [&](const Buffer& to, std::size_t to_stride, std::size_t row_bytes, const auto& pixels) {
    const auto height = static_cast<std::size_t>(frame.height());
    return queue.upload(to, to_stride * height, staging_, [&](std::byte* memory) {
      for (std::size_t y = 0; y < height; ++y)
        std::memcpy(memory + y * to_stride, pixels.row(static_cast<int>(y)), row_bytes);
    });
  };
  const auto width = static_cast<std::size_t>(frame.width());
  if (frame.is_gray()) return copy(luma, static_cast<std::size_t>(stride), width, frame.gray());
  const std::size_t row_bytes = width * bytes_per_pixel(frame.colour().format);
  return copy(colour_, row_bytes, row_bytes, frame.colour());
}

Event FrameInput::convert(Queue& queue, const PictureView& frame, const Buffer& luma, int stride) {
  const PackedFormat format = frame.colour().format;
  return gray_.enqueue(queue, format, colour_, frame.width() * bytes_per_pixel(format), luma, {0, stride},
                       frame.size());
}

}  // namespace sightline::opencl
