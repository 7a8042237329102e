#include "trade_off.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/markup.hpp"
#include "base/text.hpp"
#include "evaluation/report.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline {

using namespace report_parts;

namespace {

constexpr double kWidth = 800;
constexpr double kLeft = 76;
constexpr double kRight = kWidth - 28;
constexpr double kTop = 56;
constexpr double kBottom = 496;
constexpr double kLegendTop = kBottom + 78;
constexpr double kLegendRow = 22;
constexpr double kCaptionRow = 18;

constexpr const char* kInk = "#1f2429";
constexpr const char* kGray = "#57606a";

std::string rounded(double value, int decimals) {
  std::array<char, 64> digits;
  std::snprintf(digits.data(), digits.size(), "%.*f", decimals, value);
  return digits.data();
}

/// Three digits at least are told of a rate.
std::string rate_text(double rate) {
  return rounded(rate, rate < 100 ? 1 : 0);
}

template <typename T>
std::size_t index_in(const std::vector<T>& list, const T& value) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

/// The values of a member, each once, in the order in which they come.
template <typename T>
std::vector<T> distinct(std::span<const TradeOff> measured, T TradeOff::*member) {
  std::vector<T> values;
  for (const TradeOff& m : measured) {
    if (index_in(values, m.*member) == values.size()) values.push_back(m.*member);
  }
  return values;
}

/// The place of a value's first digit: 0.01 for 0.053.
double unit_of(double value) {
  return std::pow(10.0, std::floor(std::log10(value) + 1e-9));
}

/// From the values' first digits (the lowest's less one where it would lie on the edge) to the next above.
Axis axis_over(std::span<const TradeOff> measured, double TradeOff::*member, double start, double end) {
  if (measured.empty()) return {0.1, 1, start, end};
  const auto [low, high] =
      std::minmax_element(measured.begin(), measured.end(),
                          [member](const TradeOff& a, const TradeOff& b) { return a.*member < b.*member; });
  const double down = unit_of(*low.*member / 1.03);
  const double up = unit_of(*high.*member * 1.03);
  return {std::floor(*low.*member / 1.03 / down) * down, (std::floor(*high.*member * 1.03 / up) + 1) * up,
          start, end};
}

/// 1 to 9 times powers of ten; those with a 1, 2, 3 or 5 are labelled, on short axes all.
struct Tick {
  double value = 0;
  bool labelled = false;
};

std::vector<Tick> ticks_of(const Axis& axis) {
  std::vector<Tick> ticks;
  const bool all = axis.high / axis.low < 8;
  for (double unit = unit_of(axis.low); unit <= axis.high * 1.001; unit *= 10) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * unit;
      if (value < axis.low * 0.999 || value > axis.high * 1.001) continue;
      ticks.push_back({value, all || digit <= 3 || digit == 5});
    }
  }
  return ticks;
}

std::string grid(const Axis& x, const Axis& y) {
  std::string lines;
  std::string labels;
  const auto colour = [](const Tick& tick) { return tick.labelled ? "#d8dde2" : "#eef0f2"; };
  for (const Tick& tick : ticks_of(x)) {
    const double place = x.place(tick.value);
    lines += line(place, kTop, place, kBottom, colour(tick));
    if (tick.labelled)
      labels += text(place, kBottom + 20, "middle", shortest(std::round(tick.value * 1e6) / 1e6));
  }
  for (const Tick& tick : ticks_of(y)) {
    const double place = y.place(tick.value);
    lines += line(kLeft, place, kRight, place, colour(tick));
    if (tick.labelled) labels += text(kLeft - 10, place + 4.5, "end", percent(tick.value));
  }
  return "<g fill=\"none\" stroke-width=\"1\">\n" + lines + "</g>\n<g fill=\"" + kGray + "\">\n" + labels +
         "</g>\n";
}

/// A mark of its own for each scale step: circle, square, triangle, diamond, and again.
std::string mark(double x, double y, std::size_t kind) {
  switch (kind % 4) {
    case 0:
      return "M" + at(x - 5) + ' ' + at(y) + "a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z";
    case 1:
      return "M" + at(x - 4.5) + ' ' + at(y - 4.5) + "h9v9h-9z";
    case 2:
      return "M" + at(x) + ' ' + at(y - 6) + "l5.5 10h-11z";
    default:
      return "M" + at(x) + ' ' + at(y - 6) + "l6 6l-6 6l-6 -6z";
  }
}

