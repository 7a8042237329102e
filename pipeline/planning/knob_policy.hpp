#pragma once
/// Policies of the quality controller, which changes a processor's setting while it runs.

#include <optional>
#include <string>

#include "base/config.hpp"

namespace sightline::pipeline {

/// User's request: with `--settings`, `--hold`, `--budget`, `--battery`, or in section [knob].
struct KnobRequest {
  std::string settings;        ///< as `--settings` takes them; empty: the family's own
  std::optional<double> hold;  ///< frames a second
  std::string budget;          ///< "40W", "0.2J"
  bool battery = false;
  std::string power_log;  ///< as MeterOptions has it; empty: none

  bool has_policy() const { return hold || !budget.empty() || battery; }
};

/// Fills what a request leaves open from section [knob] of a configuration: settings, hold, budget, battery.
/// A policy that was asked for elsewhere replaces the section's. Throws Error (usage).
void read_knob(const Config& config, KnobRequest& request);

/// By what a run chooses its setting.
struct KnobPolicy {
  enum class Kind {
    none,     ///< by hand
    hold,     ///< a rate
    power,    ///< watts
    energy,   ///< joules a frame
    battery,  ///< a battery's level
  };
  Kind kind = Kind::none;
  double limit = 0;  ///< frames a second, watts, or joules
};

/// The policy of a budget, "40W" or "0.2J". Throws Error (usage) for any other text.
KnobPolicy parse_budget(const std::string& text);

/// The policy of a request. Throws Error (usage) where a value makes no sense, or there is more than one.
KnobPolicy policy_of(const KnobRequest& request);

/// "hold 30 frames/s", "no more than 40 W", "no more than 0.2 J a frame", "battery"; "by hand" where there is
/// none.
std::string describe(const KnobPolicy& policy);

}  // namespace sightline::pipeline
