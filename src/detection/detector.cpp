#include "detection/detector.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace sightline {

double DetectorInfo::smallest_object() const {
  double smallest = 0;
  for (const double height : smallest_objects) {
    if (height > 0) smallest = smallest > 0 ? std::min(smallest, height) : height;
  }
  return smallest;
}

void Detector::take_result(Workspace& workspace, FrameResult& result) const {
  result.objects = take_detections(workspace);
}

void require_boxes(const DetectorInfo& info, std::string_view parameter) {
  if (!info.classifies_frames) return;
  throw Error(ExitCode::usage,
              option(parameter) +
                  " needs boxes of objects, and the detector classifies whole pictures: " + info.model,
              "leave it out, or use a detector of objects");
}

std::vector<Detection> detect(const Detector& detector, Workspace& workspace, PictureView frame) {
  if (!run_stages(detector, workspace, frame)) return {};
  return detector.take_detections(workspace);
}

}  // namespace sightline
