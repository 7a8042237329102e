#include "pipeline/report/curve_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/markup.hpp"
#include "base/text.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline {

using namespace report_parts;

namespace {

std::string power_of_ten(int exponent) {
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  constexpr std::array<const char*, 10> raised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent)))
    text += raised[static_cast<std::size_t>(digit - '0')];
  return text;
}

/// One style of dashes for each round through the colours.
constexpr std::array<const char*, 3> kDashes{"", "8 4", "2 4"};

constexpr double kWidth = 760;
constexpr double kLeft = 84;
constexpr double kRight = kWidth - 28;
constexpr double kTop = 64;
constexpr double kBottom = 484;
constexpr double kLegendTop = kBottom + 82;
constexpr double kLegendRow = 24;

/// Whole decades around the curves' false positive rates, at least two and at most seven. A rate is never on
/// the left edge, so that what a curve reaches without false positives shows.
Axis horizontal_axis(std::span<const NamedCurve> curves) {
  double low = 1;
  double high = 0;
  for (const auto& curve : curves) {
    for (const auto& point : curve.points) {
      if (point.false_positive_rate <= 0) continue;
      low = std::min(low, point.false_positive_rate);
      high = std::max(high, point.false_positive_rate);
    }
  }
  int last = high > 0 ? static_cast<int>(std::ceil(std::log10(high) - 1e-9)) : 0;
  int first = high > 0 ? static_cast<int>(std::floor(std::log10(low) - 1e-9)) : -3;
  last = std::max(last, first + 2);
  first = std::max(first, last - 7);
  return {std::pow(10.0, first), std::pow(10.0, last), kLeft, kRight};
}

/// From 1 down to the next of 1, 2 or 5 times a power of ten below the lowest miss rate, 1e-4 at least.
Axis vertical_axis(std::span<const NamedCurve> curves) {
  double lowest = 0.5;
  for (const auto& curve : curves) {
    for (const auto& point : curve.points) {
      if (point.miss_rate > 0) lowest = std::min(lowest, point.miss_rate);
    }
  }
  double low = 1;
  for (int exponent = -1; low > lowest && exponent >= -4; --exponent) {
    for (const double step : {5.0, 2.0, 1.0}) {
      if (low > lowest) low = step * std::pow(10.0, exponent);
    }
  }
  return {std::min(low, 0.2), 1.0, kBottom, kTop};
}

std::string grid(const Axis& x, const Axis& y) {
  std::string faint;
  std::string strong;
  std::string labels;
  const int first = static_cast<int>(std::lround(std::log10(x.low)));
  const int last = static_cast<int>(std::lround(std::log10(x.high)));
  for (int exponent = first; exponent <= last; ++exponent) {
    const double decade = std::pow(10.0, exponent);
    const double place = x.place(decade);
    strong += line(place, kTop, place, kBottom, "#cfd4da");
    labels += text(place, kBottom + 20, "middle", power_of_ten(exponent));
    for (int step = 2; step <= 9 && exponent < last; ++step) {
      faint += line(x.place(step * decade), kTop, x.place(step * decade), kBottom, "#eef0f2");
    }
  }
  const bool many_decades = y.low < 0.001;
  for (int exponent = -4; exponent <= 0; ++exponent) {
    for (int step = 1; step <= 9; ++step) {
      const double value = step * std::pow(10.0, exponent);
      if (value < y.low * 0.999 || value > 1.001) continue;
      const bool labelled = step == 1 || (!many_decades && (step == 2 || step == 5));
      (labelled ? strong : faint) +=
          line(kLeft, y.place(value), kRight, y.place(value), labelled ? "#cfd4da" : "#eef0f2");
      if (labelled) labels += text(kLeft - 10, y.place(value) + 4.5, "end", percent(value));
    }
  }
  return "<g fill=\"none\" stroke-width=\"1\">\n" + faint + strong + "</g>\n<g fill=\"#444b54\">\n" + labels +
         "</g>\n";
}

