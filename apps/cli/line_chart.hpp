#pragma once
/// Plots of pages: lines over a logarithmic or a linear axis, as SVG.

#include <functional>
#include <string>
#include <vector>

namespace sightline::apps {

struct ChartPoint {
  double x = 0;
  double y = 0;     ///< not above 0: the point is left out
  double low = 0;   ///< a bar from here ...
  double high = 0;  ///< ... to here; 0: none
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;
};

struct ChartAxes {
  std::string label;   ///< of the whole, for readers of the screen
  std::string across;  ///< what x is, with its unit
  std::function<std::string(double)> x_text;
  std::function<std::string(double)> y_text;
  bool is_linear = false;  ///< x; y is logarithmic in any case
};

/// Each series in a colour of its own, its name beside the plot, dashed where colours run out. x is marked at
/// its values as far as there is room for their texts. Empty where no point has a y.
std::string line_chart(const ChartAxes& axes, const std::vector<ChartSeries>& series);

}  // namespace sightline::apps
