#pragma once
/// SVG elements, axes and colours of plots. Private to the reports. Coordinates are SVG units from the
/// top left.

#include <array>
#include <string>

namespace sightline::report_parts {

/// A coordinate: a tenth of a unit is finer than a screen shows.
std::string at(double value);

/// An axis from `low` to `high` over the places from `start` to `end`; the ends of a logarithmic one are
/// above 0.
struct Axis {
  double low = 0;
  double high = 0;
  double start = 0;
  double end = 0;
  bool is_linear = false;

  /// Values outside the axis are put at its ends.
  double place(double value) const;
};

/// Colours that colour-blind readers can tell apart (M. Okabe, K. Ito, "Color Universal Design", 2008).
inline constexpr std::array<const char*, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#56B4E9", "#E69F00", "#333333"};

/// A whole picture on white, as pages have it.
/// @param label    what it shows, for people; not escaped yet
/// @param content  markup
std::string picture(double width, double height, const std::string& label, const std::string& content);

/// The smallest of 1, 2 and 5 times a power of ten that is no smaller than a value above 0, and the largest
/// that is no larger: where axes end, and how far their marks are apart.
double round_up(double value);
double round_down(double value);
/// A round number of which `range` has at most `most`; both above 0.
double round_step(double range, double most);

/// A path from one point to another.
std::string line(double x1, double y1, double x2, double y2, const char* colour);

/// @param anchor   "start", "middle" or "end"
/// @param content  markup: text must be escaped
/// @param more     further attributes, beginning with a blank
std::string text(double x, double y, const std::string& anchor, const std::string& content,
                 const std::string& more = "");

}  // namespace sightline::report_parts
