#pragma once
/// Training samples of landmark trees: augmented patches of marked faces, and their points.

#include <cstdint>
#include <vector>

#include "faces/landmarks/marks.hpp"
#include "faces/landmarks/model.hpp"
#include "faces/landmarks/patch.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"
#include "training/variation.hpp"

namespace sightline::landmarks {

/// A patch, and the points in it.
struct Sample {
  Patch patch;
  Shape points;
};

/// Default variation of faces, like a detector's boxes: sides within 15%, positions within 7% of a side; blur
/// up to that of a face of 24 pixels enlarged to a patch.
inline constexpr training::VariationBounds kVariation{.turn_x = 0,
                                                      .turn_y = 0,
                                                      .turn_z = 10,
                                                      .zoom = 0.15,
                                                      .shift = 0.07,
                                                      .contrast = 0.3,
                                                      .brightness = 20,
                                                      .gamma = 0.3,
                                                      .gradient = 0.3,
                                                      .blur = 1.2,
                                                      .noise = 4,
                                                      .mirror = true};

/// A face as it is, in its box.
/// @param picture  the face's
Sample make_sample(GrayView picture, const MarkedFace& face, PatchSampler& sampler);

/// The face varied: the picture turned about the box's middle, the box moved and zoomed, the patch in other
/// light, blurred and with noise, every other one mirrored. turn_x and turn_y are left out.
Sample make_varied_sample(GrayView picture, const MarkedFace& face, const training::VariationBounds& bounds,
                          Random& random, PatchSampler& sampler);

/// Makes `copies` varied samples of each face, face by face, in parallel.
/// @param pictures  the faces', in their order
/// Throws TrainingStopped, and Error (input) where a picture cannot be read.
std::vector<Sample> make_samples(const training::ImageSet& pictures, const std::vector<MarkedFace>& faces,
                                 int copies, const training::VariationBounds& bounds, std::uint64_t seed,
                                 training::ProgressClock& clock);

}  // namespace sightline::landmarks
