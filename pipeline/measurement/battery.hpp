#pragma once
/// How full the machine's batteries are.

#include <filesystem>
#include <optional>

#include "pipeline/planning/battery_reader.hpp"

namespace sightline::pipeline {

/// A BatteryReader of Linux's power supply class.
std::optional<BatteryLevel> battery_level(const std::filesystem::path& power_supply);

}  // namespace sightline::pipeline
