#pragma once
/// Packed colour to luma on an OpenCL device: kernels/filterbank/gray.cl.

#include "image/gray.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::filterbank {

/// The program for one format; its kernel is "gray". Throws DeviceError. `cache` may be null.
opencl::Program build_gray(const opencl::Context& context, PackedFormat format, opencl::ProgramCache* cache);

/// Where the luma goes: row y begins at byte `offset + y * stride` of a buffer.
struct GrayTarget {
  int offset = 0;
  int stride = 0;  ///< at least the width rounded up to a multiple of 4; up to there rows are written
};

/// Converts `size` pixels that lie top-down in `packed`, `packed_stride` bytes a row.
opencl::Event enqueue_gray(opencl::Queue& queue, opencl::Kernel& gray, const opencl::Buffer& packed,
                           int packed_stride, const opencl::Buffer& target, GrayTarget place, Size size);

}  // namespace sightline::filterbank
