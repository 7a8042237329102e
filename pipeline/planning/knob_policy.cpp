#include "pipeline/planning/knob_policy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace sightline::pipeline {
namespace {

constexpr double kMostFrames = 1e6;  // a second

}  // namespace

KnobPolicy parse_budget(const std::string& text) {
  KnobPolicy policy;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), policy.limit);
  std::string unit(end, text.data() + text.size());
  std::erase(unit, ' ');
  if (unit == "W" || unit == "w") policy.kind = KnobPolicy::Kind::power;
  if (unit == "J" || unit == "j") policy.kind = KnobPolicy::Kind::energy;
  if (fault == std::errc() && policy.kind != KnobPolicy::Kind::none && std::isfinite(policy.limit) &&
      policy.limit > 0)
    return policy;
  throw Error(ExitCode::usage, "'" + text + "' is not a budget",
              "use watts (40W) or joules per frame (0.2J), above 0");
}

void read_knob(const Config& config, KnobRequest& request) {
  const std::string section = "knob";
  const std::string settings = config.text(section, "settings", "");
  const std::optional<double> hold = config.optional_number(section, "hold", 1e-3, kMostFrames);
  const std::string budget = config.text(section, "budget", "");
  const bool battery = config.flag(section, "battery", false);
  if (request.settings.empty()) request.settings = settings;
  if (request.has_policy()) return;
  request.hold = hold;
  request.budget = budget;
  request.battery = battery;
}

KnobPolicy policy_of(const KnobRequest& request) {
  if (int{request.hold.has_value()} + int{!request.budget.empty()} + int{request.battery} > 1) {
    throw Error(ExitCode::usage, "--hold, --budget and --battery exclude each other", "use one of them");
  }
  if (!request.budget.empty()) return parse_budget(request.budget);
  if (request.battery) return {KnobPolicy::Kind::battery, 0};
  if (!request.hold) return {};
  if (!(*request.hold > 0) || *request.hold > kMostFrames)
    throw Error(
        ExitCode::usage,
        fmt::format("a rate to hold must be above 0 and no more than {:.0f} frames a second", kMostFrames));
  return {KnobPolicy::Kind::hold, *request.hold};
}

std::string describe(const KnobPolicy& policy) {
  switch (policy.kind) {
    case KnobPolicy::Kind::none:
      break;
    case KnobPolicy::Kind::hold:
      return fmt::format("hold {:g} frames/s", policy.limit);
    case KnobPolicy::Kind::power:
      return fmt::format("no more than {:g} W", policy.limit);
    case KnobPolicy::Kind::energy:
      return fmt::format("no more than {:g} J per frame", policy.limit);
    case KnobPolicy::Kind::battery:
      return "battery";
  }
  return "by hand";
}

}  // namespace sightline::pipeline
