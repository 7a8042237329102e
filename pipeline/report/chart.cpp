#include "pipeline/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/columns.hpp"
#include "base/markup.hpp"
#include "pipeline/report/document.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::report {

using namespace report_parts;
namespace {

constexpr double kLetter = 7.2, kRow = 22;
constexpr double kBeyond = 1.0001;  // marks this far beyond the end of an axis are on it
constexpr const char* kGrid = "#dfe3e9";
constexpr const char* kFaint = "#eef0f2";

double length_of(const std::string& text) {
  return kLetter * static_cast<double>(columns_of(text));
}

std::string stroke_of(std::size_t number, double width) {
  constexpr const char* kDashes[] = {"", " stroke-dasharray=\"8 4\"", " stroke-dasharray=\"2 4\""};
  return fmt::format(" fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\"{}", line_colour(number), width,
                     kDashes[number / kColours.size() % 3]);
}

std::string rectangle(double x, double y, double width, const std::string& colour, const std::string& title) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"15\" fill=\"{}\"><title>{}</title></rect>\n", at(x),
      at(y), width, colour, escape_markup(title));
}

// The colour from green over yellow to red. @param share  0: the least value, 1: the largest
std::string map_colour(double share) {
  constexpr std::array<std::array<double, 3>, 3> kStops{{{122, 196, 184}, {245, 236, 205}, {224, 142, 111}}};
  const std::size_t from = share < 0.5 ? 0 : 1;
  const double part = 2 * share - static_cast<double>(from);
  std::string colour = "#";
  for (std::size_t i = 0; i < 3; ++i)
    colour +=
        fmt::format("{:02x}", std::lround(kStops[from][i] + part * (kStops[from + 1][i] - kStops[from][i])));
  return colour;
}

// An axis with its marks; those without text are faint.
struct Scale {
  report_parts::Axis places;
  std::vector<std::pair<double, std::string>> marks;

  Scale(const Axis& axis, const std::set<double>& values, double start, double end) {
    const double most = std::max(std::abs(end - start) / (start < end ? 70 : 40), 2.0);
    const double least = values.empty() ? 1 : *values.begin(),
                 greatest = values.empty() ? 1 : *values.rbegin();
    double low = axis.low, high = axis.high;
    if (!axis.names.empty()) {
      low = -0.5, high = static_cast<double>(axis.names.size()) - 0.5;
      if (start > end) std::swap(start, end);
    } else if (axis.is_marked_by_points) {
      low = least, high = greatest > least ? greatest : least + std::max(std::abs(least), 1.0);
      start += 20, end -= 20;
    } else if (low == 0 && high == 0 && axis.is_logarithmic) {
      low = round_down(least), high = std::max(round_up(greatest), 2 * low);
    } else if (low == 0 && high == 0) {
      const double step = greatest > 0 ? round_step(greatest, most) : 1;
      high = std::max(std::ceil(greatest / step - 1e-9), 1.0) * step;
    }
    places = {low, high, start, end, !axis.is_logarithmic};
    const auto mark = [&](double value, bool has_text = true) {
      marks.emplace_back(value, !has_text ? "" : axis.text ? axis.text(value) : fmt::format("{:g}", value));
    };
    if (!axis.names.empty()) {
      for (const std::string& name : axis.names) marks.emplace_back(static_cast<double>(marks.size()), name);
    } else if (axis.is_marked_by_points) {
      for (const double value : values) mark(value);
    } else if (axis.is_logarithmic) {
      const bool is_wide = high > 1001 * low;  // only powers of ten have a text
      for (int exponent = static_cast<int>(std::floor(std::log10(low)));
           std::pow(10, exponent) < high * kBeyond; ++exponent) {
        for (int times = 1; times <= 9; ++times) {
          const double value = std::stod(fmt::format("{}e{}", times, exponent));
          if (value * kBeyond >= low && value <= high * kBeyond)
            mark(value, times == 1 || (!is_wide && (times == 2 || times == 5)));
        }
      }
    } else {
      const double step = round_step(high - low, most);
      for (double i = std::ceil(low / step - 1e-9) + 0.0; i * step <= low + (high - low) * kBeyond; ++i)
        mark(i * step);
    }
  }

  double operator()(double value) const { return places.place(value); }
};

// Values along both axes.
struct Extents {
  std::set<double> x, y;

  explicit Extents(const Chart& chart) {
    for (const Line& line : chart.lines) {
      for (const PlotPoint& point : line.points) {
        if (!is_shown(chart, line, point)) continue;
        x.insert(point.x);
        // Bars after the first ones may be cut off.
        const bool widens = line.form != Line::Form::bars || &line == &chart.lines.front();
        for (const double value : {point.y, point.low, point.high})
          if (widens && value > 0) y.insert(value);
      }
    }
    for (const StackedBar& bar : chart.bars) x.insert(bar.whole() + bar.spread);
    if (!chart.cells.empty()) x.insert(0);
  }
  static bool is_shown(const Chart& chart, const Line& line, const PlotPoint& point) {
    return !chart.y.is_logarithmic || point.y > 0 || line.form == Line::Form::stairs;
  }
};

