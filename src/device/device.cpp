#include "device/device.hpp"

#include <limits>

namespace sightline {
namespace {

std::int64_t host_ns(DeviceClock::HostTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

const char* to_string(DeviceType type) {
  switch (type) {
    case DeviceType::cpu:
      return "CPU";
    case DeviceType::gpu:
      return "GPU";
    case DeviceType::accelerator:
      return "accelerator";
    case DeviceType::other:
      break;
  }
  return "other";
}

DeviceEvent::DeviceEvent(const DeviceEvent& other) : handle_(other.handle_), ops_(other.ops_) {
  if (handle_) ops_->retain(handle_);
}

DeviceEvent::~DeviceEvent() {
  if (handle_) ops_->release(handle_);
}

DeviceEvent::Times DeviceEvent::times(const std::string& device) const {
  return ops_->times(handle_, device);
}

void DeviceEvent::on_complete(Completion& completion, const std::string& device) const {
  ops_->on_complete(handle_, completion, device);
}

DeviceEvent::State DeviceEvent::state() const {
  return ops_->state(handle_);
}

void DeviceEvent::wait(const std::string& device) const {
  ops_->wait(handle_, device);
}

void DeviceClock::synchronise(DeviceQueue& queue) {
  constexpr int kTries = 8;
  queue.finish();
  std::int64_t best_offset = 0;
  std::int64_t best_span = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = host_ns(std::chrono::steady_clock::now());
    const DeviceEvent marker = queue.marker();
    queue.wait(marker);
    const std::int64_t after = host_ns(std::chrono::steady_clock::now());
    if (after - before >= best_span) continue;
    best_span = after - before;
    const auto ended = static_cast<std::int64_t>(marker.times(queue.device_name()).ended);
    best_offset = before + (after - before) / 2 - ended;
  }
  const std::lock_guard lock(mutex_);
  offset_ns_ = best_offset;
  uncertainty_ns_ = best_span / 2;
  when_ = std::chrono::steady_clock::now();
}

DeviceClock::HostTime DeviceClock::to_host(std::uint64_t device_ns) const {
  const std::lock_guard lock(mutex_);
  return HostTime(std::chrono::duration_cast<HostTime::duration>(
      std::chrono::nanoseconds(static_cast<std::int64_t>(device_ns) + offset_ns_)));
}

bool DeviceClock::stale() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::steady_clock::now() - when_ > std::chrono::seconds(10);
}

std::chrono::nanoseconds DeviceClock::uncertainty() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::nanoseconds(uncertainty_ns_);
}

}  // namespace sightline
