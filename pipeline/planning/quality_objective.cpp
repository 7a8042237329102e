#include "pipeline/planning/quality_objective.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "pipeline/session/keys.hpp"

namespace sightline::pipeline {
QualityObjective parse_budget(const std::string& text) {
  QualityObjective objective;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), objective.limit);
  std::string unit(end, text.data() + text.size());
  std::erase(unit, ' ');
  if (unit == "W" || unit == "w") objective.kind = QualityObjective::Kind::power;
  if (unit == "J" || unit == "j") objective.kind = QualityObjective::Kind::energy;
  if (fault == std::errc() && objective.kind != QualityObjective::Kind::none &&
      std::isfinite(objective.limit) && objective.limit > 0)
    return objective;
  throw Error(ExitCode::usage, "'" + text + "' is not a budget",
              "use watts (40W) or joules per frame (0.2J), above 0");
}

void read_quality(const Config& config, QualityRequest& request) {
  const std::string settings = keys::kSettings.read(config, "");
  const std::optional<double> hold = keys::kHold.read(config);
  const std::string budget = keys::kBudget.read(config, "");
  const bool battery = keys::kBattery.read(config, false);
  if (request.settings.empty()) request.settings = settings;
  if (request.has_objective()) return;
  request.hold = hold;
  request.budget = budget;
  request.battery = battery;
}

QualityObjective objective_of(const QualityRequest& request) {
  if (int{request.hold.has_value()} + int{!request.budget.empty()} + int{request.battery} > 1) {
    throw Error(ExitCode::usage, "--hold, --budget and --battery exclude each other"_message,
                "use one of them");
  }
  if (!request.budget.empty()) return parse_budget(request.budget);
  if (request.battery) return {QualityObjective::Kind::battery, 0};
  if (!request.hold) return {};
  const double most = keys::kHold.range.highest;
  if (!(*request.hold > 0) || *request.hold > most)
    throw Error(ExitCode::usage,
                fmt::format("a rate to hold must be above 0 and no more than {:.0f} frames a second", most));
  return {QualityObjective::Kind::hold, *request.hold};
}

std::string describe(const QualityObjective& objective) {
  switch (objective.kind) {
    case QualityObjective::Kind::none:
      break;
    case QualityObjective::Kind::hold:
      return fmt::format("hold {:g} frames/s", objective.limit);
    case QualityObjective::Kind::power:
      return fmt::format("no more than {:g} W", objective.limit);
    case QualityObjective::Kind::energy:
      return fmt::format("no more than {:g} J per frame", objective.limit);
    case QualityObjective::Kind::battery:
      return "battery";
  }
  return "by hand";
}

}  // namespace sightline::pipeline
