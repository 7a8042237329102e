#pragma once
/// Packed colour to luma on an OpenCL device: kernels/image/gray.cl.

#include <array>

#include "image/gray.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::opencl {

/// Destination of the luma: row y begins at byte `offset + y * stride` of a buffer.
struct GrayTarget {
  int offset = 0;
  int stride = 0;  ///< at least the width rounded up to a multiple of 4; up to there rows are written
};

/// The kernels of all formats. Thread-safety: one thread at a time, as for a kernel; one object a slot.
class GrayKernels {
 public:
  GrayKernels() = default;
  /// @param program  of `build`
  explicit GrayKernels(const Program& program);

  /// Throws DeviceError. `cache` may be null.
  static Program build(const Context& context, ProgramCache* cache);

  /// Converts `size` pixels that lie top-down in `packed`, `packed_stride` bytes a row.
  Event enqueue(Queue& queue, PackedFormat format, const Buffer& packed, int packed_stride,
                const Buffer& target, GrayTarget place, Size size);

 private:
  std::array<Kernel, 4> kernels_;  ///< by PackedFormat
};

}  // namespace sightline::opencl
