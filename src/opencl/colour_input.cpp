#include "opencl/colour_input.hpp"

#include <algorithm>

#include "opencl/data.hpp"
#include "opencl/row_copy.hpp"

namespace sightline::opencl {
namespace {

// The samples that cover a picture, as they lie on the device: two planes without gaps, or pairs.
struct ChromaBytes {
  ChromaBytes(const ChromaView& chroma, Size size)
      : x(chroma.x & ((1 << chroma.shift_x) - 1)),
        y(chroma.y & ((1 << chroma.shift_y) - 1)),
        row(((x + size.width - 1) >> chroma.shift_x) * chroma.step + chroma.step),
        rows(((y + size.height - 1) >> chroma.shift_y) + 1),
        is_paired(chroma.step == 2) {}
  std::int64_t plane() const { return std::int64_t{row} * rows; }
  std::size_t all() const { return static_cast<std::size_t>(is_paired ? plane() : 2 * plane()); }
  void copy(const ChromaView& chroma, std::byte* to) const {
    const auto copy_plane = [&](const auto& row_of) {
      const auto row_bytes = static_cast<std::size_t>(row);
      copy_rows(
          0, static_cast<std::size_t>(rows), row_bytes,
          [&](int r) { return row_of((r << chroma.shift_y) - y) + chroma.sample_of(-x); }, to, row_bytes);
      to += plane();
    };
    if (is_paired) {
      copy_plane([&](int r) { return std::min(chroma.u_row(r), chroma.v_row(r)); });
    } else {
      copy_plane([&](int r) { return chroma.u_row(r); });
      copy_plane([&](int r) { return chroma.v_row(r); });
    }
  }

  int x, y;  // the picture's first pixel among those that the samples cover
  int row;   // bytes
  int rows;
  bool is_paired;
};

}  // namespace

ColourInput::ColourInput(const Program& program)
    : from_yuv_(program, "yuv_to_rgb"), from_packed_(program, "packed_to_rgb") {}

Program ColourInput::build(const Context& context, ProgramCache* cache) {
  return {context, "image/colour.cl", "", cache};
}

void ColourInput::prepare(Queue& queue, const PictureView& frame, int stride) {
  const auto size = static_cast<std::size_t>(checked(std::int64_t{3} * stride * frame.height()));
  if (rgb_.bytes() < size) rgb_ = Buffer(queue.context(), size);
  if (!frame.chroma()) return;
  const auto bytes = static_cast<std::size_t>(2 * ChromaBytes(*frame.chroma(), frame.size()).plane());
  if (chroma_.bytes() < bytes) chroma_ = Buffer(queue.context(), bytes);
  samples_.prepare(queue, bytes);
}

void ColourInput::fill(const Context& context, const PictureView& frame) {
  if (!frame.chroma()) return;
  const ChromaBytes sent(*frame.chroma(), frame.size());
  samples_.fill(context, [&](std::byte* memory) { sent.copy(*frame.chroma(), memory); });
}

Event ColourInput::upload(Queue& queue, const PictureView& frame) {
  if (!frame.chroma()) return {};
  const ChromaBytes sent(*frame.chroma(), frame.size());
  return samples_.upload(queue, chroma_, sent.all(),
                         [&](std::byte* memory) { sent.copy(*frame.chroma(), memory); });
}

Event ColourInput::convert(Queue& queue, const PictureView& frame, const Buffer& pixels, int stride) {
  constexpr std::size_t kGroup = 32, kGroupRows = 4;  // work-items of four pixels
  const auto round_up = [](int count, std::size_t multiple) {
    return (static_cast<std::size_t>(count) + multiple - 1) / multiple * multiple;
  };
  const NDRange range{{round_up((frame.width() + 3) / 4, kGroup), round_up(frame.height(), kGroupRows), 1},
                      {kGroup, kGroupRows, 1}};
  if (!frame.is_gray()) {
    const PackedFormat format = frame.colour().format;
    from_packed_.arguments(pixels, rgb_, stride, frame.width(), frame.height(), bytes_per_pixel(format),
                           red_byte(format));
    return from_packed_.enqueue(queue, range);
  }
  // Grey is luma of full range with weights of 0 for one sample of chroma, which may be anything.
  YuvWeights weights{16384, 32, 0, 0, 0, 0};
  int u_at = 0, v_at = 0, row = 0, step = 0, shift_x = 0, shift_y = 0, x = 0, y = 0;
  if (frame.chroma()) {
    const ChromaView& chroma = *frame.chroma();
    const ChromaBytes place(chroma, frame.size());
    weights = chroma.weights;
    if (chroma.step == 2) {
      (chroma.u < chroma.v ? v_at : u_at) = 1;
    } else {
      v_at = static_cast<int>(place.plane());
    }
    row = place.row;
    step = chroma.step;
    shift_x = chroma.shift_x;
    shift_y = chroma.shift_y;
    x = place.x;
    y = place.y;
  }
  from_yuv_.arguments(pixels, frame.chroma() ? chroma_ : pixels, rgb_, stride, frame.width(), frame.height(),
                      u_at, v_at, row, step, shift_x, shift_y, x, y, int{weights.luma}, int{weights.offset},
                      int{weights.red_v}, int{weights.green_u}, int{weights.green_v}, int{weights.blue_u});
  return from_yuv_.enqueue(queue, range);
}

}  // namespace sightline::opencl
