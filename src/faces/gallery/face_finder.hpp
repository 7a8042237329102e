#pragma once
/// Interface of face recognition for the gallery's commands.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faces/gallery/gallery.hpp"
#include "frame/frame_result.hpp"
#include "image/picture_view.hpp"

namespace sightline::gallery {

/// A face of a picture, described.
struct FaceTemplate {
  Detection face;
  std::vector<std::uint8_t> bytes;  ///< TemplateKind::bytes of them
  Image<std::uint8_t> crop;         ///< the aligned face that `bytes` describes
  double sharpness = 0;             ///< higher is sharper; comparable within one finder
};

/// Minimum quality of a face for a template. Below it, detections are often no faces.
struct FaceQuality {
  double confidence = 0;  ///< Detection::confidence, if the detector has one
  double side = 0;        ///< pixels of the shorter side of its box
  double sharpness = 0;   ///< FaceTemplate::sharpness
};

/// Finds faces and computes and compares their templates. Thread-safety: `find` one thread at a time, all
/// else from any thread.
class FaceFinder {
 public:
  virtual ~FaceFinder() = default;

  virtual const TemplateKind& kind() const = 0;
  /// All faces of a picture.
  virtual std::vector<FaceTemplate> find(PictureView picture) = 0;
  /// Between two templates of this kind: 0 for equal ones, symmetric, the same on every machine.
  virtual std::int64_t distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) const = 0;
  /// Reported form of a distance, as shown beside names.
  virtual double real_distance(std::int64_t distance) const = 0;
  /// Largest distance with at most this false-match rate between templates of different people, from the
  /// model's calibration. No value if unknown.
  virtual std::optional<std::int64_t> distance_of_strangers(double share) const = 0;
  /// The quality below which its faces are doubtful; asks for nothing unless overridden.
  virtual FaceQuality least_quality() const { return {}; }
};

}  // namespace sightline::gallery
