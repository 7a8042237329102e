#pragma once
/// Tight-crop augmentation: imitates photos that end close around a face. Crops repeat the edge pixels
/// beyond.

#include "base/random.hpp"
#include "image/view.hpp"

namespace sightline::recognition {

/// Remaining part of a crop: columns [left, right), rows [top, bottom).
struct TightCrop {
  int left = 0, top = 0, right = 0, bottom = 0;
};

/// A random part of a crop of kCropSize that includes eyes and mouth.
TightCrop draw_tight_crop(Random& random);

/// Changes a crop as if its photo ended at the cut, which has at least one pixel.
void crop_tightly(ImageView<std::uint8_t> crop, const TightCrop& cut);

}  // namespace sightline::recognition