/// Rooms in which text stands already.
class Labels {
 public:
  /// Markup of a text beside a point, where it covers least of what is there.
  std::string place(double x, double y, const std::string& content, const char* colour);
  void occupy(double x, double y, double radius) {
    taken_.push_back({x - radius, y - radius, 2 * radius, 2 * radius});
  }

 private:
  std::vector<Box> taken_;
};

std::string Labels::place(double x, double y, const std::string& content, const char* colour) {
  struct Place {
    double x, y;
    const char* anchor;
  };
  constexpr std::array<Place, 8> places{{{0, -11, "middle"},
                                         {0, 20, "middle"},
                                         {10, 4, "start"},
                                         {-10, 4, "end"},
                                         {9, -8, "start"},
                                         {9, 16, "start"},
                                         {-9, -8, "end"},
                                         {-9, 16, "end"}}};
  const double width = 7 * static_cast<double>(content.size());
  const auto room = [&](const Place& p) {
    const double left = x + p.x - (*p.anchor == 'm' ? width / 2 : *p.anchor == 'e' ? width : 0);
    return Box{left, y + p.y - 10, width, 12};
  };
  const auto covered = [&](const Place& p) {
    const Box box = room(p);
    double area = box.area() - intersection_area(box, {kLeft, kTop, kRight - kLeft, kBottom - kTop});
    for (const Box& other : taken_) area += intersection_area(box, other);
    return area;
  };
  const Place& best = *std::min_element(
      places.begin(), places.end(), [&](const Place& a, const Place& b) { return covered(a) < covered(b); });
  taken_.push_back(room(best));
  return text(x + best.x, y + best.y, best.anchor, escape_markup(content),
              std::string(" fill=\"") + colour + "\"");
}

const char* colour_of(std::size_t family) {
  return kColours[family % kColours.size()];
}

bool same_line(const TradeOff& a, const TradeOff& b) {
  return a.family == b.family && a.line == b.line;
}

std::string legend(const std::vector<std::string>& families, const std::vector<double>& steps,
                   const std::vector<std::string>& captions) {
  std::string svg;
  double x = kLeft;
  for (std::size_t i = 0; i < families.size(); ++i) {
    svg += "<path d=\"M" + at(x) + ' ' + at(kLegendTop - 4.5) + "h22\" stroke-width=\"3\" stroke=\"" +
           colour_of(i) + "\"/>\n" + text(x + 29, kLegendTop, "start", escape_markup(families[i]));
    x += 55 + 7.2 * static_cast<double>(families[i].size());
  }
  x = kLeft;
  svg += text(x, kLegendTop + kLegendRow, "start", "scale step");
  x += 88;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    svg += "<path d=\"" + mark(x, kLegendTop + kLegendRow - 4.5, i) + "\" fill=\"" + kGray + "\"/>\n" +
           text(x + 12, kLegendTop + kLegendRow, "start", shortest(steps[i]));
    x += 70;
  }
  double y = kLegendTop + 2 * kLegendRow + 4;
  for (const std::string& caption : captions) {
    svg += text(kLeft, y, "start", escape_markup(caption),
                std::string(" font-size=\"12\" fill=\"") + kGray + "\"");
    y += kCaptionRow;
  }
  return svg;
}

}  // namespace

std::string name_of(const TradeOff& measured) {
  std::string name = measured.family;
  for (const std::string& more : {measured.line, measured.variant}) name += more.empty() ? "" : ", " + more;
  return name;
}

std::vector<std::size_t> best_variants(std::span<const TradeOff> measured) {
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const TradeOff& m = measured[i];
    const auto rival = std::find_if(best.begin(), best.end(), [&](std::size_t b) {
      return same_line(measured[b], m) && measured[b].scale_step == m.scale_step;
    });
    if (rival == best.end()) {
      best.push_back(i);
    } else if (m.miss_rate < measured[*rival].miss_rate) {
      *rival = i;
    }
  }
  return best;
}

std::string trade_offs_as_csv(std::span<const TradeOff> measured) {
  std::string table =
      "family,line,scale_step,variant,frames_per_second,slowest,fastest,log_average_miss_rate\n";
  for (const TradeOff& m : measured) {
    const std::string speeds =
        m.rate > 0 ? shortest(m.rate) + ',' + shortest(m.slowest) + ',' + shortest(m.fastest) : ",,";
    table += csv_field(m.family) + ',' + csv_field(m.line) + ',' + shortest(m.scale_step) + ',' +
             csv_field(m.variant) + ',' + speeds + ',' + shortest(m.miss_rate) + '\n';
  }
  return table;
}

