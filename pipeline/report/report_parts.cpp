#include "pipeline/report/report_parts.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/markup.hpp"

namespace sightline::report_parts {

std::string at(double value) {
  std::array<char, 64> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), std::round(value * 10) / 10);
  return {text.data(), result.ptr};
}

double Axis::place(double value) const {
  const double inside = std::clamp(value, low, high);
  const double part =
      is_linear ? (inside - low) / (high - low) : std::log(inside / low) / std::log(high / low);
  return start + part * (end - start);
}

std::string picture(double width, double height, const std::string& label, const std::string& content) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + at(width) + ' ' + at(height) +
         "\" width=\"" + at(width) + "\" height=\"" + at(height) + "\" role=\"img\" aria-label=\"" +
         escape_markup(label) +
         "\" font-family=\"sans-serif\" font-size=\"13\">\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" +
         content + "</svg>\n";
}

namespace {

constexpr double kFactors[] = {1, 2, 5};
constexpr double kRounding = 1e-9;  // of powers and of what values are made of

double power_below(double value) {
  return std::pow(10.0, std::floor(std::log10(value) + kRounding));
}

}  // namespace

double round_up(double value) {
  const double power = power_below(value);
  for (const double factor : kFactors) {
    if (factor * power >= value * (1 - kRounding)) return factor * power;
  }
  return 10 * power;
}

double round_down(double value) {
  const double power = power_below(value);
  double best = power;
  for (const double factor : kFactors) {
    if (factor * power <= value * (1 + kRounding)) best = factor * power;
  }
  return best;
}

double round_step(double range, double most) {
  return round_up(range / most);
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return "<path d=\"M" + at(x1) + ' ' + at(y1) + 'L' + at(x2) + ' ' + at(y2) + "\" stroke=\"" + colour +
         "\"/>\n";
}

std::string text(double x, double y, const std::string& anchor, const std::string& content,
                 const std::string& more) {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" +
         content + "</text>\n";
}

}  // namespace sightline::report_parts
