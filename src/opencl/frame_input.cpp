#include "opencl/frame_input.hpp"

#include <algorithm>
#include <cstdint>

#include "opencl/data.hpp"
#include "opencl/row_copy.hpp"

namespace sightline::opencl {

namespace {

constexpr std::size_t kManyBytes = std::size_t{4} << 20;  // size from which a frame goes in parts
constexpr std::size_t kParts = 8;

// Whether the device can take the frame's rows from where they are.
bool goes_as_it_is(const Context& context, const PictureView& frame, int stride) {
  if (!context.transfer_memory() || !frame.is_gray() || frame.gray().stride() != stride) return false;
  const auto bytes = static_cast<std::size_t>(stride) * static_cast<std::size_t>(frame.height());
  return context.transfer_memory()->holds(frame.gray().data(), bytes);
}

}  // namespace

void FrameInput::prepare(Queue& queue, const PictureView& frame, int stride) {
  if (goes_as_it_is(queue.context(), frame, stride)) return;
  std::int64_t bytes = std::int64_t{stride} * frame.height();
  if (!frame.is_gray())
    bytes = std::int64_t{bytes_per_pixel(frame.colour().format)} * frame.width() * frame.height();
  const auto size = static_cast<std::size_t>(checked(bytes));
  // Never shrinks, so that streams that alternate between formats keep both buffers.
  if (!frame.is_gray() && colour_.bytes() < size) colour_ = Buffer(queue.context(), size);
  if (!queue.context().maps_buffers() && staging_.bytes() < size) staging_ = StagingBuffer(queue, size);
}

FrameUpload FrameInput::upload(Queue& queue, const PictureView& frame, const Buffer& luma, int stride) {
  const auto copy = [&](const Buffer& to, std::size_t to_stride, std::size_t row_bytes, const auto& pixels) {
    const auto height = static_cast<std::size_t>(frame.height());
    const auto row = [&](int y) { return pixels.row(y); };
    if (to_stride * height < kManyBytes || queue.context().maps_buffers()) {
      const Event event = queue.upload(to, to_stride * height, staging_, [&](std::byte* memory) {
        copy_rows(0, height, row_bytes, row, memory, to_stride);
      });
      return FrameUpload{event, event};
    }
    FrameUpload upload;
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::size_t begin = part * height / kParts, end = (part + 1) * height / kParts;
      copy_rows(begin, end, row_bytes, row, staging_.data(), to_stride);
      upload.last =
          queue.write(to, staging_.data() + begin * to_stride, (end - begin) * to_stride, begin * to_stride);
      if (part == 0) upload.first = upload.last;
      queue.flush();
    }
    return upload;
  };
  if (goes_as_it_is(queue.context(), frame, stride)) {
    const auto bytes = static_cast<std::size_t>(stride) * static_cast<std::size_t>(frame.height());
    const Event event = queue.write(luma, frame.gray().data(), bytes);
    return {event, event};
  }
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
