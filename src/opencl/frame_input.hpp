#pragma once
/// A frame's way to a device: gray as it is, packed colour to a buffer of which the device makes the luma.

#include "image/picture_view.hpp"
#include "opencl/context.hpp"
#include "opencl/gray.hpp"
#include "opencl/staged_upload.hpp"

namespace sightline::opencl {

/// Upload state of one frame in flight. The luma is at the start of the caller's buffer, with `stride` bytes
/// a row: at least the width rounded up to a multiple of 4. Thread-safety: one thread at a time.
class FrameInput {
 public:
  FrameInput() = default;
  /// @param gray  of GrayKernels::build
  explicit FrameInput(const Program& gray) : gray_(gray) {}

  /// Makes what `upload` needs for such a frame, where it is not there yet. Throws DeviceError, and Error
  /// (failed) where the frame is too large for the kernels' indices.
  void prepare(Queue& queue, const PictureView& frame, int stride);
  /// Copies the frame to memory from which it is sent, after `prepare`: `upload` then only enqueues. Needs no
  /// queue, so frames are filled side by side.
  void fill(const Context& context, const PictureView& frame, int stride);
  /// Enqueues the copy of gray pixels to `luma`, or of colour to a buffer of this object's. The pixels must
  /// stay until the event is complete. Gray pixels of the context's transfer memory, in rows of the same
  /// stride, go as they are; all others through memory of this object's. Throws DeviceError.
  Event upload(Queue& queue, const PictureView& frame, const Buffer& luma, int stride);
  /// For a frame in colour that `upload` has copied: enqueues what makes its luma. Throws DeviceError.
  Event convert(Queue& queue, const PictureView& frame, const Buffer& luma, int stride);
  /// The pixels of a frame in packed colour, top-down, without gaps.
  const Buffer& packed() const { return colour_; }

 private:
  Buffer colour_;
  StagedUpload pixels_;
  GrayKernels gray_;
};

}  // namespace sightline::opencl
