#include "processing/frame_runner.hpp"

namespace sightline {

FrameRunner::FrameRunner(const FrameProcessor& processor, const DeviceStages* device,
                         const StageSet& on_device)
    : processor_(processor),
      device_(device),
      workspace_(processor.make_workspace()),
      slot_(device ? device->make_slot() : nullptr) {
  map(on_device);
}

void FrameRunner::map(const StageSet& on_device) {
  on_device_ = on_device;
  segments_ = plan_transfers(processor_.stages(), on_device);
}

void FrameRunner::prepare_slot() {
  if (device_) device_->prepare(*slot_, *workspace_, on_device_);
}

void FrameRunner::run(std::size_t first, std::size_t last) {
  const auto on_cpu = [&](std::size_t end) {
    for (; first < end; ++first) processor_.run_stage(first, *workspace_);
  };
  for (const DeviceSegment& segment : segments_) {
    if (segment.first < first || segment.last > last) continue;
    on_cpu(segment.first);
    device_->submit(*slot_, *workspace_, segment.first, segment.last);
    slot_->done.wait(device_->device().name());
    device_->complete(*slot_, *workspace_);
    first = segment.last;
  }
  on_cpu(last);
}

void FrameRunner::run() {
  prepare_slot();
  run(0, processor_.stages().size());
}

FrameResult FrameRunner::take_result() {
  FrameResult result;
  processor_.take_result(*workspace_, result);
  return result;
}

FrameResult FrameRunner::process(PictureView frame) {
  FrameResult result;
  if (!prepare(frame)) {
    result.status = FrameStatus::skipped;
    return result;
  }
  run();
  return take_result();
}

}  // namespace sightline
