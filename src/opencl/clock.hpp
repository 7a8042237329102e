#pragma once
/// The device's clock in terms of the host's.

#include <chrono>
#include <cstdint>
#include <mutex>

#include "opencl/context.hpp"

namespace sightline::opencl {

/// Maps event times (nanoseconds of the device) to the host's steady clock. OpenCL 1.2 has no common timer,
/// so a marker ties the two: its end on the device against the moment the host sees it done. The error is the
/// time from the one to the other, some tens of microseconds; of several markers the one seen soonest counts.
/// Clocks drift: call `synchronise` again from time to time. Thread-safety: any thread may map while one
/// synchronises.
class DeviceClock {
 public:
  using HostTime = std::chrono::steady_clock::time_point;

  /// Waits for everything on the queue.
  void synchronise(Queue& queue);
  HostTime to_host(std::uint64_t device_ns) const;
  /// Whether the last synchronisation is older than ten seconds.
  bool stale() const;
  /// Uncertainty of the mapping: from just before the marker was sent until it was seen done.
  std::chrono::nanoseconds uncertainty() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t offset_ns_ = 0;  ///< host minus device
  std::int64_t uncertainty_ns_ = 0;
  HostTime when_{};
};

}  // namespace sightline::opencl
