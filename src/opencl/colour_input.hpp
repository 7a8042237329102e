#pragma once
/// Planar RGB of a frame on an OpenCL device: kernels/image/colour.cl.

#include "image/colour.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"
#include "opencl/staged_upload.hpp"

namespace sightline::opencl {

/// Chroma and planar RGB of one frame in flight. Luma or packed colour must be on the device already, see
/// FrameInput. Thread-safety: one thread at a time.
class ColourInput {
 public:
  ColourInput() = default;
  /// @param program  of `build`
  explicit ColourInput(const Program& program);

  /// Throws DeviceError. `cache` may be null.
  static Program build(const Context& context, ProgramCache* cache);

  /// Makes what the other functions need for such a frame, where it is not there yet. Throws DeviceError, and
  /// Error (failed) if the frame is too large for the kernels' indices.
  void prepare(Queue& queue, const PictureView& frame, int stride);
  /// As FrameInput's, for chroma.
  void fill(const Context& context, const PictureView& frame);
  /// Enqueues the copy of the frame's chroma; empty if it has none. The chroma must stay until the event is
  /// complete. Throws DeviceError.
  Event upload(Queue& queue, const PictureView& frame);
  /// Enqueues what makes planar RGB. Throws DeviceError.
  /// @param pixels  packed colour without gaps, or luma with `stride` bytes a row
  Event convert(Queue& queue, const PictureView& frame, const Buffer& pixels, int stride);

  /// Planar RGB as in image/colour.hpp, `stride` bytes a row.
  const Buffer& rgb() const { return rgb_; }
  static std::size_t bytes_of(Size size, int stride) {
    return std::size_t{3} * static_cast<std::size_t>(stride) * static_cast<std::size_t>(size.height);
  }

 private:
  Kernel from_yuv_, from_packed_;
  Buffer chroma_, rgb_;
  StagedUpload samples_;
};

}  // namespace sightline::opencl
