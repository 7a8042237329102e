#pragma once
/// Photos of faces as they would look under one lamp: copies that teach a model what is of the light and not
/// of the person, shadows that are cast included.
///
/// The face is a height map in the coordinates of a crop, z towards the camera, in distances between the
/// eyes: a rounded ellipsoid with brow, eye sockets, nose, cheeks, lips and chin, each an elementary shape,
/// and a relief of the photo's own, in which what is dark is deep. Its albedo is the photo divided by its own
/// broad shading. A lamp far away lights it by Lambert's law with a little gloss, but for what lies in the
/// shadow of something nearer to the lamp, which rays over the height map find; the room reflects a little of
/// it everywhere. What a camera makes of it has a gamma, is cut off at white, has noise and whole levels.

#include <cstdint>

#include "base/random.hpp"
#include "image/view.hpp"

namespace sightline::recognition {

/// Where a lamp stands, degrees: 0 and 0 are the camera's own direction.
struct LampDirection {
  double side = 0;  ///< to the right in the picture; beyond 90 behind the face
  double up = 0;
};

/// What differs from one copy to the next.
struct LampScene {
  LampDirection lamp;
  double room = 0.02;       ///< light from everywhere, in parts of the lamp's
  double exposure = 2;      ///< a surface of the mean albedo that faces the lamp is 0.35 of it, 1 is white
  double gamma = 1;         ///< exponent of the camera's
  double contrast = 0.75;   ///< exponent of the albedo: how much of a photo's contrast is paint, not relief
  double relief = 0.8;      ///< of the photo's own, 0: none
  double noise = 1;         ///< levels of 255, standard deviation
  std::uint64_t shape = 0;  ///< which face: sizes of its parts are drawn by it
  double gloss = 0.15;      ///< of the skin, against what it scatters
  double bumps = 0;         ///< of the skin, that no photo shows: slopes, standard deviation; drawn by shape
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
/// Where the flash stands: within kNearFlash degrees of the camera, both to the side and up, or anywhere else
/// from 130 degrees left to 130 right and from 40 below to 90 above, evenly over that part of a sphere.
enum class FlashPlace { near_camera, elsewhere };
inline constexpr double kNearFlash = 20;

/// One at random.
/// @param person  of what stays the same in all copies of a face: seeded alike for all of them
LampScene draw_flash_scene(FlashRig rig, FlashPlace place, Random person, Random& random);

/// Lights a crop of kCropSize anew.
/// @param random  of its noise
void light_by_lamp(ImageView<std::uint8_t> crop, const LampScene& scene, Random& random);

}  // namespace sightline::recognition
