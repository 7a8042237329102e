#include "opencl/gray.hpp"

namespace sightline::opencl {

GrayKernels::GrayKernels(const Program& program)
    : kernels_{Kernel(program, "gray_rgb24"), Kernel(program, "gray_bgr24"), Kernel(program, "gray_rgba"),
               Kernel(program, "gray_bgra")} {}

Program GrayKernels::build(const Context& context, ProgramCache* cache) {
  return {context, "image/gray.cl", "", cache};
}

Event GrayKernels::enqueue(Queue& queue, PackedFormat format, const Buffer& packed, int packed_stride,
                           const Buffer& target, GrayTarget place, Size size) {
  Kernel& gray = kernels_[static_cast<std::size_t>(format)];
  constexpr std::size_t kGroup = 32, kGroupRows = 4;  // work-items of four pixels
  const std::size_t groups_x = (static_cast<std::size_t>(size.width) + 4 * kGroup - 1) / (4 * kGroup);
  const std::size_t groups_y = (static_cast<std::size_t>(size.height) + kGroupRows - 1) / kGroupRows;
  gray.arguments(packed, packed_stride, target, place.offset, place.stride, size.width, size.height);
  return gray.enqueue(queue, {{groups_x * kGroup, groups_y * kGroupRows, 1}, {kGroup, kGroupRows, 1}});
}

}  // namespace sightline::opencl
