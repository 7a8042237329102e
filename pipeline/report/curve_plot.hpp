#pragma once
/// Miss rate curves as a picture.

#include <span>
#include <string>

#include "evaluation/report.hpp"

namespace sightline {

/// A detection error trade-off plot: both axes logarithmic, curves as the staircases they are, nothing
/// smoothed, each with a line in the legend. Points at zero lie on the lower edge of their axis. A picture of
/// its own: no fonts, styles or scripts from elsewhere; colours (after M. Okabe, K. Ito, "Color Universal
/// Design", 2008) that colour-blind readers can tell apart, and line styles for readers of black and white.
std::string curves_as_svg(std::span<const NamedCurve> curves, FalsePositiveUnit unit,
                          const std::string& title);

}  // namespace sightline
