#include "detectors/network/opencl/level_timer.hpp"

#include <utility>

namespace sightline::network {

LevelTimer::LevelTimer(const Plan& plan, const opencl::OpenedDevice& device, int frames)
    : device_(&device),
      frames_(frames),
      queue_(device),
      on_device_(plan, device, &device.cache, DeviceLevels::manner_for(device.device())) {
  for (const PlanSegment& segment : plan.segments) {
    if (!segment.suits_devices) break;
    count_ = segment.last_level;
  }
  if (count_ == 0) return;
  on_device_.wait_until_ready(frames);
  const std::size_t bytes = on_device_.variant_for(frames).bytes(frames);
  arena_ = opencl::Buffer(device, bytes);
  queue_.wait(queue_.fill(arena_, 0, bytes));
}

std::vector<double> LevelTimer::run() {
  std::vector<double> seconds;
  const std::string& name = device_->device().name;
  for (std::size_t level = 0; level < count_; ++level) {
    opencl::Event first, last;
    const DeviceLevels::Variant& levels = on_device_.variant_for(frames_);
    on_device_.enqueue(levels, queue_, kernels_, arena_, frames_, level, level + 1, [&](opencl::Event event) {
      if (!first) first = event;
      last = std::move(event);
    });
    if (last) queue_.wait(last);  // a level may have nothing to do on devices
    seconds.push_back(last ? 1e-9 * static_cast<double>(last.times(name).ended - first.times(name).started)
                           : 0);
  }
  return seconds;
}

}  // namespace sightline::network
