#pragma once
/// Stage measurements for people and for other programs.

#include <span>
#include <string>

#include "pipeline/measurement/stage_measurement.hpp"

namespace sightline::pipeline {

/// Tables for a terminal, no wider than 100 columns where names are short.
std::string stages_as_text(const StageMeasurement& measurement);
/// JSON: times in milliseconds, energies in joules; null for what is not known.
std::string stages_as_json(const StageMeasurement& measurement);
/// CSV with a header: a line for each stage and copy alone, each idle power, each schedule and mapping.
std::string stages_as_csv(const StageMeasurement& measurement);
/// A page (HTML, of one file) with the tables, and with the energies (without a meter, the times) as bars.
std::string stages_as_page(const StageMeasurement& measurement);
/// These bars alone, as SVG: a bar for each stage on each processor, then one for each schedule.
std::string stages_as_svg(const StageMeasurement& measurement);

}  // namespace sightline::pipeline