std::string trade_offs_as_markdown(std::span<const TradeOff> measured, const std::string& baseline) {
  std::string table = "| detector | scale step | frames/s | times " + baseline +
                      " | log-average miss rate |\n|---|---|---|---|---|\n";
  for (const TradeOff& m : measured) {
    const auto base = std::find_if(measured.begin(), measured.end(), [&](const TradeOff& b) {
      return b.family == baseline && b.scale_step == m.scale_step;
    });
    table += "| " + name_of(m) + " | " + shortest(m.scale_step) + " | " + rate_text(m.rate) + " | " +
             (base == measured.end() || m.family == baseline ? "" : rounded(m.rate / base->rate, 1)) + " | " +
             rounded(m.miss_rate, 3) + " |\n";
  }
  return table;
}

std::string trade_offs_as_svg(std::span<const TradeOff> measured, const std::string& title,
                              const std::vector<std::string>& captions) {
  const Axis x = axis_over(measured, &TradeOff::rate, kLeft, kRight);
  const Axis y = axis_over(measured, &TradeOff::miss_rate, kBottom, kTop);
  const std::vector<std::string> families = distinct(measured, &TradeOff::family);
  std::vector<double> steps = distinct(measured, &TradeOff::scale_step);
  std::sort(steps.begin(), steps.end());

  std::string lines;
  std::string marks;
  std::string names;
  Labels labels;
  for (const TradeOff& m : measured) labels.occupy(x.place(m.rate), y.place(m.miss_rate), 6);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const TradeOff& m = measured[i];
    const char* colour = colour_of(index_in(families, m.family));
    const double px = x.place(m.rate);
    const double py = y.place(m.miss_rate);
    const bool first = i == 0 || !same_line(measured[i - 1], m);
    const bool last = i + 1 == measured.size() || !same_line(m, measured[i + 1]);
    if (!first) {
      const TradeOff& before = measured[i - 1];
      lines += line(x.place(before.rate), y.place(before.miss_rate), px, py, colour);
    }
    if (last && !m.line.empty()) names += labels.place(px, py, m.label.empty() ? m.line : m.label, colour);
    const std::string tip = name_of(m) + ", scale step " + shortest(m.scale_step) + ": " + rate_text(m.rate) +
                            " frames/s, miss rate " + percent(m.miss_rate);
    marks += "<path d=\"" + mark(px, py, index_in(steps, m.scale_step)) + "\" fill=\"" + colour +
             "\"><title>" + escape_markup(tip) + "</title></path>\n";
  }

  const double height = kLegendTop + 2 * kLegendRow + kCaptionRow * static_cast<double>(captions.size()) + 6;
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + at(kWidth) + "\" height=\"" + at(height) +
      "\" viewBox=\"0 0 " + at(kWidth) + ' ' + at(height) +
      "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"13\">\n<title>" +
      escape_markup(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += text(kLeft, 34, "start", escape_markup(title),
              std::string(" font-size=\"18\" font-weight=\"bold\" fill=\"") + kInk + "\"");
  svg += grid(x, y);
  svg += "<rect x=\"" + at(kLeft) + "\" y=\"" + at(kTop) + "\" width=\"" + at(kRight - kLeft) +
         "\" height=\"" + at(kBottom - kTop) + "\" fill=\"none\" stroke=\"#8c959f\"/>\n";
  svg += "<g fill=\"none\" stroke-width=\"1.5\" stroke-opacity=\"0.4\">\n" + lines + "</g>\n";
  svg += "<g stroke=\"#ffffff\" stroke-width=\"1\">\n" + marks +
         "</g>\n<g font-size=\"12\" font-weight=\"bold\" stroke=\"#ffffff\" stroke-width=\"3\" "
         "stroke-linejoin=\"round\" paint-order=\"stroke\">\n" +
         names + "</g>\n";
  const std::string middle = at((kTop + kBottom) / 2);
  svg += std::string("<g fill=\"") + kInk + "\" font-size=\"14\">\n" +
         text((kLeft + kRight) / 2, kBottom + 44, "middle", "frames/s (faster →)") +
         text(22, (kTop + kBottom) / 2, "middle", "log-average miss rate (← better)",
              " transform=\"rotate(-90 22 " + middle + ")\"") +
         legend(families, steps, captions) + "</g>\n";
  return svg + "</svg>\n";
}

}  // namespace sightline
