#include "pipeline/measurement/stage_measurement.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::pipeline {

double idle_error(const StageMeasurement& m) {
  if (!m.idle_before || !m.idle_after) return 0;
  const auto half_range = [](const Power& power) { return (power.highest - power.lowest) / 2; };
  return std::max({std::abs(m.idle_after->watts - m.idle_before->watts) / 2, half_range(*m.idle_before),
                   half_range(*m.idle_after)});
}

std::optional<JoulesExplained> explained(const WholeRow& row) {
  if (!row.joules || !row.stages_joules) return std::nullopt;
  JoulesExplained parts;
  parts.idle = row.joules->whole - row.joules->above_idle;
  parts.stages = *row.stages_joules;
  parts.rest = row.joules->above_idle - parts.stages;
  return parts;
}

StageEnergies energies_of(const StageMeasurement& m) {
  StageEnergies energies;
  energies.meter = m.meter;
  energies.idle_watts = std::max(m.idle_watts, 0.0);
  energies.seen = m.seen;
  energies.joules.assign(m.processors.size(), std::vector<std::optional<double>>(m.stages.size()));
  energies.copy_watts.assign(m.processors.size(), 0.0);
  for (const AloneRow& row : m.rows) {
    if (!row.joules) continue;
    const double joules = std::max(row.joules->above_idle, 0.0);  // less is noise
    if (row.kind == AloneRow::Kind::stage) {
      energies.joules[row.processor][row.stage] = joules;
    } else if (row.seconds > 0) {
      double& watts = energies.copy_watts[row.processor];
      watts = std::max(watts, joules / row.seconds);
    }
  }
  return energies;
}

std::optional<std::size_t> most_frugal(const std::vector<WholeRow>& rows) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].joules && (!best || rows[i].joules->whole < rows[*best].joules->whole)) best = i;
  }
  return best;
}

}  // namespace sightline::pipeline
