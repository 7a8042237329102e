#include "detection/detector.hpp"

#include "detection/device_stages.hpp"

namespace sightline {

std::unique_ptr<DeviceStages> Detector::make_device_stages(const opencl::ChosenDevice& /*device*/) const {
  return nullptr;
}

std::vector<Detection> detect(const Detector& detector, Workspace& workspace, GrayView frame) {
  if (!detector.prepare(workspace, frame)) return {};
  for (std::size_t stage = 0; stage < detector.stages().size(); ++stage) detector.run_stage(stage, workspace);
  return detector.take_detections(workspace);
}

}  // namespace sightline
