#pragma once
/// Interface of what reads the level of the machine's batteries.

#include <functional>
#include <optional>

namespace sightline::pipeline {

struct BatteryLevel {
  double level = 0;       ///< 0 to 1; of several batteries, their mean
  bool charging = false;  ///< none of them is discharging
};

/// None where there is no battery that says its capacity. Throws Error (failed) where one cannot be read.
/// Not for every frame: some machines ask a slow controller.
using BatteryReader = std::function<std::optional<BatteryLevel>()>;

}  // namespace sightline::pipeline
