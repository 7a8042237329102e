#pragma once
/// Interface of a reader of the batteries' level.

#include <functional>
#include <optional>

namespace sightline::pipeline {

struct BatteryLevel {
  double level = 0;       ///< 0 to 1; mean of several batteries
  bool charging = false;  ///< none of them is discharging
};

/// Level of the batteries; none without a battery that reports its capacity. Throws Error (failed) if one
/// cannot be read. Slow on some machines: do not call it for every frame.
using BatteryReader = std::function<std::optional<BatteryLevel>()>;

}  // namespace sightline::pipeline
