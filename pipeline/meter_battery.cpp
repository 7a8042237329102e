// Batteries in Linux's power supply class (Documentation/ABI/testing/sysfs-class-power): microwatts,
// microamperes and microvolts.

#include <cmath>

#include "base/error.hpp"
#include "pipeline/meter_kinds.hpp"

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

}  // namespace

void find_batteries(const MeterOptions& options, Meters& meters) {
  for (const fs::path& supply : folders_in(options.power_supply)) {
    if (line_of(supply / "type") != "Battery") continue;
    if (line_of(supply / "scope") == "Device") continue;  // the battery of a mouse, say
    std::error_code ignored;
    const bool has_power = fs::exists(supply / "power_now", ignored);
    const bool has_current =
        fs::exists(supply / "current_now", ignored) && fs::exists(supply / "voltage_now", ignored);
    if (!has_power && !has_current) continue;
    meters.push_back(make_sampled_meter(
        {"battery " + supply.filename().string(), "the whole machine, as far as this battery feeds it",
         Sensor::Kind::power, [supply, has_power] { return watts_of(supply, has_power); }, Seen::machine},
        options));
  }
}

}  // namespace sightline::pipeline
