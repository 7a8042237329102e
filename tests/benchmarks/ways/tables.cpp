#include "ways/tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/markup.hpp"
#include "base/text.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::ways {

using namespace report_parts;

namespace {

// Three digits that say something.
std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f",
                value >= 99.5    ? 0
                : value >= 9.95  ? 1
                : value >= 0.995 ? 2
                                 : 3,
                value);
  return text;
}
std::string number(double value) {
  return value > 0 ? digits(value) : "-";
}
std::string share(double part, double whole) {
  return part > 0 && whole > 0 ? digits(100 * part / whole) + "%" : "-";
}
std::string times_as_fast(double other_ms, double ms) {
  return other_ms > 0 && ms > 0 ? digits(other_ms / ms) : "-";
}

// Multiply-adds a second.
double rate(double ms, const Yardstick& yardstick) {
  return ms > 0 ? yardstick.multiply_adds / (1e-3 * ms) : 0;
}

constexpr double kWidth = 900;
constexpr double kLeft = 288;
constexpr double kRight = kWidth - 150;
constexpr double kTop = 62;
constexpr double kRow = 23;
constexpr const char* kInk = "#1f2429";
constexpr const char* kGray = "#57606a";

std::size_t colour_of(const Times& one) {
  if (one.title.starts_with("OpenCL")) return 2;
  if (one.title.starts_with("OpenCV")) return 6;
  if (one.arithmetic == Arithmetic::exact) return 1;
  return one.title.starts_with("plain") ? 3 : one.title.starts_with("vectorised") ? 4 : 0;
}

std::string grid(const Axis& axis, double bottom) {
  std::string lines, labels;
  for (double unit = axis.low; unit < axis.high * 1.01; unit *= 10) {
    for (int step = 1; step <= 9 && step * unit < axis.high * 1.01; ++step) {
      const double x = axis.place(step * unit);
      lines += line(x, kTop, x, bottom, step == 1 ? "#cfd4da" : "#eef0f2");
      if (step == 1 || step == 3)
        labels += text(x, bottom + 18, "middle", shortest(std::round(step * unit * 1e6) / 1e6));
    }
  }
  return "<g fill=\"none\" stroke-width=\"1\">\n" + lines + "</g>\n<g fill=\"" + kGray + "\">\n" + labels +
         text((axis.start + axis.end) / 2, bottom + 38, "middle", "ms a frame, one thread") + "</g>\n";
}

std::string bar(const Times& one, const Axis& axis, const Yardstick& yardstick, double y) {
  const double ms = one.ms();
  const double end = axis.place(ms);
  std::string svg =
      text(kLeft - 10, y + 14, "end", escape_markup(one.title), std::string(" fill=\"") + kInk + "\"");
  svg += "<path d=\"M" + at(axis.start) + ' ' + at(y + 3) + "H" + at(end) + "v15H" + at(axis.start) +
         "z\" fill=\"" + kColours[colour_of(one)] + "\"/>\n";
  double label = end + 7;
  if (one.threads_ms > 0) {
    const double x = axis.place(one.threads_ms);
    svg += "<path d=\"M" + at(x) + ' ' + at(y + 4.5) + "l6 6l-6 6l-6 -6z\" fill=\"#ffffff\" stroke=\"" +
           kInk + "\"/>\n";
    label = std::max(label, x + 11);
  }
  return svg +
         text(label, y + 14, "start",
              digits(ms) + " ms, " + share(rate(ms, yardstick), one.on_gpu ? one.own_peak : yardstick.peak),
              std::string(" fill=\"") + kInk + "\"");
}

}  // namespace

std::string table(std::span<const Times> times, const Yardstick& yardstick) {
  std::vector<std::string> columns{yardstick.problem + ": ms a frame, one thread",
                                   "abs r, index",
                                   "of the peak",
                                   "of its own",
                                   "times scalar",
                                   "times filter2D",
                                   "r, index",
                                   "abs r alone",
                                   "every r",
                                   "sum of r"};
  if (yardstick.threads > 1) columns.push_back(std::to_string(yardstick.threads) + " threads");
  const auto row = [](const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line += " " + cell + " |";
    return line + "\n";
  };
  std::string text = row(columns) + row(std::vector<std::string>(columns.size(), "---"));
  for (const Times& one : times) {
    std::vector<std::string> cells{one.title,
                                   number(one.ms()),
                                   share(rate(one.ms(), yardstick), one.on_gpu ? 0 : yardstick.peak),
                                   share(rate(one.ms(), yardstick), one.own_peak),
                                   times_as_fast(yardstick.scalar_ms, one.ms()),
                                   times_as_fast(yardstick.opencv_ms, one.ms())};
    for (const Form form : {Form::value, Form::largest, Form::every, Form::sum})
      cells.push_back(number(one.form_ms[static_cast<int>(form)]));
    if (yardstick.threads > 1) cells.push_back(number(one.threads_ms));
    text += row(cells);
  }
  return text;
}

std::string picture(std::span<const Times> times, const Yardstick& yardstick) {
  std::vector<Times> shown;
  double least = 1e9, most = 0;
  for (const Times& one : times) {
    const double ms = one.ms();
    if (!one.picture || !(ms > 0)) continue;
    shown.push_back(one);
    least = std::min({least, ms, one.threads_ms > 0 ? one.threads_ms : ms});
    most = std::max(most, ms);
  }
  const Axis axis{std::pow(10.0, std::floor(std::log10(least * 0.99))), most * 1.05, kLeft, kRight};
  const double bottom = kTop + kRow * static_cast<double>(shown.size());
  const double height = bottom + 100;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + at(kWidth) + ' ' +
                    at(height) + "\" font-family=\"sans-serif\" font-size=\"13\">\n<path d=\"M0 0H" +
                    at(kWidth) + "V" + at(height) + "H0z\" fill=\"#ffffff\"/>\n";
  svg += text(kLeft, 26, "start", escape_markup("The filter stage, " + yardstick.problem),
              std::string(" font-size=\"17\" fill=\"") + kInk + "\"");
  svg += text(kLeft, 47, "start",
              "largest magnitude and its index; percentages are of the float multiply-add peak",
              std::string(" fill=\"") + kGray + "\"");
  svg += grid(axis, bottom);
  double y = kTop;
  for (const Times& one : shown) {
    svg += bar(one, axis, yardstick, y);
    y += kRow;
  }
  if (yardstick.threads > 1)
    svg += text(kLeft, bottom + 62, "start",
                escape_markup("◇ " + std::to_string(yardstick.threads) + " threads, by the clock"),
                std::string(" fill=\"") + kGray + "\"");
  svg += text(kLeft, bottom + 82, "start", escape_markup(yardstick.machine),
              std::string(" font-size=\"12\" fill=\"") + kGray + "\"");
  return svg + "</svg>\n";
}

}  // namespace sightline::ways
