#pragma once
/// Tight-crop augmentation: imitates photos that end close around a face. Crops repeat the edge pixels
/// beyond.

#include "base/random.hpp"
#include "image/view.hpp"

namespace sightline::recognition {

/// Remaining part of a crop: columns [left, right), rows [top, bottom).
struct CloseCut {
  int left = 0, top = 0, right = 0, bottom = 0;
};

/// A random part of a crop of kCropSize that includes eyes and mouth.
CloseCut draw_close_cut(Random& random);

/// Changes a crop as if its photo ended at the cut, which has at least one pixel.
void cut_closely(ImageView<std::uint8_t> crop, const CloseCut& cut);

}  // namespace sightline::recognition
