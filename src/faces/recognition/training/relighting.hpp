#pragma once
/// Relighting augmentation: photos of faces as seen by a near camera in the light of one flash (lamp.hpp),
/// for training and evaluation of a model for hard light.

#include <cstdint>

#include "base/random.hpp"
#include "faces/recognition/crop.hpp"
#include "faces/recognition/model.hpp"
#include "faces/recognition/training/lamp.hpp"

namespace sightline::recognition {

/// Makes copies and keeps memory for one. Thread-safety: one thread at a time.
class Relighter {
 public:
  explicit Relighter(const CropGeometry& geometry) : points_(crop_points(geometry)) {}

  /// A crop of kCropSize, valid until the next call. The copy is 1.7 eye distances wide and 2 high. All
  /// people share one set of points, so each person's true points deviate by about 4% of the eye distance,
  /// the same in all copies; a noisy rig adds 1% from copy to copy.
  /// @param person  what stays the same in all copies of a face is drawn by it
  ImageView<std::uint8_t> copy(GrayView photo, const FacePoints& points, FlashRig rig, FlashPlace place,
                               std::uint64_t person, Random& random);

 private:
  FacePoints points_;  // points of the model's crops
  Cropper cropper_;
  Image<std::uint8_t> lit_{kCropSize.width, kCropSize.height}, crop_{kCropSize.width, kCropSize.height};
};

}  // namespace sightline::recognition
