#include "filterbank/opencl_gray.hpp"

#include <string>

namespace sightline::filterbank {

opencl::Program build_gray(const opencl::Context& context, PackedFormat format, opencl::ProgramCache* cache) {
  return {context, "filterbank/gray.cl",
          "-DPIXEL=" + std::to_string(bytes_per_pixel(format)) + " -DRED=" + std::to_string(red_byte(format)),
          cache};
}

opencl::Event enqueue_gray(opencl::Queue& queue, opencl::Kernel& gray, const opencl::Buffer& packed,
                           int packed_stride, const opencl::Buffer& target, GrayTarget place, Size size) {
  constexpr std::size_t kGroup = 32, kGroupRows = 4;  // work-items of four pixels
  const std::size_t groups_x = (static_cast<std::size_t>(size.width) + 4 * kGroup - 1) / (4 * kGroup);
  const std::size_t groups_y = (static_cast<std::size_t>(size.height) + kGroupRows - 1) / kGroupRows;
  gray.arguments(packed, packed_stride, target, place.offset, place.stride, size.width, size.height);
  return gray.enqueue(queue, {{groups_x * kGroup, groups_y * kGroupRows, 1}, {kGroup, kGroupRows, 1}});
}

}  // namespace sightline::filterbank
