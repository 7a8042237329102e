// Batteries in Linux's power supply class (Documentation/ABI/testing/sysfs-class-power): microwatts,
// microamperes and microvolts.

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "pipeline/measurement/battery.hpp"
#include "pipeline/measurement/meter_kinds.hpp"

namespace sightline::pipeline {
namespace {

namespace fs = std::filesystem;

double watts_of(const fs::path& battery, bool has_power) {
  const std::string status = line_of(battery / "status").value_or("unknown");
  if (status != "Discharging") {
    throw Error(ExitCode::failed, "not discharging (status: " + status + "): unplug the charger to measure");
  }
  // Some drivers give the flow out of the battery a minus sign.
  if (has_power) return std::abs(number_of(battery / "power_now")) * 1e-6;
  return std::abs(number_of(battery / "current_now") * 1e-6 * number_of(battery / "voltage_now") * 1e-6);
}

// Those that feed the machine, and not a mouse, say.
std::vector<fs::path> batteries_in(const fs::path& power_supply) {
  std::vector<fs::path> batteries;
  for (const fs::path& supply : folders_in(power_supply)) {
    if (line_of(supply / "type") == "Battery" && line_of(supply / "scope") != "Device")
      batteries.push_back(supply);
  }
  return batteries;
}

}  // namespace

std::optional<BatteryLevel> battery_level(const fs::path& power_supply) {
  double sum = 0;
  int count = 0;
  BatteryLevel level{0, true};
  for (const fs::path& battery : batteries_in(power_supply)) {
    if (!line_of(battery / "capacity")) continue;
    sum += number_of(battery / "capacity") / 100;
    ++count;
    if (line_of(battery / "status") == "Discharging") level.charging = false;
  }
  if (count == 0) return std::nullopt;
  level.level = std::clamp(sum / count, 0.0, 1.0);
  return level;
}

void find_batteries(const MeterOptions& options, Meters& meters) {
  for (const fs::path& supply : batteries_in(options.power_supply)) {
    std::error_code ignored;
    const bool has_power = fs::exists(supply / "power_now", ignored);
    const bool has_current =
        fs::exists(supply / "current_now", ignored) && fs::exists(supply / "voltage_now", ignored);
    if (!has_power && !has_current) continue;
    meters.push_back(make_sampled_meter(
        {"battery " + supply.filename().string(), "the part of the machine that this battery powers",
         Sensor::Kind::power, [supply, has_power] { return watts_of(supply, has_power); }, Seen::machine},
        options));
  }
}

}  // namespace sightline::pipeline
