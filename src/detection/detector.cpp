#include "detection/detector.hpp"

#include "detection/device_stages.hpp"

namespace sightline {

std::unique_ptr<DeviceStages> Detector::make_device_stages(const opencl::ChosenDevice& /*device*/) const {
  return nullptr;
}

double DeviceSpan::seconds(const std::string& device) const {
  return seconds_between(first, end(), device);
}

double seconds_between(const opencl::Event& first, const opencl::Event& last, const std::string& device) {
  return 1e-9 * static_cast<double>(last.times(device).ended - first.times(device).started);
}

void DeviceSlot::add(DeviceSpan::Kind kind, std::size_t stage, std::string_view name, opencl::Event event) {
  if (spans.empty() || spans.back().name != name) {
    spans.push_back({kind, stage, name, std::move(event), {}});
  } else {
    spans.back().last = std::move(event);
  }
}

std::vector<Detection> detect(const Detector& detector, Workspace& workspace, PictureView frame) {
  if (!detector.prepare(workspace, frame)) return {};
  for (std::size_t stage = 0; stage < detector.stages().size(); ++stage) detector.run_stage(stage, workspace);
  return detector.take_detections(workspace);
}

}  // namespace sightline
