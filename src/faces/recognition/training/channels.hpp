#pragma once
/// How the models that are trained here describe faces, as folds of training people and relit photos of them
/// found it to be best (configs/models/faces-recognition.md).

#include <vector>

#include "faces/recognition/crop.hpp"
#include "faces/recognition/face_descriptor.hpp"

namespace sightline::recognition {

/// Of a learned model.
std::vector<Channel> learned_channels();
/// Of histograms alone.
std::vector<Channel> plain_channels();
/// Of histograms for hard light: a lit side of a face is not mixed with one in shadow.
std::vector<Channel> light_channels();
/// For these: little more than pictures that end close around a face show.
inline constexpr CropGeometry kLightGeometry{65, 42};

}  // namespace sightline::recognition
