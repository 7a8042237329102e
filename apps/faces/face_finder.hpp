#pragma once
/// Finding and describing faces, as the command line asks for it.

#include <memory>
#include <string>

#include "apps/common/detector_options.hpp"
#include "faces/gallery/face_finder.hpp"

namespace sightline::apps {

/// Default configuration for recognising faces.
inline constexpr char kFacesConfig[] = "recognise";
/// The other configuration that ships with a model of its own for templates.
inline constexpr char kLightFacesConfig[] = "recognise-light";

/// A configuration with recognition, by its name or file. Throws Error (usage).
Config recognition_config(const std::string& name);

struct NamedFaces {
  std::unique_ptr<Detector> detector;  ///< nobody is named by it
  int label = 0;                       ///< of faces
};

/// The detector of a configuration with recognition. Throws as make_detector does, and Error (usage) where
/// it recognises nobody or finds no faces.
NamedFaces make_face_detector(const Config& config);

/// Throws as DetectorOptions::make does, and as make_face_detector.
std::unique_ptr<gallery::FaceFinder> make_face_finder(const DetectorOptions& detector);

}  // namespace sightline::apps
