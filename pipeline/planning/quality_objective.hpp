#pragma once
/// Objectives of the quality controller, which changes a processor's setting during a run.

#include <optional>
#include <string>

#include "params/config.hpp"

namespace sightline::pipeline {

/// User's request, by `--settings`, `--hold`, `--budget`, `--battery` or section [knob].
struct QualityRequest {
  std::string settings;        ///< as `--settings` takes them; empty: the family's own
  std::optional<double> hold;  ///< frames a second
  std::string budget;          ///< "40W", "0.2J"
  bool battery = false;
  std::string power_log;  ///< as MeterOptions has it; empty: none

  bool has_objective() const { return hold || !budget.empty() || battery; }
};

/// Completes a request from section [knob] of a configuration: settings, hold, budget, battery. An objective
/// of the request replaces the section's. Throws Error (usage).
void read_quality(const Config& config, QualityRequest& request);

/// Limit that a run keeps with the most accurate setting possible.
struct QualityObjective {
  enum class Kind {
    none,     ///< by hand
    hold,     ///< frame rate
    power,    ///< watts
    energy,   ///< joules per frame
    battery,  ///< level of the battery
  };
  Kind kind = Kind::none;
  double limit = 0;  ///< frames per second, watts, or joules
};

/// Objective of a budget, "40W" or "0.2J". Throws Error (usage) for other text.
QualityObjective parse_budget(const std::string& text);

/// Objective of a request. Throws Error (usage) for a value out of range, or for several objectives.
QualityObjective objective_of(const QualityRequest& request);

/// "hold 30 frames/s", "no more than 40 W", "no more than 0.2 J per frame", "battery"; "by hand" for none.
std::string describe(const QualityObjective& objective);

}  // namespace sightline::pipeline
