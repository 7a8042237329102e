#pragma once
/// Training of a model for hard light, on people lit by flashes near the camera and elsewhere
/// (relighting.hpp): weights of face regions, and the impostor distribution.

#include <cstdint>
#include <span>
#include <vector>

#include "faces/recognition/model.hpp"
#include "faces/recognition/training/axes.hpp"
#include "training/image_set.hpp"
#include "training/progress.hpp"

namespace sightline::recognition {

/// One photo each of people.
struct PeoplesPhotos {
  std::vector<std::size_t> photos;  ///< indices in the set
  std::vector<FacePoints> points;   ///< points of these photos
};

/// Cost of learn_light, in seconds of a typical core.
double cost_of_light(std::size_t people);

/// Sets a model's weights of regions, and how far strangers are apart: of a copy with the flash beside the
/// camera and one with the flash elsewhere. The model has its channels, no projection, and a geometry. The
/// result does not depend on threads. Throws training::TrainingStopped where the clock's report asks to stop.
void learn_light(const PeoplesPhotos& people, const training::ImageSet& pictures, std::uint64_t seed,
                 training::ProgressClock& clock, FaceModel& model);

/// Copies of each person for describe_in_light.
inline constexpr std::size_t kLightCopies = 9;
/// Cost of describe_in_light, in the same unit.
double cost_of_describing_in_light(std::size_t people);
/// Roots of the counts of kLightCopies copies of each person, [person][copy]: with the flash beside the
/// camera, then elsewhere. Otherwise as learn_light.
Descriptions describe_in_light(const PeoplesPhotos& people, const training::ImageSet& pictures,
                               std::uint64_t seed, training::ProgressClock& clock, const FaceModel& model);

}  // namespace sightline::recognition
