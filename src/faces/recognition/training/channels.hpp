#pragma once
/// Channels of the trained models, selected by cross-validation on training people and relit photos of them
/// (configs/models/faces-recognition.md).

#include <vector>

#include "faces/recognition/crop.hpp"
#include "faces/recognition/face_descriptor.hpp"

namespace sightline::recognition {

/// Channels of a learned model.
std::vector<Channel> learned_channels();
/// Channels of plain histograms.
std::vector<Channel> plain_channels();
/// Channels of histograms for hard light: the lit side of a face is not mixed with the one in shadow.
std::vector<Channel> light_channels();
/// For these: little more than pictures that end close around a face show.
inline constexpr CropGeometry kLightGeometry{65, 42};

}  // namespace sightline::recognition
