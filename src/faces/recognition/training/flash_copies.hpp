#pragma once
/// Photos of faces as a camera close to them would see them by the light of one flash (lamp.hpp): what a
/// model for hard light is taught and judged by.

#include <cstdint>

#include "base/random.hpp"
#include "faces/recognition/crop.hpp"
#include "faces/recognition/model.hpp"
#include "faces/recognition/training/lamp.hpp"

namespace sightline::recognition {

/// Makes copies and keeps memory for one. Thread-safety: one thread at a time.
class FlashCopier {
 public:
  explicit FlashCopier(const CropGeometry& geometry) : points_(crop_points(geometry)) {}

  /// A crop of kCropSize, valid until the next call. The copy shows 1.7 distances between the eyes from side
  /// to side and 2 from top to bottom. Its face is not quite where its points are said to be: one set of
  /// points stands for all people, so that each person's lie some 4% of the distance between the eyes beside
  /// them, the same in all copies; of a noisy rig another 1% from copy to copy.
  /// @param person  what stays the same in all copies of a face is drawn by it
  ImageView<std::uint8_t> copy(GrayView photo, const FacePoints& points, FlashRig rig, FlashPlace place,
                               std::uint64_t person, Random& random);

 private:
  FacePoints points_;  // of the model's crops
  Cropper cropper_;
  Image<std::uint8_t> lit_{kCropSize.width, kCropSize.height}, crop_{kCropSize.width, kCropSize.height};
};

}  // namespace sightline::recognition
