#pragma once
/// Finding and describing faces, as the command line asks for it.

#include <memory>

#include "detector_options.hpp"
#include "gallery/face_finder.hpp"

namespace sightline::apps {

/// Where faces are recognised if nobody says how.
inline constexpr char kFacesConfig[] = "recognise";

/// Throws as DetectorOptions::make does, and Error (usage) for a configuration without recognition.
std::unique_ptr<gallery::FaceFinder> make_face_finder(const DetectorOptions& detector);

}  // namespace sightline::apps
