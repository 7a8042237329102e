#pragma once
/// Variants of the pictures that a classifier is trained on: the same object a little elsewhere, a little
/// larger or smaller, less sharp, or partly hidden, as a detector's grid of windows meets it.

#include "base/random.hpp"
#include "image/box.hpp"
#include "image/view.hpp"

namespace sightline::training {

inline constexpr double kJitterShift = 1.5;  ///< pixels at most, along each axis
inline constexpr double kJitterZoom = 0.03;  ///< largest zoom in or out, as a share of the size
inline constexpr double kJitterReductions[] = {0.7, 0.75, 0.8, 0.85, 0.9};

/// The picture shifted and maybe mirrored at random, with the same size. Half of the variants stay sharp,
/// shifted by whole pixels. The others are zoomed, and reduced and enlarged again to imitate small objects.
/// Edge pixels are repeated beyond the edge.
Image<std::uint8_t> jitter(GrayView picture, Random& random);

/// Covers a part of the object in `picture` with pixels of `other`, shifted to the side and slightly down, as
/// one person hides another; or, once in four times, covers its lower part with the top of `other`. Hides up
/// to 45% of the object's width or 40% of its height, sometimes nothing. Edge pixels of `other` are repeated
/// beyond its edge. Only the part of the object inside the picture is covered.
void occlude(ImageView<std::uint8_t> picture, GrayView other, const Box& object, Random& random);

/// Degradation of a picture by scanned print or a poor camera.
struct Roughness {
  double blur = 0;   ///< standard deviation of a Gaussian, in pixels
  double grain = 0;  ///< deviation of pixel noise, relative to the picture's own
};
/// Blurs a picture and adds noise, each by a part of that at random.
void roughen(ImageView<std::uint8_t> picture, const Roughness& most, Random& random);

/// Swaps left and right.
void mirror(ImageView<std::uint8_t> picture);

/// The whole picture, maybe mirrored, enlarged by a random factor of 1 to kEnlargement. Windows then see its
/// content at other places and scales, with the blur that a detector of small objects sees.
inline constexpr double kEnlargement = 1.4;
Image<std::uint8_t> enlarge(GrayView picture, Random& random);

}  // namespace sightline::training
