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

namespace sightline::recognition {

/// What makes templates. Immutable but for memory of each thread's own: any thread may call.
class Recogniser {
 public:
  Recogniser(landmarks::Model points, FaceModel model);

  const landmarks::Model& points_model() const { return points_; }
  const FaceModel& model() const { return model_; }
  const FaceDescriptor& descriptor() const { return descriptor_; }
  /// Null where templates are the descriptor's counts.
  const Projector* projector() const { return projector_ ? &*projector_ : nullptr; }
  /// Both models, for people and for keys of what was measured.
  std::string description() const;
  /// Of all that templates depend on: where it differs, templates cannot be compared.
  const std::string& hash() const { return hash_; }

  /// How templates are made up and compared.
  const TemplateFormat& format() const { return format_; }
  std::size_t template_bytes() const { return bytes_; }
  /// For people: 0 for equal templates, about 1 for strangers' (distance_unit).
  double real_distance(std::uint32_t distance) const;
  /// The largest distance that is not above one for people.
  std::uint32_t distance_within(double real) const;

  landmarks::Shape find_points(GrayView frame, const landmarks::Square& box) const;
  /// Where the pixels of a face's crop come from. Points beyond kFarthest count as there.
  Similarity align(landmarks::Points points) const;
  /// @param target  template_bytes() of them
  void describe(GrayView frame, const Similarity& place, std::span<std::uint8_t> target) const;
  /// The crop alone, for people to look at; kCropSize.
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
