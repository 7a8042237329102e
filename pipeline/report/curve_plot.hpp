#pragma once
/// Miss rate curves, and the reliability of confidences, as pictures.

#include <span>
#include <string>

#include "evaluation/calibration.hpp"
#include "evaluation/report.hpp"
#include "pipeline/report/chart.hpp"

namespace sightline {

/// A detection error trade-off plot: both axes logarithmic, curves as the staircases they are, nothing
/// smoothed, each with a line in the legend. Points at zero lie on the lower edge of their axis.
report::Chart curve_chart(std::span<const NamedCurve> curves, FalsePositiveUnit unit,
                          const std::string& title);

/// The share of boxes that are right against their confidence.
report::Chart reliability_chart(const Reliability& reliability, const std::string& title);

}  // namespace sightline
