#pragma once
/// Crops, histograms and templates of faces on an OpenCL device: kernels/recognition. Results equal the CPU's
/// bit for bit.

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "faces/recognition/crop.hpp"
#include "faces/recognition/face_descriptor.hpp"
#include "faces/recognition/projection.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::recognition {

/// A frame's luma at the start of a buffer.
struct DeviceFrame {
  const opencl::Buffer* luma = nullptr;
  int stride = 0;  ///< bytes from row to row
  Size size;
};

/// Kernels for one descriptor and an optional projection, built for a device. Immutable: DescribedFaces in
/// several threads may share it.
class OpenClDescriber {
 public:
  /// Throws DeviceError, and Error (usage) where there is a projection that does not take the descriptor's
  /// values. Everything passed but `cache`, which may be null, must outlive the object, and so must the
  /// projector, which may be null.
  OpenClDescriber(const FaceDescriptor& descriptor, const Projector* projector,
                  const opencl::Context& context, opencl::ProgramCache* cache);

  const FaceDescriptor& descriptor() const { return *descriptor_; }
  const Projector* projector() const { return projector_; }

 private:
  friend class DescribedFaces;

  void upload_descriptor(opencl::Queue& queue);
  void upload_projection(opencl::Queue& queue);

  const FaceDescriptor* descriptor_;
  const Projector* projector_;
  int group_ = 64;   ///< work-items
  int circles_ = 0;  ///< circles of all channels
  int regions_ = 0;
  int stride_ = 0;  ///< stride of rows, bytes
  opencl::Program crop_, describe_;
  opencl::Buffer channels_, circle_table_, samples_, bins_, region_table_, mirrored_, bytes_, weights_, bias_,
      scale_;
};

/// The faces of a frame in flight: kernels with their arguments, and buffers that grow with the number of
/// faces. Thread-safety: one thread at a time.
class DescribedFaces {
 public:
  /// @param describer  must outlive the object
  explicit DescribedFaces(const OpenClDescriber& describer);

  /// Told of each command and of the part that it belongs to: "crop", "describe", "project".
  using Launched = std::function<void(std::string_view part, opencl::Event event)>;
  /// Enqueues all steps to the faces' templates, after the kernels for the frame's luma; does not wait. The
  /// buffers below are valid until the next call. Throws DeviceError.
  /// @param frame  sides up to kFarthest
  /// @param faces  may be none
  void enqueue(opencl::Queue& queue, const DeviceFrame& frame, std::span<const Similarity> faces,
               const Launched& launched);
  /// The same for faces that are on the device: `count` Similarity.
  void enqueue(opencl::Queue& queue, const DeviceFrame& frame, const opencl::Buffer& faces, std::size_t count,
               const Launched& launched);

  /// [face][row][column] of bytes.
  const opencl::Buffer& crops() const { return crops_; }
  /// [face][value] of 16 bits, as FaceDescriptor::count writes them.
  const opencl::Buffer& counts() const { return counts_; }
  /// Templates of faces, rows of template_stride() bytes: Projector::project's, or else counts (usable if
  /// they fit in a byte, see FaceDescriptor::largest_count).
  const opencl::Buffer& templates() const { return describer_->projector_ ? templates_ : bytes_; }
  int template_stride() const;

 private:
  void fit(opencl::Queue& queue, std::size_t faces);
  void describe(opencl::Queue& queue, std::size_t faces, const Launched& launched);
  void project(opencl::Queue& queue, std::size_t faces, const Launched& launched);

  const OpenClDescriber* describer_;
  std::vector<Similarity> faces_;  ///< while they are copied
  std::size_t room_ = 0;           ///< faces
  opencl::Buffer similarities_, crops_, sums_, differences_, totals_, normalised_, bins_, counts_, bytes_,
      projected_, templates_;
  opencl::Kernel crop_, blur_rows_, blur_columns_, scale_, codes_, count_, project_, finish_;
};

}  // namespace sightline::recognition
