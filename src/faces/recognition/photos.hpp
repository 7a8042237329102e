#pragma once
/// Photos of known people with the points of their faces: what recognition is trained on and judged by.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "detection/detector.hpp"
#include "faces/landmarks/model.hpp"
#include "faces/recognition/model.hpp"
#include "training/image_set.hpp"

namespace sightline::recognition {

/// Points of photos by name.
using PointsOfPhotos = std::map<std::string, FacePoints, std::less<>>;

/// Reads lines `photo` and five points `x y`, left eye in the picture first, right eye, nose, corners of the
/// mouth; or lines of marked faces, which have a part and a box before the points. Whole numbers are the
/// middles of pixels. Throws Error (input): the file, the line and the reason.
PointsOfPhotos load_face_points(const std::filesystem::path& file);

/// Points of the photos, in order. Throws Error (input) with the file if one is missing.
std::vector<FacePoints> points_of(const std::vector<std::string>& photos, const PointsOfPhotos& points,
                                  const std::filesystem::path& file);

struct FoundPoints {
  std::vector<FacePoints> points;  ///< points of the photos, in order
  std::size_t without_face = 0;    ///< photos in which none was found
};

/// The points of the face in each photo, as recognition itself finds them: of several faces, of the one
/// nearest to the photo's middle (ties: the surer); where none is found, in a square of two thirds of the
/// shorter side in the middle. On all threads.
/// @param face_label       of the detector
/// @param throw_if_stopped  is called before every photo, from several threads at once
FoundPoints find_face_points(const Detector& faces, int face_label, const landmarks::Model& points,
                             const training::ImageSet& photos, const std::function<void()>& throw_if_stopped);

/// Person in a photo by its name: "Ada_Lovelace" for "Ada_Lovelace_0002"; the whole name if it has no number.
std::string person_of(const std::string& photo);

/// Describes photos by a model. Thread-safety: one thread at a time.
class PhotoDescriber {
 public:
  explicit PhotoDescriber(const FaceModel& model);

  /// The aligned face of a photo, valid until the next call.
  ImageView<std::uint8_t> crop(GrayView photo, const FacePoints& points);
  /// Counts of a crop, FaceDescriptor::values() of them, valid until the next call.
  std::span<const std::uint16_t> counts(GrayView crop);
  /// The template of counts: bytes as template_format(model) has them.
  std::vector<std::uint8_t> make_template(std::span<const std::uint16_t> counts);

  const FaceDescriptor& descriptor() const { return descriptor_; }

 private:
  FacePoints points_;  // points of a crop
  FaceDescriptor descriptor_;
  std::optional<Projector> projector_;
  TemplateFormat format_;
  Cropper cropper_;
  Image<std::uint8_t> crop_;
  FaceDescriptor::Scratch scratch_;
  Projector::Scratch projector_scratch_;
  std::vector<std::uint16_t> counts_;
};

/// The templates of photos, in their order, on all threads.
/// @param throw_if_stopped  is called before every photo, from several threads at once
std::vector<std::vector<std::uint8_t>> templates_of(const FaceModel& model, const training::ImageSet& photos,
                                                    const std::vector<FacePoints>& points,
                                                    const std::function<void()>& throw_if_stopped);

}  // namespace sightline::recognition
