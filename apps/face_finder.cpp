#include "face_finder.hpp"

#include "base/error.hpp"

namespace sightline::apps {

std::unique_ptr<gallery::FaceFinder> make_face_finder(const DetectorOptions& detector) {
  const Config config = detector.config();
  throw Error(ExitCode::usage, "the configuration '" + config.name() + "' recognises nobody",
              "name one that does with --config");
}

}  // namespace sightline::apps
