#include "apps/cli/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/markup.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::apps {
namespace {

using report_parts::kColours;

constexpr double kPlotWidth = 930, kPlotLeft = 86, kPlotRight = 580, kPlotTop = 20, kPlotBottom = 360;
constexpr double kLegendRow = 22;

struct Extent {
  double low = 1e300;
  double high = 0;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Round numbers; over a wide range, only powers of ten.
std::vector<double> y_marks(double low, double high) {
  constexpr double kMore = 1.001;
  std::vector<double> marks;
  const bool is_wide = high > 150 * low;
  for (double mark = report_parts::round_up(low); mark <= high * kMore;
       mark = report_parts::round_up(mark * kMore)) {
    const double exponent = std::log10(mark);
    if (!is_wide || std::abs(exponent - std::round(exponent)) < 1e-6) marks.push_back(mark);
  }
  return marks;
}

class Plot {
 public:
  Plot(const ChartAxes& axes, const std::vector<ChartSeries>& series) : axes_(axes) {
    Extent x, y;
    for (const ChartSeries& one : series) {
      for (const ChartPoint& point : one.points) {
        if (point.y <= 0) continue;
        x.add(point.x);
        for (const double value : {point.y, point.low, point.high})
          if (value > 0) y.add(value);
        places_.insert(point.x);
      }
    }
    if (y.high <= 0) return;
    first_ = x.low;
    last_ = x.high > x.low ? x.high : x.low + std::max(x.low, 1.0);
    const double low = report_parts::round_down(y.low);
    y_ = {low, std::max(report_parts::round_up(y.high), 2 * low), kPlotBottom, kPlotTop};
  }

  bool is_empty() const { return places_.empty(); }

  double x(double value) const {
    constexpr double kStart = kPlotLeft + 20, kEnd = kPlotRight - 20;
    if (axes_.is_linear) return kStart + (value - first_) / (last_ - first_) * (kEnd - kStart);
    return report_parts::Axis{first_, last_, kStart, kEnd}.place(value);
  }
  double y(double value) const { return y_.place(value); }

  std::string grid() const {
    std::string svg;
    for (const double mark : y_marks(y_.low, y_.high)) {
      svg += report_parts::line(kPlotLeft, y(mark), kPlotRight, y(mark), "#dfe3e9");
      svg += report_parts::text(kPlotLeft - 8, y(mark) + 4, "end", escape_markup(axes_.y_text(mark)));
    }
    double free = 0;
    for (const double place : places_) {
      const std::string text = axes_.x_text(place);
      const double half = 3.8 * static_cast<double>(text.size());
      if (x(place) - half < free) continue;
      svg += report_parts::text(x(place), kPlotBottom + 20, "middle", escape_markup(text));
      free = x(place) + half + 8;
    }
    return svg + report_parts::text((kPlotLeft + kPlotRight) / 2, kPlotBottom + 46, "middle",
                                    escape_markup(axes_.across));
  }

  std::string lines(const ChartSeries& series, std::size_t number) const {
    const char* const colour = kColours[number % kColours.size()];
    const char* const dash = number >= kColours.size() ? " stroke-dasharray=\"6 4\"" : "";
    std::string svg, points;
    for (const ChartPoint& point : series.points) {
      if (point.y <= 0) continue;
      points += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y));
      if (point.low > 0 && point.high > point.low)
        svg += report_parts::line(x(point.x), y(point.low), x(point.x), y(point.high), colour);
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x(point.x),
                         y(point.y), colour);
    }
    svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points,
                       colour, dash);
    const double row = kPlotTop + 12 + kLegendRow * static_cast<double>(number);
    svg += fmt::format(
        "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"{3}\" stroke-width=\"2\"{4}/>\n",
        kPlotRight + 20, row - 4, kPlotRight + 48, colour, dash);
    return svg + report_parts::text(kPlotRight + 56, row, "start", escape_markup(series.name));
  }

 private:
  const ChartAxes& axes_;
  std::set<double> places_;
  double first_ = 0, last_ = 1;
  report_parts::Axis y_;
};

}  // namespace

std::string line_chart(const ChartAxes& axes, const std::vector<ChartSeries>& series) {
  const Plot plot(axes, series);
  if (plot.is_empty()) return "";
  const double height = std::max(420.0, kPlotTop + 24 + kLegendRow * static_cast<double>(series.size()));
  std::string lines = plot.grid();
  for (std::size_t i = 0; i < series.size(); ++i) lines += plot.lines(series[i], i);
  return report_parts::picture(kPlotWidth, height, axes.label, lines);
}

}  // namespace sightline::apps
