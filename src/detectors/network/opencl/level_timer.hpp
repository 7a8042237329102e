#pragma once
/// Times the levels of a plan on a device.

#include <vector>

#include "detectors/network/opencl/device_levels.hpp"
#include "opencl/opened_device.hpp"

namespace sightline::network {

/// Thread-safety: one thread at a time.
class LevelTimer {
 public:
  /// Both must outlive it. The input is 0. Throws Error (failed), DeviceError.
  /// @param frames  of each launch, up to DeviceLevels::kMostFrames
  LevelTimer(const Plan& plan, const opencl::OpenedDevice& device, int frames);

  /// The plan's first levels, up to one that devices have no kernels for.
  std::size_t levels() const { return count_; }
  /// Runs them one by one. Returns the seconds of each. Throws DeviceError.
  std::vector<double> run();

 private:
  const opencl::OpenedDevice* device_;
  int frames_;
  std::size_t count_ = 0;
  opencl::Queue queue_;
  DeviceLevels on_device_;
  DeviceLevels::Kernels kernels_;
  opencl::Buffer arena_;
};

}  // namespace sightline::network