struct LegendEntry {
  std::string stroke, text;
};

// What the colours mean, each once.
std::vector<LegendEntry> legend_of(const Chart& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    if (!line.name.empty())
      entries.push_back({stroke_of(i, line.form == Line::Form::bars ? 12 : line.width), line.name});
  }
  std::size_t pieces = 0;
  for (const StackedBar& bar : chart.bars) pieces = std::max(pieces, bar.pieces.size());
  for (std::size_t i = 0; i < pieces; ++i) {
    for (const StackedBar& bar : chart.bars) {
      if (i >= bar.pieces.size()) continue;
      const StackedBar::Piece& piece = bar.pieces[i];
      if (piece.value > 0 && std::ranges::find(entries, piece.name, &LegendEntry::text) == entries.end())
        entries.push_back({" stroke=\"" + piece.colour + "\" stroke-width=\"12\"", piece.name});
    }
  }
  return entries;
}

class Plot {
 public:
  // Below `top`.
  Plot(const Chart& chart, const Extents& seen, double top)
      : c_(chart),
        top_(top + (chart.title.empty()      ? 16
                    : chart.subtitle.empty() ? 44
                                             : 58)),
        bottom_(top_ + height_of(chart)),
        y_(chart.y, seen.y, bottom_, top_),
        left_(left_of()),
        x_(chart.x, seen.x, left_, chart.width - (chart.bars.empty() ? 24 : 70)) {}

  std::string svg() const {
    std::string svg;
    if (!c_.title.empty())
      svg += text(left_, top_ - (c_.subtitle.empty() ? 20 : 36), "start", escape_markup(c_.title),
                  " font-size=\"16\" font-weight=\"bold\"");
    if (!c_.subtitle.empty())
      svg +=
          text(left_, top_ - 16, "start", escape_markup(c_.subtitle), " fill=\"#6a737d\" font-size=\"12\"");
    svg += grid();
    for (std::size_t i = 0; i < c_.lines.size(); ++i) svg += line_of(c_.lines[i], i);
    for (std::size_t i = 0; i < c_.bars.size(); ++i) svg += bar_of(c_.bars[i], y_(static_cast<double>(i)));
    if (!c_.cells.empty()) svg += map();
    return svg + line(left_, bottom_, right(), bottom_, "#6a737d");
  }