/// The staircase of a curve: a miss rate holds until a higher false positive rate buys a lower one.
std::string staircase(const NamedCurve& curve, const Axis& x, const Axis& y) {
  double miss = 1;
  std::size_t i = 0;
  for (; i < curve.points.size() && curve.points[i].false_positive_rate <= x.low; ++i)
    miss = curve.points[i].miss_rate;
  std::string last_x = at(x.place(x.low));
  std::string last_y = at(y.place(miss));
  std::string path = "M" + last_x + ' ' + last_y;
  for (; i < curve.points.size(); ++i) {
    const std::string next_x = at(x.place(curve.points[i].false_positive_rate));
    const std::string next_y = at(y.place(curve.points[i].miss_rate));
    const bool ends = i + 1 == curve.points.size();
    // Steps along the level are drawn once, when the level is left or the curve ends.
    if (next_x != last_x && (next_y != last_y || ends)) path += "H" + next_x;
    if (next_y != last_y) path += "V" + next_y;
    if (next_y != last_y || ends) last_x = next_x;
    last_y = next_y;
  }
  // Without one false positive the curve would be a point, and not be drawn.
  if (path.find('H') == std::string::npos) path += "h8";
  return path;
}

std::string line_style(std::size_t index) {
  const char* dashes = kDashes[index / kColours.size() % kDashes.size()];
  return std::string(" stroke=\"") + kColours[index % kColours.size()] + "\"" +
         (*dashes ? std::string(" stroke-dasharray=\"") + dashes + "\"" : "");
}

/// A name that leaves room for what follows it in the legend; the whole name is the tooltip of the curve.
std::string shortened(const std::string& name) {
  constexpr int longest = 34;
  int characters = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts =
        (static_cast<unsigned char>(name[i]) & 0xC0U) != 0x80U;  // not inside a UTF-8 sequence
    if (starts && ++characters > longest) return name.substr(0, i) + "…";
  }
  return name;
}

std::string legend_row(const NamedCurve& curve, std::size_t index, const char* unit) {
  const double y = kLegendTop + kLegendRow * static_cast<double>(index);
  return "<path d=\"M" + at(kLeft) + ' ' + at(y - 4.5) + "h32\" fill=\"none\" stroke-width=\"2.5\"" +
         line_style(index) + "/>\n" +
         text(kLeft + 44, y, "start", escape_markup(shortened(curve.name)), " fill=\"#1f2429\"") +
         text(kLeft + 418, y, "end", escape_markup(curve.summary), " fill=\"#1f2429\" font-weight=\"bold\"") +
         text(kRight, y, "end",
              grouped(curve.positives) + " positives, " + grouped(curve.trials) + ' ' + unit,
              " fill=\"#6a737d\" font-size=\"12\"");
}

}  // namespace

std::string curves_as_svg(std::span<const NamedCurve> curves, FalsePositiveUnit unit,
                          const std::string& title) {
  const std::string one = unit_name(unit);
  const Axis x = horizontal_axis(curves);
  const Axis y = vertical_axis(curves);
  const double height = kLegendTop + kLegendRow * static_cast<double>(curves.size()) + 6;
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + at(kWidth) + "\" height=\"" + at(height) +
      "\" viewBox=\"0 0 " + at(kWidth) + ' ' + at(height) +
      "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\">\n<title>" +
      escape_markup(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += text(kLeft, 38, "start", escape_markup(title),
              " font-size=\"18\" font-weight=\"bold\" fill=\"#1f2429\"");
  svg += grid(x, y);
  svg += "<g fill=\"none\" stroke-width=\"2.2\" stroke-linejoin=\"round\">\n";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    svg += "<path d=\"" + staircase(curves[i], x, y) + "\"" + line_style(i) + "><title>" +
           escape_markup(curves[i].name) + "</title></path>\n";
  }
  svg += "</g>\n<rect x=\"" + at(kLeft) + "\" y=\"" + at(kTop) + "\" width=\"" + at(kRight - kLeft) +
         "\" height=\"" + at(kBottom - kTop) +
         "\" fill=\"none\" stroke=\"#6a737d\"/>\n<g fill=\"#1f2429\" font-size=\"14\">\n";
  svg += text((kLeft + kRight) / 2, kBottom + 46, "middle", "false positives per " + one);
  const std::string middle = at((kTop + kBottom) / 2);
  svg +=
      text(26, (kTop + kBottom) / 2, "middle", "miss rate", " transform=\"rotate(-90 26 " + middle + ")\"");
  svg += "</g>\n";
  for (std::size_t i = 0; i < curves.size(); ++i) svg += legend_row(curves[i], i, (one + 's').c_str());
  return svg + "</svg>\n";
}

}  // namespace sightline
