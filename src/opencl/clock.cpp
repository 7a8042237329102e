#include "opencl/clock.hpp"

#include <limits>

namespace sightline::opencl {
namespace {

std::int64_t host_ns(DeviceClock::HostTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

void DeviceClock::synchronise(Queue& queue) {
  constexpr int kTries = 8;
  queue.finish();
  std::int64_t best_offset = 0;
  std::int64_t best_span = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = host_ns(std::chrono::steady_clock::now());
    const Event marker = queue.marker();
    queue.wait(marker);
    const std::int64_t after = host_ns(std::chrono::steady_clock::now());
    if (after - before >= best_span) continue;
    best_span = after - before;
    const auto ended = static_cast<std::int64_t>(marker.times(queue.context().name()).ended);
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

}  // namespace sightline::opencl
