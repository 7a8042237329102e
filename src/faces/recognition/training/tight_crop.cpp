#include "faces/recognition/training/tight_crop.hpp"

#include <algorithm>

#include "faces/recognition/crop.hpp"

namespace sightline::recognition {

TightCrop draw_tight_crop(Random& random) {
  // Pixels at each side, where a photo is cut as closely as can be.
  constexpr double kSide = 22, kAbove = 38, kBelow = 15;
  const auto between = [&](double least, double most) { return least + (most - least) * random.unit(); };
  const double closeness = between(0.3, 1);
  const auto cut = [&](double most) { return static_cast<int>(most * closeness * between(0.7, 1.1)); };
  TightCrop result;
  result.left = cut(kSide);
  result.top = cut(kAbove);
  result.right = kCropSize.width - cut(kSide);
  result.bottom = kCropSize.height - cut(kBelow);
  return result;
}

void crop_tightly(ImageView<std::uint8_t> crop, const TightCrop& cut) {
  // Edges first in each row, then whole rows.
  for (int y = cut.top; y < cut.bottom; ++y) {
    std::uint8_t* const row = crop.row(y);
    std::fill(row, row + cut.left, row[cut.left]);
    std::fill(row + cut.right, row + crop.width(), row[cut.right - 1]);
  }
  for (int y = 0; y < cut.top; ++y) std::copy_n(crop.row(cut.top), crop.width(), crop.row(y));
  for (int y = cut.bottom; y < crop.height(); ++y)
    std::copy_n(crop.row(cut.bottom - 1), crop.width(), crop.row(y));
}

}  // namespace sightline::recognition
