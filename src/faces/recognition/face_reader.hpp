#pragma once
/// Finds and describes the faces of single pictures, for galleries.

#include <memory>

#include "detection/detector.hpp"
#include "faces/gallery/face_finder.hpp"
#include "faces/recognition/recogniser.hpp"
#include "params/config.hpp"

namespace sightline::recognition {

/// Sharpness of a crop: the mean square of its Laplacian (four neighbours).
double sharpness_of(GrayView crop);

/// Works on the CPU. Thread-safety: as FaceFinder.
class FaceReader : public gallery::FaceFinder {
 public:
  /// @param faces       a detector
  /// @param face_label  its label of faces
  FaceReader(std::unique_ptr<Detector> faces, int face_label, std::shared_ptr<const Recogniser> recogniser);
  ~FaceReader() override;

  const gallery::TemplateKind& kind() const override { return kind_; }
  std::vector<gallery::FaceTemplate> find(PictureView picture) override;
  std::int64_t distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) const override;
  double real_distance(std::int64_t distance) const override;
  std::optional<std::int64_t> distance_of_strangers(double share) const override;
  /// Chosen on photos of people outside the training set: see configs/models/faces-recognition.md.
  gallery::FaceQuality least_quality() const override { return {0.6, 40, 3.5}; }

 private:
  std::unique_ptr<Detector> faces_;
  int face_label_;
  std::shared_ptr<const Recogniser> recogniser_;
  gallery::TemplateKind kind_;
  std::unique_ptr<Workspace> workspace_;
  Image<std::uint8_t> luma_;
};

}  // namespace sightline::recognition
