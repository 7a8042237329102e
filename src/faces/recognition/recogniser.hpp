#pragma once
/// From a face's box to its template: points, crop, descriptor. On the CPU; recognition/opencl has the same
/// on devices.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "faces/landmarks/finder.hpp"
#include "faces/recognition/crop.hpp"
#include "faces/recognition/model.hpp"
#include "faces/recognition/templates.hpp"
#include "frame/frame_result.hpp"

namespace sightline::recognition {

/// Makes and compares templates. Immutable except for thread-local memory: any thread may call.
class Recogniser {
 public:
  Recogniser(landmarks::Model points, FaceModel model);

  const landmarks::Model& points_model() const { return points_; }
  const FaceModel& model() const { return model_; }
  const FaceDescriptor& descriptor() const { return descriptor_; }
  /// Null where templates are the descriptor's counts.
  const Projector* projector() const { return projector_ ? &*projector_ : nullptr; }
  /// Description of both models, for reports and for keys of measurements.
  std::string description() const;
  /// Hash of everything that templates depend on; templates with different hashes are not comparable.
  const std::string& hash() const { return hash_; }

  /// Format and comparison of templates.
  const TemplateFormat& format() const { return format_; }
  std::size_t template_bytes() const { return bytes_; }
  /// For people: 0 for equal templates, about 1 for strangers' (distance_unit).
  double real_distance(std::uint32_t distance) const;
  /// The largest search distance not above a reported one.
  std::uint32_t distance_within(double real) const;

  /// The square to find a face's points in (landmarks::Finder).
  landmarks::Square square_of(const Detection& face) const {
    return finder_.square_of(face.box, face.attributes);
  }
  landmarks::Shape find_points(GrayView frame, const landmarks::Square& box) const;
  /// Similarity transform of a face's crop. Points are clamped to kFarthest.
  Similarity align(landmarks::Points points) const;
  /// @param target  template_bytes() of them
  void describe(GrayView frame, const Similarity& place, std::span<std::uint8_t> target) const;
  /// The crop alone, for display; kCropSize.
  void crop(GrayView frame, const Similarity& place, ImageView<std::uint8_t> target) const;

 private:
  landmarks::Model points_;
  FaceModel model_;
  FacePoints crop_points_;
  landmarks::Finder finder_;
  FaceDescriptor descriptor_;
  std::optional<Projector> projector_;
  TemplateFormat format_;
  std::size_t bytes_;
  std::string hash_;
  struct Memory {
    landmarks::PatchSampler sampler;
    Cropper cropper;
    Image<std::uint8_t> crop;
    FaceDescriptor::Scratch descriptor;
    std::vector<std::uint16_t> counts;
    Projector::Scratch projection;
  };
  mutable oneapi::tbb::enumerable_thread_specific<Memory> memory_;
};

}  // namespace sightline::recognition
