#include "opencl/frame_input.hpp"

#include <algorithm>
#include <cstdint>

#include "opencl/data.hpp"
#include "opencl/row_copy.hpp"

namespace sightline::opencl {

namespace {

// Whether the device can take the frame's rows from where they are.
bool goes_as_it_is(const Context& context, const PictureView& frame, int stride) {
  if (!context.transfer_memory() || !frame.is_gray() || frame.gray().stride() != stride) return false;
  const auto bytes = static_cast<std::size_t>(stride) * static_cast<std::size_t>(frame.height());
  return context.transfer_memory()->holds(frame.gray().data(), bytes);
}

// How a frame's pixels lie where the device reads them.
struct SentRows {
  SentRows(const PictureView& frame, int luma_stride)
      : bytes(static_cast<std::size_t>(frame.width()) *
              (frame.is_gray() ? 1 : bytes_per_pixel(frame.colour().format))),
        stride(frame.is_gray() ? static_cast<std::size_t>(luma_stride) : bytes),
        count(static_cast<std::size_t>(frame.height())) {}
  std::size_t all() const { return stride * count; }
  void copy(const PictureView& frame, std::byte* to) const {
    const auto copy_of = [&](const auto& pixels) {
      copy_rows(
          0, count, bytes, [&](int y) { return pixels.row(y); }, to, stride);
    };
    frame.is_gray() ? copy_of(frame.gray()) : copy_of(frame.colour());
  }

  std::size_t bytes, stride, count;
};

}  // namespace

void FrameInput::prepare(Queue& queue, const PictureView& frame, int stride) {
  if (goes_as_it_is(queue.context(), frame, stride)) return;
  const std::size_t size = SentRows(frame, stride).all();
  checked(static_cast<std::int64_t>(size));
  // Never shrinks, so that streams that alternate between formats keep both buffers.
  if (!frame.is_gray() && colour_.bytes() < size) colour_ = Buffer(queue.context(), size);
  pixels_.prepare(queue, size);
}

void FrameInput::fill(const Context& context, const PictureView& frame, int stride) {
  if (goes_as_it_is(context, frame, stride)) return;
  pixels_.fill(context, [&](std::byte* memory) { SentRows(frame, stride).copy(frame, memory); });
}

Event FrameInput::upload(Queue& queue, const PictureView& frame, const Buffer& luma, int stride) {
  const SentRows rows(frame, stride);
  if (goes_as_it_is(queue.context(), frame, stride))
    return queue.write(luma, frame.gray().data(), rows.all());
  return pixels_.upload(queue, frame.is_gray() ? luma : colour_, rows.all(),
                        [&](std::byte* memory) { rows.copy(frame, memory); });
}

Event FrameInput::convert(Queue& queue, const PictureView& frame, const Buffer& luma, int stride) {
  const PackedFormat format = frame.colour().format;
  return gray_.enqueue(queue, format, colour_, frame.width() * bytes_per_pixel(format), luma, {0, stride},
                       frame.size());
}

}  // namespace sightline::opencl
