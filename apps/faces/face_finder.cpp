#include "apps/faces/face_finder.hpp"

#include "apps/cli/config_lookup.hpp"
#include "base/error.hpp"
#include "detectors/registry.hpp"
#include "faces/recognition/face_reader.hpp"
#include "faces/recognition/section.hpp"

namespace sightline::apps {

Config recognition_config(const std::string& name) {
  Config config = Config::load(find_config(name));
  config.expect_section("schedule");
  config.expect_section("knob");
  return config;
}

NamedFaces make_face_detector(const Config& config) {
  if (!recognition::recognises(config)) {
    throw Error(ExitCode::usage, "configuration '" + config.name() + "' has no recognition",
                "use --config recognise");
  }
  recognition::read_section(config);  // its keys are known
  std::unique_ptr<Detector> detector = make_detector(config);
  const std::optional<int> label = recognition::face_label_of(detector->info());
  if (!label) {
    throw Error(ExitCode::usage, "the detector of '" + config.name() + "' finds no faces",
                "use a detector with the label 'face'");
  }
  return {std::move(detector), *label};
}

std::unique_ptr<gallery::FaceFinder> make_face_finder(const DetectorOptions& detector) {
  const Config config = detector.config();
  NamedFaces faces = make_face_detector(config);
  return std::make_unique<recognition::FaceReader>(
      std::move(faces.detector), faces.label,
      recognition::load_recogniser(recognition::read_section(config)));
}

}  // namespace sightline::apps
