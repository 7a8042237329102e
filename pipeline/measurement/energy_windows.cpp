#include "pipeline/measurement/energy_windows.hpp"

namespace sightline::pipeline {
namespace {

using Values = std::vector<double> EnergyReading::*;

std::vector<double> means(const std::vector<EnergyWindow>& windows, Values which, bool per_second) {
  std::vector<double> means((windows.front().energy.value().*which).size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i] = range_of(windows, [&](const EnergyWindow& w) {
                 return (w.energy.value().*which)[i] / (per_second ? w.seconds : 1);
               }).mean;
  }
  return means;
}

double joules_a_turn(const EnergyWindow& w) {
  return w.energy->joules / static_cast<double>(w.turns);
}

}  // namespace

std::optional<Power> power_of(const std::vector<EnergyWindow>& windows) {
  if (!windows.front().energy) return std::nullopt;
  const WindowRange watts =
      range_of(windows, [](const EnergyWindow& w) { return w.energy->joules / w.seconds; });
  return Power{watts.mean,
               watts.lowest,
               watts.highest,
               means(windows, &EnergyReading::meters, true),
               means(windows, &EnergyReading::parts, true),
               means(windows, &EnergyReading::megahertz, false)};
}

FrameJoules joules_of(const std::vector<EnergyWindow>& windows, double idle_watts,
                      const std::vector<double>& idle_parts) {
  FrameJoules joules;
  const WindowRange whole = range_of(windows, joules_a_turn);
  const double seconds = range_of(windows, [](const EnergyWindow& w) { return w.seconds_a_turn(); }).mean;
  joules.whole = whole.mean;
  joules.above_idle = whole.mean - idle_watts * seconds;
  joules.spread = whole.half();
  for (std::size_t i = 0; i < windows.front().energy->parts.size(); ++i) {
    const auto part = [&](const EnergyWindow& w) {
      return w.energy->parts[i] / static_cast<double>(w.turns);
    };
    joules.parts.push_back(range_of(windows, part).mean - idle_parts.at(i) * seconds);
  }
  return joules;
}

}  // namespace sightline::pipeline
