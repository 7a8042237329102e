#pragma once
/// Relights photos of faces as if lit by one lamp, with cast shadows, so that a model learns to ignore the
/// light.
///
/// The face is a height map in the coordinates of a crop, z towards the camera, in distances between the
/// eyes: a rounded ellipsoid with brow, eye sockets, nose, cheeks, lips and chin, each an elementary shape,
/// and a relief from the photo, in which dark areas are deep. Its albedo is the photo divided by its own
/// broad shading. A lamp far away lights it by Lambert's law with a little gloss, except in cast shadows,
/// which are found by rays over the height map; the room reflects a little light everywhere. What a camera
/// makes of it has a gamma, is cut off at white, has noise and whole levels.

#include <cstdint>

#include "base/random.hpp"
#include "image/view.hpp"

namespace sightline::recognition {

/// Direction of a lamp in degrees: 0 and 0 are the camera's direction.
struct LampDirection {
  double side = 0;  ///< to the right in the picture; beyond 90 behind the face
  double up = 0;
};

/// Parameters that differ between copies.
struct LampScene {
  LampDirection lamp;
  double room = 0.02;       ///< light from everywhere, in parts of the lamp's
  double exposure = 2;      ///< a surface of the mean albedo that faces the lamp is 0.35 of it, 1 is white
  double gamma = 1;         ///< exponent of the camera's
  double contrast = 0.75;   ///< exponent of the albedo: how much of a photo's contrast is paint, not relief
  double relief = 0.8;      ///< strength of the photo's relief, 0: none
  double noise = 1;         ///< levels of 255, standard deviation
  std::uint64_t shape = 0;  ///< seed of the face's shape
  double gloss = 0.15;      ///< gloss of the skin, relative to its diffuse reflection
  double bumps = 0;         ///< skin bumps: standard deviation of slopes; drawn by shape
};

/// One at random: three of ten lamps stand near the camera, the others anywhere up to 130 degrees to the
/// side.
LampScene draw_lamp_scene(Random& random);

/// Cameras that look at faces which one flash lights.
enum class FlashRig {
  room,   ///< any gamma, some light from everywhere
  flash,  ///< a linear sensor in a dark room, exposed for a flash beside the camera: from far to the side,
          ///< most of a face is a few levels
  noisy   ///< the same with less light and more noise
};
/// Direction of the flash: within kNearFlash degrees of the camera horizontally and vertically, or elsewhere
/// from 130 degrees left to 130 right and from 40 below to 90 above, uniform on that part of a sphere.
enum class FlashPlace { near_camera, elsewhere };
inline constexpr double kNearFlash = 20;

/// A random scene.
/// @param person  random numbers of the properties shared by all copies of a face: same seed for all of them
LampScene draw_flash_scene(FlashRig rig, FlashPlace place, Random person, Random& random);

/// Relights a crop of kCropSize.
/// @param random  random numbers of its noise
void light_by_lamp(ImageView<std::uint8_t> crop, const LampScene& scene, Random& random);

}  // namespace sightline::recognition
