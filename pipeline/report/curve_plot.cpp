#include "pipeline/report/curve_plot.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline {

namespace {

// Whole decades around the curves' false positive rates, at least two and at most seven. A rate is never on
// the left edge, so that what a curve reaches without false positives shows.
report::Axis horizontal_axis(std::span<const NamedCurve> curves) {
  double low = 1, high = 0;
  for (const auto& curve : curves) {
    for (const auto& point : curve.points) {
      if (point.false_positive_rate <= 0) continue;
      low = std::min(low, point.false_positive_rate);
      high = std::max(high, point.false_positive_rate);
    }
  }
  double last = high > 0 ? std::ceil(std::log10(high) - 1e-9) : 0;
  const double first = high > 0 ? std::floor(std::log10(low) - 1e-9) : -3;
  last = std::max(last, first + 2);
  return {.is_logarithmic = true, .low = std::pow(10, std::max(first, last - 7)), .high = std::pow(10, last)};
}

// From 1 down to the next round number below the lowest miss rate, 1e-4 at least.
report::Axis vertical_axis(std::span<const NamedCurve> curves) {
  double lowest = 0.2;
  for (const auto& curve : curves) {
    for (const auto& point : curve.points)
      if (point.miss_rate > 0) lowest = std::min(lowest, point.miss_rate);
  }
  return {"miss rate", true, std::max(report_parts::round_down(lowest), 1e-4), 1, false, percent};
}

// A miss rate holds until a higher false positive rate buys a lower one.
report::Line line_of(const NamedCurve& curve, double left, const std::string& unit) {
  const std::string summary = curve.summary.empty() ? "" : ": " + curve.summary;
  const std::string counts =
      " (" + grouped(curve.positives) + " positives, " + grouped(curve.trials) + ' ' + unit + ')';
  report::Line line{curve.name + summary + counts, {{left, 1}}, report::Line::Form::stairs};
  for (const DetPoint& point : curve.points) {
    if (point.false_positive_rate <= left) line.points.clear();
    line.points.push_back({std::max(point.false_positive_rate, left), point.miss_rate});
  }
  return line;
}

}  // namespace

report::Chart curve_chart(std::span<const NamedCurve> curves, FalsePositiveUnit unit,
                          const std::string& title) {
  const std::string one = unit_name(unit);
  report::Chart chart{title, title, "", horizontal_axis(curves), vertical_axis(curves)};
  chart.x.label = "false positives per " + one;
  for (const NamedCurve& curve : curves) chart.lines.push_back(line_of(curve, chart.x.low, one + 's'));
  chart.width = 760, chart.height = 420;
  return chart;
}

report::Chart reliability_chart(const Reliability& reliability, const std::string& title) {
  report::Line boxes{"boxes", {}}, ideal{"ideal", {{0, 0}, {1, 1}}, report::Line::Form::plain, 1};
  for (const ReliabilityRow& row : reliability.rows)
    boxes.points.push_back({row.confidence, row.right, row.low, row.high});
  report::Chart chart{title, title};
  chart.x = {.label = "confidence", .low = 0, .high = 1};
  chart.y = {.label = "share of boxes that are right", .low = 0, .high = 1};
  chart.lines = {boxes, ideal};
  chart.width = 560, chart.height = 360;
  return chart;
}

}  // namespace sightline
