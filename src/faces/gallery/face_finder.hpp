#pragma once
/// What the gallery's commands want of whoever recognises faces.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "faces/gallery/gallery.hpp"
#include "image/picture_view.hpp"
#include "processing/frame_result.hpp"

namespace sightline::gallery {

/// A face of a picture, described.
struct FaceTemplate {
  Detection face;
  std::vector<std::uint8_t> bytes;  ///< TemplateKind::bytes of them
  Image<std::uint8_t> crop;         ///< the aligned face that `bytes` describes
  double sharpness = 0;             ///< higher is sharper; comparable within one finder
};

/// What a face needs at least to become a template. What is below is doubtful: often no face at all.
struct FaceQuality {
  double confidence = 0;  ///< Detection::confidence, where the detector has one
  double side = 0;        ///< pixels of the shorter side of its box
  double sharpness = 0;   ///< FaceTemplate::sharpness
};

/// Finds faces, describes them and compares what it has described. Thread-safety: `find` one thread at a
/// time, all else from any thread.
class FaceFinder {
 public:
  virtual ~FaceFinder() = default;

  virtual const TemplateKind& kind() const = 0;
  /// All faces of a picture.
  virtual std::vector<FaceTemplate> find(PictureView picture) = 0;
  /// Between two templates of this kind: 0 for equal ones, symmetric, the same on every machine.
  virtual std::int64_t distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) const = 0;
  /// The same for people, as it stands beside names.
  virtual double real_distance(std::int64_t distance) const = 0;
  /// What the model knows of people that it was calibrated with: the largest distance such that no more than
  /// this share of pairs of different people's templates are as near or nearer. Nothing where it does not
  /// know.
  virtual std::optional<std::int64_t> distance_of_strangers(double share) const = 0;
  /// The quality below which its faces are doubtful; asks for nothing unless overridden.
  virtual FaceQuality least_quality() const { return {}; }
};

}  // namespace sightline::gallery
