#pragma once
/// Landmarks on an OpenCL device: kernels/landmarks/find.cl. Results equal Finder bit for bit.

#include <cstddef>
#include <span>

#include "faces/landmarks/model.hpp"
#include "faces/landmarks/patch.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"

namespace sightline::landmarks {

/// A model on a device. Thread-safety: immutable once built.
class DeviceModel {
 public:
  /// @param context  must outlive the object
  /// @param cache    may be null
  /// Throws DeviceError.
  DeviceModel(const opencl::Context& context, const Model& model, opencl::ProgramCache* cache);

 private:
  friend class DeviceFinder;
  opencl::Program program_;
  int items_;  ///< work-items that share a face
  cl_int stages_, trees_, nodes_of_tree_, pixels_;
  cl_long norm_;
  opencl::Buffer mean_, centred_, places_, shifts_, nodes_, leaves_;
};

/// A box as the kernel's argument.
struct DeviceSquare {
  cl_int x, y, side, unused;
};
inline DeviceSquare device_square(const Square& square) {
  return {square.x, square.y, square.side, 0};
}

/// The kernel. Thread-safety: one thread at a time; one object a slot.
class DeviceFinder {
 public:
  /// @param model  must outlive the object
  explicit DeviceFinder(const DeviceModel& model);

  /// Finds the points in `count` boxes of a frame, all at once.
  /// @param luma     row y of the frame begins at byte `y * stride`; see opencl::checked for its size
  /// @param squares  `count` of DeviceSquare; at least one
  /// @param shapes   gets `count` times kCoordinates of cl_int, see frame_points
  /// Throws DeviceError.
  opencl::Event enqueue(opencl::Queue& queue, const opencl::Buffer& luma, Size frame, int stride,
                        const opencl::Buffer& squares, std::size_t count, const opencl::Buffer& shapes);

 private:
  const DeviceModel* model_;
  opencl::Kernel kernel_;
};

}  // namespace sightline::landmarks
