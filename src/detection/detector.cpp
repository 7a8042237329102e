#include "detection/detector.hpp"

namespace sightline {

void Detector::take_result(Workspace& workspace, FrameResult& result) const {
  result.objects = take_detections(workspace);
}

std::vector<Detection> detect(const Detector& detector, Workspace& workspace, PictureView frame) {
  if (!run_stages(detector, workspace, frame)) return {};
  return detector.take_detections(workspace);
}

}  // namespace sightline