  // In as many columns as there is room for; `end` moves to its lower end.
  std::string legend(double& end) const {
    const std::vector<LegendEntry> entries = legend_of(c_);
    end = bottom_ + (c_.x.label.empty() ? 36 : 60);
    if (entries.empty()) return "";
    double widest = 0;
    for (const LegendEntry& entry : entries) widest = std::max(widest, length_of(entry.text) + 60);
    const auto columns = static_cast<std::size_t>(std::max(std::floor((c_.width - left_) / widest), 1.0));
    std::string svg;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const double x = left_ + widest * static_cast<double>(i % columns);
      if (i % columns == 0) end += kRow;
      svg += "<path d=\"M" + at(x) + ' ' + at(end - 16) + "h30\"" + entries[i].stroke + "/>\n" +
             text(x + 40, end - 12, "start", escape_markup(entries[i].text));
    }
    return svg;
  }

 private:
  static double height_of(const Chart& chart) {
    const std::size_t rows = std::max(chart.bars.size(), chart.cells.size());
    return rows == 0 ? chart.height : kRow * static_cast<double>(rows);
  }
  double left_of() const {
    double widest = 0;
    for (const auto& [value, name] : y_.marks) widest = std::max(widest, length_of(name));
    return std::clamp(widest + 20, 50.0, 420.0) + (c_.y.label.empty() ? 0 : 22);
  }
  double right() const { return c_.width - 24; }

  std::string grid() const {
    std::string faint, strong, labels;
    for (const auto& [value, name] : y_.marks) {
      (name.empty() ? faint : strong) +=
          line(left_, y_(value), right(), y_(value), name.empty() ? kFaint : kGrid);
      if (!name.empty()) labels += text(left_ - 9, y_(value) + 4.5, "end", escape_markup(name));
    }
    double free = 0;
    for (const auto& [value, name] : x_.marks) {
      const double x = x_(value), half = length_of(name) / 2;
      (name.empty() ? faint : strong) += line(x, top_, x, bottom_, name.empty() ? kFaint : kGrid);
      if (name.empty() || x - half < free) continue;
      labels += text(x, bottom_ + 20, "middle", escape_markup(name));
      free = x + half + 8;
    }
    const double middle = (top_ + bottom_) / 2;
    if (!c_.x.label.empty())
      labels += text((left_ + right()) / 2, bottom_ + 44, "middle", escape_markup(c_.x.label));
    if (!c_.y.label.empty())
      labels += text(20, middle, "middle", escape_markup(c_.y.label),
                     fmt::format(" transform=\"rotate(-90 20 {})\"", at(middle)));
    return faint + strong + "<g fill=\"#444b54\">\n" + labels + "</g>\n";
  }

  std::string line_of(const Line& one, std::size_t number) const {
    if (one.form == Line::Form::bars) return columns_of(one, number);
    std::string svg, path;
    for (const PlotPoint& point : one.points) {
      if (one.form == Line::Form::stairs || !Extents::is_shown(c_, one, point)) continue;
      const std::string x = at(x_(point.x)), y = at(y_(point.y));
      path += (path.empty() ? "M" : "L") + x + ' ' + y;
      if (point.low != point.high)
        svg += line(x_(point.x), y_(point.low), x_(point.x), y_(point.high), line_colour(number));
      if (one.form == Line::Form::dots)
        svg += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3\" fill=\"" + line_colour(number) + "\"/>\n";
    }
    if (one.form == Line::Form::stairs) path = stairs(one);
    return svg + "<path d=\"" + path + "\"" + stroke_of(number, one.width) + "/>\n";
  }

  std::string stairs(const Line& one) const {
    std::string path, last_x, last_y;
    for (std::size_t i = 0; i < one.points.size(); ++i) {
      const std::string x = at(x_(one.points[i].x)), y = at(y_(one.points[i].y));
      if (i == 0) path = "M" + x + ' ' + y;
      // Steps along the level are drawn once, when the level is left or the line ends.
      const bool is_left = i > 0 && (y != last_y || i + 1 == one.points.size());
      if (is_left && x != last_x) path += "H" + x;
      if (is_left && y != last_y) path += "V" + y;
      if (i == 0 || is_left) last_x = x;
      last_y = y;
    }
    // A point by itself would not be drawn.
    return path.find('H') == std::string::npos ? path + "h8" : path;
  }

  std::string columns_of(const Line& one, std::size_t number) const {
    const double step = x_(1) - x_(0), half = (step > 4 ? 0.85 : 1) * step / 2;
    std::string path;
    for (const PlotPoint& point : one.points) {
      const double x = x_(point.x);
      if (point.y > 0)
        path += fmt::format("M{} {}V{:.2f}H{}V{}Z", at(x - half), at(bottom_), y_(point.y), at(x + half),
                            at(bottom_));
    }
    return "<path d=\"" + path + "\" fill=\"" + line_colour(number) + "\"/>\n";
  }

  std::string bar_of(const StackedBar& bar, double y) const {
    std::string svg;
    double from = 0;
    for (const StackedBar::Piece& piece : bar.pieces) {
      if (piece.value <= 0) continue;
      svg += rectangle(x_(from), y - 7.5, x_(from + piece.value) - x_(from), piece.colour,
                       bar.label + ": " + piece.name + ": " + figures(piece.value));
      from += piece.value;
    }
    if (bar.spread > 0) svg += line(x_(from - bar.spread), y, x_(from + bar.spread), y, "#333333");
    return svg + text(x_(from + bar.spread) + 6, y + 4.5, "start",
                      escape_markup(bar.missing.empty() ? figures(from) : bar.missing), " font-size=\"12\"");
  }

  std::string map() const {
    double least = INFINITY, greatest = 0;
    for (const std::vector<MapCell>& row : c_.cells) {
      for (const MapCell& cell : row)
        least = std::min(least, cell.value), greatest = std::max(greatest, cell.value);
    }
    std::string svg;
    for (std::size_t row = 0; row < c_.cells.size(); ++row) {
      const double y = y_(static_cast<double>(row));
      for (std::size_t column = 0; column < c_.cells[row].size(); ++column) {
        const MapCell& cell = c_.cells[row][column];
        const double x = x_(static_cast<double>(column)), width = x_(1) - x_(0);
        const double share = greatest > least ? std::log(cell.value / least) / std::log(greatest / least) : 0;
        const std::string number = figures(cell.value) + cell.mark;
        svg += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}, {}: "
            "{}</title></rect>\n",
            at(x - width / 2), at(y - kRow / 2), width, at(kRow), map_colour(share),
            escape_markup(c_.x.names[column]), escape_markup(c_.y.names[row]), number);
        if (length_of(number) < width) svg += text(x, y + 4.5, "middle", number);
      }
    }
    return svg;
  }

  const Chart& c_;
  double top_, bottom_;
  Scale y_;
  double left_;
  Scale x_;
};

}  // namespace

double StackedBar::whole() const {
  double sum = 0;
  for (const Piece& piece : pieces) sum += std::max(piece.value, 0.0);
  return sum;
}

const char* line_colour(std::size_t number) {
  return kColours[number % kColours.size()];
}

std::string to_svg(const std::vector<Chart>& charts) {
  std::string plots;
  double end = 0, width = 0;
  for (Chart chart : charts) {
    for (const StackedBar& bar : chart.bars) chart.y.names.push_back(bar.label);
    const Extents seen(chart);
    if (seen.x.empty()) continue;
    const Plot plot(chart, seen, end);
    plots += plot.svg() + plot.legend(end);
    width = std::max(width, chart.width);
  }
  return plots.empty() ? "" : picture(width, end, charts.front().label, plots);
}

}  // namespace sightline::report
