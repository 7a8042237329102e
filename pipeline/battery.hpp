#pragma once
/// How full the machine's batteries are.

#include <filesystem>
#include <optional>

namespace sightline::pipeline {

struct BatteryLevel {
  double level = 0;       ///< 0 to 1; of several batteries, their mean
  bool charging = false;  ///< none of them is discharging
};

/// From Linux's power supply class; none where there is no battery that says its capacity. Throws Error
/// (failed) where one cannot be read. Quick on most machines; some ask a slow controller: not for every
/// frame.
std::optional<BatteryLevel> battery_level(const std::filesystem::path& power_supply);

}  // namespace sightline::pipeline
