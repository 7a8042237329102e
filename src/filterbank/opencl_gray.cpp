#include "filterbank/opencl_gray.hpp"

namespace sightline::filterbank {

GrayKernels::GrayKernels(const opencl::Program& program)
    : kernels_{opencl::Kernel(program, "gray_rgb24"), opencl::Kernel(program, "gray_bgr24"),
               opencl::Kernel(program, "gray_rgba"), opencl::Kernel(program, "gray_bgra")} {}

opencl::Program GrayKernels::build(const opencl::Context& context, opencl::ProgramCache* cache) {
  return {context, "filterbank/gray.cl", "", cache};
}

opencl::Event GrayKernels::enqueue(opencl::Queue& queue, PackedFormat format, const opencl::Buffer& packed,
                                   int packed_stride, const opencl::Buffer& target, GrayTarget place,
                                   Size size) {
  opencl::Kernel& gray = kernels_[static_cast<std::size_t>(format)];
  constexpr std::size_t kGroup = 32, kGroupRows = 4;  // work-items of four pixels
  const std::size_t groups_x = (static_cast<std::size_t>(size.width) + 4 * kGroup - 1) / (4 * kGroup);
  const std::size_t groups_y = (static_cast<std::size_t>(size.height) + kGroupRows - 1) / kGroupRows;
  gray.arguments(packed, packed_stride, target, place.offset, place.stride, size.width, size.height);
  return gray.enqueue(queue, {{groups_x * kGroup, groups_y * kGroupRows, 1}, {kGroup, kGroupRows, 1}});
}

}  // namespace sightline::filterbank
