#pragma once
/// Augmentation of pictures of one object by view, light and sharpness: makes many pictures of a few marked
/// objects.

#include <cstdint>

#include "base/random.hpp"
#include "image/point.hpp"
#include "image/view.hpp"

namespace sightline::training {

/// Bounds of the variations; each is drawn uniformly within its bounds. 0: none.
struct VariationBounds {
  double turn_x = 10;      ///< degrees to either side: nodding, about the axis across
  double turn_y = 20;      ///< likewise: looking to the side, about the axis downwards
  double turn_z = 10;      ///< likewise: tilting, in the picture
  double zoom = 0.08;      ///< larger or smaller, in parts of its size
  double shift = 0.03;     ///< along each axis, in parts of its height
  double contrast = 0.35;  ///< factor from 1 / (1 + contrast) to 1 + contrast
  double brightness = 25;  ///< levels of 255, brighter or darker
  double gamma = 0.35;     ///< exponent from 1 / (1 + gamma) to 1 + gamma
  double gradient =
      0.35;  ///< light that falls off across the object: this share at most, from its middle to its edge
  double blur = 0.8;    ///< standard deviation of a Gaussian, pixels, from 0 on
  double noise = 5;     ///< standard deviation of Gaussian noise, levels of 255, from 0 on
  bool mirror = false;  ///< every other one is mirrored
};

/// One variation. The default leaves an object as it is.
struct Variation {
  double turn_x = 0, turn_y = 0, turn_z = 0;  ///< radians
  double zoom = 1;
  double shift_x = 0, shift_y = 0;  ///< relative to the object's height
  double contrast = 1;
  double brightness = 0;  ///< levels
  double gamma = 1;
  double gradient_x = 0,
         gradient_y = 0;  ///< added to the factor of 1 at half the object's height from its middle
  double blur = 0;        ///< pixels
  double noise = 0;       ///< levels
  bool mirrored = false;
};

Variation draw_variation(const VariationBounds& bounds, Random& random);

/// The object as a flat picture, turned in space about its middle and seen from kDistance of its heights
/// away. Thread-safety: constant after construction.
class ObjectView {
 public:
  static constexpr double kDistance = 4;

  explicit ObjectView(const Variation& variation);
  /// Maps a point of the view to the visible point of the object. Both relative to the object's height, from
  /// its middle.
  Point operator()(Point seen) const;

 private:
  Variation variation_;
  double rotation_[3][3];
};

/// Changes pixels as the variation's light does: gamma, then the gradient, then contrast about the middle
/// gray and brightness; clamped.
/// @param middle, height  of the object, pixels
void relight(ImageView<std::uint8_t> pixels, const Variation& variation, Point middle, double height);

/// Blurs by a Gaussian, edges repeated.
/// @param deviation  pixels; 0: nothing changes
Image<std::uint8_t> blurred(GrayView picture, double deviation);

/// Adds Gaussian noise to every pixel; clamped.
/// @param deviation  levels; 0: nothing changes
void add_noise(ImageView<std::uint8_t> pixels, double deviation, Random& random);

}  // namespace sightline::training
