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

#include "image/view.hpp"
#include "training/random.hpp"

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
};

/// One at random: three of ten lamps stand near the camera, the others anywhere up to 130 degrees to the
/// side.
LampScene draw_lamp_scene(training::Random& random);

/// Lights a crop of kCropSize anew.
/// @param random  of its noise
void light_by_lamp(ImageView<std::uint8_t> crop, const LampScene& scene, training::Random& random);

}  // namespace sightline::recognition
