#pragma once
/// Photos that end close around a face, as those of some galleries do: of what lies beyond, crops have the
/// edge's pixel repeated.

#include "base/random.hpp"
#include "image/view.hpp"

namespace sightline::recognition {

/// What is left of a crop: from `left` on, before `right`, and so on.
struct CloseCut {
  int left = 0, top = 0, right = 0, bottom = 0;
};

/// One at random of a crop of kCropSize: all of eyes and mouth are left, of the rest now more, now less.
CloseCut draw_close_cut(Random& random);

/// Makes a crop what it would be of such a photo. The cut has at least one pixel of it.
void cut_closely(ImageView<std::uint8_t> crop, const CloseCut& cut);

}  // namespace sightline::recognition
