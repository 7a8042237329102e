#pragma once
/// Variants of the pictures that a classifier is trained on: the same object a little elsewhere, a little
/// larger or smaller, less sharp, or partly hidden, as a detector's grid of windows meets it.

#include "base/random.hpp"
#include "image/box.hpp"
#include "image/view.hpp"

namespace sightline::training {

inline constexpr double kJitterShift = 1.5;  ///< pixels at most, along each axis
inline constexpr double kJitterZoom = 0.03;  ///< of the size at most, larger or smaller
inline constexpr double kJitterReductions[] = {0.7, 0.75, 0.8, 0.85, 0.9};

/// The picture shifted and maybe mirrored, at random; of the same size. Half of the variants stay as sharp as
/// they are, shifted by whole pixels. The others are reduced and enlarged again, as small objects are before
/// they are found, and zoomed. What lies beyond the picture's edge is the edge's pixel repeated.
Image<std::uint8_t> jitter(GrayView picture, Random& random);

/// Covers a part of `picture`, in which an object fills `object`: with the same part of `other`, where
/// another object stands to the side and a little lower, as one person hides another; or, once in four times,
/// its lower part with what is at the top of `other`. Up to 45% of the object's width or 40% of its height
/// are hidden, at times nothing. What lies beyond the edge of `other` is the edge's pixel repeated; an object
/// that does not lie inside the picture is covered where it does.
void occlude(ImageView<std::uint8_t> picture, GrayView other, const Box& object, Random& random);

/// How a scan of print, or a poor camera, spoils a picture.
struct Roughness {
  double blur = 0;   ///< standard deviation of a Gaussian, in pixels
  double grain = 0;  ///< that of the noise of pixels, in parts of the picture's own
};
/// Blurs a picture and adds noise, each by a part of that at random.
void roughen(ImageView<std::uint8_t> picture, const Roughness& most, Random& random);

/// Swaps left and right.
void mirror(ImageView<std::uint8_t> picture);

/// The whole of a picture, maybe mirrored, enlarged by 1 to kEnlargement at random: what it shows
/// meets windows at other places and scales, and as blurred as a detector that looks for small objects sees
/// it.
inline constexpr double kEnlargement = 1.4;
Image<std::uint8_t> enlarge(GrayView picture, Random& random);

}  // namespace sightline::training
