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

/// Remarks on the figures and on what they leave out; a sentence each.
std::vector<std::string> remarks(const StageMeasurement& measurement);
/// For each stage that was measured on several processors: which of them takes less of what is known.
/// @param names  of the processors
std::vector<std::string> comparisons(const StageMeasurement& measurement,
                                     const std::vector<std::string>& names);
/// The rows in the order of the stages, each stage's processors side by side: places in `rows`.
std::vector<std::size_t> by_stage(const StageMeasurement& measurement);

}  // namespace sightline::pipeline
