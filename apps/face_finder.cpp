#include "face_finder.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "detector_families.hpp"
#include "recognition/face_reader.hpp"
#include "recognition/section.hpp"

namespace sightline::apps {

std::unique_ptr<gallery::FaceFinder> make_face_finder(const DetectorOptions& detector) {
  const Config config = detector.config();
  if (!recognition::recognises(config)) {
    throw Error(ExitCode::usage, "the configuration '" + config.name() + "' recognises nobody",
                "name one that does with --config");
  }
  std::unique_ptr<Detector> faces = make_detector_alone(config);
  const std::vector<std::string>& labels = faces->info().labels;
  const auto face = std::ranges::find(labels, recognition::kFaceLabel);
  if (face == labels.end()) {
    throw Error(ExitCode::usage, "the detector of '" + config.name() + "' finds no faces",
                "name one whose objects are labelled 'face'");
  }
  const auto label = static_cast<int>(face - labels.begin());
  return std::make_unique<recognition::FaceReader>(
      std::move(faces), label, recognition::load_recogniser(recognition::read_section(config)));
}

}  // namespace sightline::apps
