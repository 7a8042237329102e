// Sensors of Linux's hwmon (Documentation/hwmon/sysfs-interface.rst): microjoules and microwatts.

#include <algorithm>
#include <charconv>
#include <set>

#include "pipeline/measurement/meter_kinds.hpp"

namespace sightline::pipeline {
namespace {

namespace fs = std::filesystem;

// The numbers N for which there is an energyN_input, powerN_average or powerN_input.
std::set<int> channels_of(const fs::path& chip, const std::string& quantity) {
  std::set<int> channels;
  std::error_code ignored;
  for (fs::directory_iterator entry(chip, ignored), end; entry != end; entry.increment(ignored)) {
    const std::string file = entry->path().filename().string();
    if (!file.starts_with(quantity)) continue;
    int channel = 0;
    const char* const last = file.data() + file.size();
    const auto [rest, fault] = std::from_chars(file.data() + quantity.size(), last, channel);
    const std::string_view item(rest, last - rest);
    if (fault == std::errc() && (item == "_input" || item == "_average")) channels.insert(channel);
  }
  return channels;
}

// By the name of the chip's driver.
Seen seen_by(const std::string& chip) {
  for (const char* driver : {"amdgpu", "nouveau", "i915", "xe"}) {
    if (chip == driver) return Seen::gpu;
  }
  for (const char* driver : {"amd_energy", "zenpower", "fam15h_power"}) {
    if (chip == driver) return Seen::cpu;
  }
  return Seen::unknown;
}

void add(const fs::path& chip, const std::string& quantity, int channel, Sensor::Kind kind,
         const MeterOptions& options, Meters& meters) {
  const std::string sensor = quantity + std::to_string(channel);
  const std::string chip_name = line_of(chip / "name").value_or(chip.filename().string());
  const std::string label = line_of(chip / (sensor + "_label")).value_or(channel == 1 ? "" : sensor);
  // The driver amd_energy counts every core, and then the sockets that these are in.
  if (label.starts_with("Ecore")) return;
  std::error_code ignored;
  const bool average = fs::exists(chip / (sensor + "_average"), ignored);
  const fs::path file = chip / (sensor + (average ? "_average" : "_input"));
  meters.push_back(make_sampled_meter(
      {"hwmon " + chip_name + (label.empty() ? "" : " " + label),
       "the sensor " + sensor + " of the chip " + chip_name + " (" + chip.filename().string() + ")", kind,
       [file] { return number_of(file) * 1e-6; }, seen_by(chip_name)},
      options));
}

}  // namespace

void find_hwmon(const MeterOptions& options, Meters& meters) {
  for (const fs::path& chip : folders_in(options.hwmon)) {
    // Batteries and chargers show up here under their own names.
    std::error_code ignored;
    const std::string name = line_of(chip / "name").value_or("");
    if (!name.empty() && fs::exists(options.power_supply / name, ignored)) continue;
    const std::set<int> energy = channels_of(chip, "energy");
    for (int channel : energy) add(chip, "energy", channel, Sensor::Kind::energy, options, meters);
    // Both kinds of a channel with one number would most likely be the same thing twice.
    for (int channel : channels_of(chip, "power")) {
      if (!energy.contains(channel)) add(chip, "power", channel, Sensor::Kind::power, options, meters);
    }
  }
}

}  // namespace sightline::pipeline
