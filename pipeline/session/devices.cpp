#include "pipeline/session/devices.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace sightline::pipeline {

Devices::Devices(const std::vector<const DeviceStages*>& devices) {
  std::ranges::copy_if(devices, std::back_inserter(stages_), [](const auto* one) { return one != nullptr; });
  if (size() > kMostDevices) {
    throw Error(
        ExitCode::usage,
        "a pipeline has at most " + std::to_string(kMostDevices) + " devices, not " + std::to_string(size()),
        "name fewer with --device"_message);
  }
}

StageSet Devices::supported(const DeviceSet& some) const {
  StageSet stages;
  if (some.any()) stages.set();
  for (std::size_t i = 0; i < size(); ++i) {
    if (some[i]) stages &= stages_[i]->supported();
  }
  return stages;
}

std::string Devices::name(std::size_t device) const {
  const std::string& name = stages_[device]->device().name();
  const auto has_name = [&](const DeviceStages* one) { return one->device().name() == name; };
  if (std::ranges::count_if(stages_, has_name) < 2) return name;
  const auto before =
      std::count_if(stages_.begin(), stages_.begin() + static_cast<std::ptrdiff_t>(device), has_name);
  return name + " #" + std::to_string(before);
}

}  // namespace sightline::pipeline
