#pragma once
/// Plots: lines, stairs, bars and maps over axes, as SVG.

#include <functional>
#include <string>
#include <vector>

namespace sightline::report {

struct Axis {
  std::string label = {};  ///< with its unit
  bool is_logarithmic = false;
  double low = 0, high = 0;          ///< both 0: round numbers around the values
  bool is_marked_by_points = false;  ///< has marks at the points' values, instead of round ones
  /// Text of a mark. Default: the number.
  std::function<std::string(double)> text = {};
  std::vector<std::string> names = {};  ///< of the values 0, 1, ..., from the top
};

struct PlotPoint {
  double x = 0;
  double y = 0;              ///< on a logarithmic axis: left out where it is not above 0
  double low = 0, high = 0;  ///< ends of a line through the point; both 0: none
};

struct Line {
  enum class Form {
    dots,    ///< a line with a dot at each point
    plain,   ///< a line
    stairs,  ///< y holds until the next point's x
    bars     ///< a bar from 0 to each y, as wide as 1
  };
  std::string name;  ///< in the legend; may be empty
  std::vector<PlotPoint> points;
  Form form = Form::dots;
  double width = 2;
};

/// A bar from left to right that is made of pieces.
struct StackedBar {
  struct Piece {
    double value = 0;
    std::string colour;
    std::string name;
  };
  std::string label;
  std::vector<Piece> pieces = {};
  double spread = 0;         ///< at both sides of the end
  std::string missing = {};  ///< why there is no bar

  double whole() const;
};

/// A place of a map: its colour goes by the logarithm of the value, from the least to the largest of the map.
struct MapCell {
  double value = 0;       ///< above 0
  std::string mark = {};  ///< behind the number, which is shown where there is room
};

struct Chart {
  std::string label;       ///< what it shows, for screen readers
  std::string title = {};  ///< above the plot
  std::string subtitle = {};
  Axis x = {}, y = {};
  std::vector<Line> lines = {};
  std::vector<StackedBar> bars = {};             ///< instead of lines; y has their names
  std::vector<std::vector<MapCell>> cells = {};  ///< likewise: rows from the top; x and y have the names
  double width = 1080, height = 340;             ///< of all, and of a plot of lines
};

/// Charts below each other, as a picture. Empty where nothing has a point.
std::string to_svg(const std::vector<Chart>& charts);

/// Colour of the n-th line, which colour-blind readers can tell from its neighbours.
const char* line_colour(std::size_t number);

}  // namespace sightline::report
