#include "processing/frame_processor.hpp"

#include <stdexcept>

#include "processing/device_stages.hpp"

namespace sightline {

std::unique_ptr<DeviceStages> FrameProcessor::make_stages_on(
    std::shared_ptr<ComputeDevice> /*device*/) const {
  return nullptr;
}

double DeviceSpan::seconds(const std::string& device) const {
  return seconds_between(first, end(), device);
}

double seconds_between(const DeviceEvent& first, const DeviceEvent& last, const std::string& device) {
  return 1e-9 * static_cast<double>(last.times(device).ended - first.times(device).started);
}

void DeviceSlot::add(DeviceSpan::Kind kind, std::size_t stage, std::string_view name, DeviceEvent event) {
  if (spans.empty() || spans.back().name != name) {
    spans.push_back({kind, stage, name, std::move(event), {}});
  } else {
    spans.back().last = std::move(event);
  }
}

bool run_stages(const FrameProcessor& processor, Workspace& workspace, PictureView frame) {
  if (!processor.prepare(workspace, frame)) return false;
  for (std::size_t stage = 0; stage < processor.stages().size(); ++stage)
    processor.run_stage(stage, workspace);
  return true;
}

}  // namespace sightline
