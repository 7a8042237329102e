#include "pipeline/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/markup.hpp"
#include "pipeline/report/document.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::report {

using namespace report_parts;
namespace {

constexpr double kLetter = 7.2, kRow = 22, kBarWidth = 30, kBarGap = 8, kGroupGap = 26, kUnderBars = 74;
constexpr double kShownFrom = 1.0001;  // marks this far beyond the end of an axis are on it
constexpr const char* kGrid = "#dfe3e9";
constexpr const char* kFaint = "#eef0f2";
constexpr const char* kInk = "#1f2429";

double length_of(const std::string& text) {
  return kLetter * static_cast<double>(width_of(text));
}

// A name of at most `longest` characters.
std::string shortened(const std::string& name, int longest) {
  int characters = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((name[i] & 0xc0) != 0x80 && ++characters > longest) return name.substr(0, i) + "…";
  }
  return name;
}

std::string stroke_of(std::size_t number, double width) {
  constexpr const char* kDashes[] = {"", " stroke-dasharray=\"8 4\"", " stroke-dasharray=\"2 4\""};
  return fmt::format(" fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\"{}", line_colour(number), width,
                     kDashes[number / kColours.size() % 3]);
}

std::string rectangle(double x, double y, double width, double height, const std::string& colour,
                      const std::string& title) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{:.2f}\" fill=\"{}\"><title>{}</title></rect>\n", at(x),
      at(y), at(width), height, colour, escape_markup(title));
}

// Values along an axis.
struct Extent {
  std::set<double> values;
  double low = 1e300, high = -1e300;

  void add(double value, const Axis& axis) {
    if (!std::isfinite(value) || (axis.is_logarithmic && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// A mark, and its text: faint where it has none.
struct Mark {
  double value = 0;
  std::string text;
};

// An axis with its marks.
struct Scale {
  report_parts::Axis places;
  std::vector<Mark> marks;

  Scale() = default;
  Scale(const Axis& axis, const Extent& seen, double start, double end) {
    const double length = std::abs(end - start), most = std::max(length / (start < end ? 70 : 40), 2.0);
    double low = axis.low, high = axis.high;
    const bool is_given = low != 0 || high != 0;
    if (!axis.names.empty()) {
      low = -0.5, high = static_cast<double>(axis.names.size()) - 0.5;
      if (start > end) std::swap(start, end);  // from the top
    } else if (axis.is_marked_by_points) {
      low = seen.low, high = seen.high > seen.low ? seen.high : seen.low + std::max(std::abs(seen.low), 1.0);
      start += start < end ? 20 : -20, end += start < end ? -20 : 20;
    } else if (!is_given && axis.is_logarithmic) {
      low = round_down(seen.low), high = std::max(round_up(seen.high), 2 * low);
    } else if (!is_given) {
      const double step = seen.high > 0 ? round_step(seen.high, most) : 1;
      low = 0, high = std::max(std::ceil(seen.high / step - 1e-9), 1.0) * step;
    }
    places = {low, high, start, end, !axis.is_logarithmic};
    const auto mark = [&](double value, bool has_text) {
      const std::string text = axis.text ? axis.text(value) : fmt::format("{:g}", value);
      marks.push_back({value, has_text ? text : ""});
    };
    if (!axis.names.empty()) {
      for (std::size_t i = 0; i < axis.names.size(); ++i)
        marks.push_back({static_cast<double>(i), axis.names[i]});
    } else if (axis.is_marked_by_points) {
      for (const double value : seen.values) mark(value, true);
    } else if (axis.is_logarithmic) {
      const bool is_wide = high > 1001 * low;  // only powers of ten have a text
      for (double power = std::pow(10, std::floor(std::log10(low) + 1e-9)); power <= high * kShownFrom;
           power *= 10) {
        for (int times = 1; times <= 9; ++times) {
          const double value = std::stod(fmt::format("{:.6g}", times * power));
          if (value * kShownFrom < low || value > high * kShownFrom) continue;
          mark(value, times == 1 || (!is_wide && (times == 2 || times == 5)));
        }
      }
    } else {
      const double step = round_step(high - low, most);
      for (double i = std::ceil(low / step - 1e-9); i * step <= low + (high - low) * kShownFrom; ++i)
        mark(i * step, true);
    }
  }

  double operator()(double value) const { return places.place(value); }
};

class Plot {
 public:
  Plot(const Chart& chart, double top) : c_(chart) {
    for (const Line& line : chart.lines) {
      for (const PlotPoint& point : line.points) {
        if (line.form == Line::Form::dots && chart.y.is_logarithmic && point.y <= 0) continue;
        is_empty_ = false;
        seen_x_.add(point.x, chart.x);
        seen_x_.values.insert(point.x);
        for (const double value : {point.y, point.low, point.high})
          if (value != 0) seen_y_.add(value, chart.y);
      }
    }
    for (const StackedBar& bar : chart.bars) {
      is_empty_ = false;
      seen_y_.add(bar.whole() + bar.spread, chart.y);
    }
    top_ = top + (chart.subtitle.empty() ? chart.title.empty() ? 16 : 44 : 58);
    bottom_ = top_ + chart.height;
    if (is_empty_) return;
    y_ = Scale(chart.y, seen_y_, bottom_, top_);
    double widest = 0, legend = 0;
    for (const Mark& mark : y_.marks) widest = std::max(widest, length_of(mark.text));
    left_ = std::clamp(widest + 20, 50.0, 420.0) + (chart.y.label.empty() ? 0 : 22);
    for (const std::string& name : legend_names())
      legend = std::max(legend, std::min(length_of(name), 300.0) + 80);
    right_ = chart.bars.empty() ? chart.width - std::max(legend, 24.0) : end_of_bars();
    width_ = chart.bars.empty() ? chart.width : right_ + legend;
    if (chart.bars.empty()) x_ = Scale(chart.x, seen_x_, left_, right_);
  }

  bool is_empty() const { return is_empty_; }
  double width() const { return width_; }

  double end() const {
    const double below = has_legend_below() ? 24 + kRow * static_cast<double>(c_.lines.size()) : 0;
    return bottom_ + (c_.bars.empty() ? 34 + (c_.x.label.empty() ? 0 : 24) : kUnderBars) + below;
  }

  std::string svg() const {
    std::string svg = text(left_, top_ - (c_.subtitle.empty() ? 20 : 36), "start", escape_markup(c_.title),
                           fmt::format(" font-size=\"16\" font-weight=\"bold\" fill=\"{}\"", kInk));
    if (c_.title.empty()) svg.clear();
    if (!c_.subtitle.empty())
      svg +=
          text(left_, top_ - 16, "start", escape_markup(c_.subtitle), " fill=\"#6a737d\" font-size=\"12\"");
    svg += grid();
    if (!c_.bars.empty()) return svg + bars();
    for (std::size_t i = 0; i < c_.lines.size(); ++i) svg += line_of(c_.lines[i], i);
    svg += line(left_, bottom_, right_, bottom_, "#6a737d");
    return svg + legend();
  }

 private:
  bool has_legend_below() const {
    return std::ranges::any_of(c_.lines,
                               [](const Line& one) { return !one.summary.empty() || !one.more.empty(); });
  }

  // Names beside the plot.
  std::vector<std::string> legend_names() const {
    std::vector<std::string> names;
    for (const StackedBar::Piece& piece : pieces()) names.push_back(piece.name);
    const auto is_named = [](const Line& one) {
      return one.form != Line::Form::bars && one.form != Line::Form::limit;
    };
    if (std::ranges::count_if(c_.lines, is_named) < 2 || has_legend_below()) return names;
    for (const Line& one : c_.lines)
      if (is_named(one)) names.push_back(one.name);
    return names;
  }

  // Each kind of piece once.
  std::vector<StackedBar::Piece> pieces() const {
    std::vector<StackedBar::Piece> all;
    for (const StackedBar& bar : c_.bars)
      for (const StackedBar::Piece& piece : bar.pieces)
        if (piece.value > 0 && std::ranges::find(all, piece.name, &StackedBar::Piece::name) == all.end())
          all.push_back(piece);
    return all;
  }

  std::string grid() const {
    std::string faint, strong, labels;
    for (const Mark& mark : y_.marks) {
      (mark.text.empty() ? faint : strong) +=
          line(left_, y_(mark.value), right_, y_(mark.value), mark.text.empty() ? kFaint : kGrid);
      if (!mark.text.empty())
        labels += text(left_ - 9, y_(mark.value) + 4.5, "end", escape_markup(mark.text));
    }
    double free = 0;
    for (const Mark& mark : x_.marks) {
      if (!c_.x.is_marked_by_points)
        (mark.text.empty() ? faint : strong) +=
            line(x_(mark.value), top_, x_(mark.value), bottom_, mark.text.empty() ? kFaint : kGrid);
      const double half = length_of(mark.text) / 2;
      if (mark.text.empty() || x_(mark.value) - half < free) continue;
      labels += text(x_(mark.value), bottom_ + 20, "middle", escape_markup(mark.text));
      free = x_(mark.value) + half + 8;
    }
    if (!c_.x.label.empty())
      labels += text((left_ + right_) / 2, bottom_ + 46, "middle", escape_markup(c_.x.label));
    const double middle = (top_ + bottom_) / 2;
    if (!c_.y.label.empty())
      labels += text(20, middle, "middle", escape_markup(c_.y.label),
                     fmt::format(" transform=\"rotate(-90 20 {})\"", at(middle)));
    return faint + strong + "<g fill=\"#444b54\">\n" + labels + "</g>\n";
  }

  std::string line_of(const Line& one, std::size_t number) const {
    std::string svg, path;
    switch (one.form) {
      case Line::Form::bars:
        return bars_of(one, number);
      case Line::Form::limit:
        if (one.points.empty() || one.points[0].y > y_.places.high) return "";
        return fmt::format(
                   "<path d=\"M{0} {1}H{2}\" stroke=\"{3}\" stroke-width=\"2\" stroke-dasharray=\"6 4\"/>\n",
                   at(left_), at(y_(one.points[0].y)), at(right_), line_colour(number)) +
               text(right_ - 4, y_(one.points[0].y) - 6, "end", escape_markup(one.name));
      case Line::Form::stairs:
        path = stairs(one);
        break;
      default:
        for (const PlotPoint& point : one.points) {
          if (c_.y.is_logarithmic && point.y <= 0) continue;
          const double x = x_(point.x);
          path += (path.empty() ? "M" : "L") + at(x) + ' ' + at(y_(point.y));
          if (point.low != point.high) svg += line(x, y_(point.low), x, y_(point.high), line_colour(number));
          if (one.form == Line::Form::dots)
            svg += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{}\"/>\n", at(x), at(y_(point.y)),
                               line_colour(number));
        }
    }
    return svg + "<path d=\"" + path + "\"" + stroke_of(number, one.width) + "><title>" +
           escape_markup(one.name) + "</title></path>\n";
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
    return path.find('H') == std::string::npos && !path.empty() ? path + "h8" : path;
  }

  std::string bars_of(const Line& one, std::size_t number) const {
    const double width = x_(1) - x_(0), gap = width > 4 ? 0.15 * width : 0;
    std::string path, cuts;
    for (const PlotPoint& point : one.points) {
      if (point.y <= 0) continue;
      const double x = x_(point.x), begin = x - (width - gap) / 2, end = x + (width - gap) / 2;
      path += "M" + at(begin) + ' ' + at(bottom_) + "V" + fmt::format("{:.2f}", y_(point.y)) + "H" + at(end) +
              "V" + at(bottom_) + "Z";
      if (point.y > y_.places.high * kShownFrom)
        cuts += "<path d=\"M" + at(begin - 3) + ' ' + at(top_ + 18) + "L" + at(end + 3) + ' ' +
                at(top_ + 12) + "\" stroke=\"#ffffff\" stroke-width=\"4\"/>\n";
    }
    if (path.empty()) return "";
    path = "<path d=\"" + path + "\" fill=\"" + line_colour(number) + "\"/>\n" + cuts;
    if (one.name.empty()) return path;
    return path + text(right_, bottom_ + 46, "end", escape_markup(one.name),
                       fmt::format(" fill=\"{}\" font-weight=\"bold\"", line_colour(number)));
  }

  std::string legend() const {
    std::string svg;
    double y = has_legend_below() ? bottom_ + (c_.x.label.empty() ? 58 : 82) : top_ + 12;
    if (!has_legend_below() && legend_names().empty()) return svg;
    for (std::size_t i = 0; i < c_.lines.size(); ++i, y += kRow) {
      const Line& one = c_.lines[i];
      const double x = has_legend_below() ? left_ : right_ + 20;
      svg +=
          "<path d=\"M" + at(x) + ' ' + at(y - 4.5) + "h30\"" + stroke_of(i, one.width) + "/>\n" +
          text(x + 40, y, "start", escape_markup(shortened(one.name, 41)), fmt::format(" fill=\"{}\"", kInk));
      if (!has_legend_below()) continue;
      svg += text(left_ + 430, y, "end", escape_markup(one.summary),
                  fmt::format(" fill=\"{}\" font-weight=\"bold\"", kInk)) +
             text(right_, y, "end", escape_markup(one.more), " fill=\"#6a737d\" font-size=\"12\"");
    }
    return svg;
  }

  // Bars of a group stand in the middle of it, where its name is wider.
  double room_beside(const std::string& group) const {
    const auto count = static_cast<double>(std::ranges::count(c_.bars, group, &StackedBar::group));
    return std::max(length_of(group) - (count * (kBarWidth + kBarGap) - kBarGap), 0.0) / 2;
  }

  double end_of_bars() const {
    double x = left_ + kGroupGap;
    for (std::size_t i = 0; i < c_.bars.size(); ++i) {
      if (i == 0 || c_.bars[i].group != c_.bars[i - 1].group)
        x += 2 * room_beside(c_.bars[i].group) + (i > 0 ? kGroupGap - kBarGap : 0);
      x += kBarWidth + kBarGap;
    }
    return x - kBarGap;
  }

  std::string bars() const {
    std::string svg;
    double x = left_ + kGroupGap / 2, group_start = x;
    for (std::size_t i = 0; i < c_.bars.size(); ++i) {
      const StackedBar& bar = c_.bars[i];
      if (i == 0 || bar.group != c_.bars[i - 1].group) {
        if (i > 0) x += kGroupGap - kBarGap;
        group_start = x;
        x += room_beside(bar.group);
      }
      svg += bar_of(bar, x);
      x += kBarWidth + kBarGap;
      if (i + 1 < c_.bars.size() && c_.bars[i + 1].group == bar.group) continue;
      x += room_beside(bar.group);
      svg += text((group_start + x - kBarGap) / 2, bottom_ + kUnderBars - 8, "middle",
                  escape_markup(bar.group), " font-weight=\"bold\"");
    }
    double y = top_ + 12;
    for (const StackedBar::Piece& piece : pieces()) {
      svg += rectangle(right_ + 18, y - 10, 14, 12, piece.colour, piece.name) +
             text(right_ + 40, y, "start", escape_markup(shortened(piece.name, 41)));
      y += kRow;
    }
    return svg;
  }

  std::string bar_of(const StackedBar& bar, double x) const {
    std::string svg;
    const double middle = x + kBarWidth / 2, whole = bar.whole();
    double below = 0;
    for (const StackedBar::Piece& piece : bar.pieces) {
      if (piece.value <= 0) continue;
      svg +=
          rectangle(x, y_(below + piece.value), kBarWidth, y_(below) - y_(below + piece.value), piece.colour,
                    bar.group + ", " + bar.label + ": " + piece.name + ": " + figures(piece.value));
      below += piece.value;
    }
    const std::string turned = " font-size=\"11\" transform=\"rotate({} {} {})\"";
    if (!bar.missing.empty()) {
      svg += text(middle + 4, bottom_ - 6, "start", escape_markup(bar.missing),
                  fmt::format(fmt::runtime(turned), -90, at(middle + 4), at(bottom_ - 6)));
    } else {
      svg += text(middle, y_(whole + bar.spread) - 5, "middle", figures(whole), " font-size=\"11\"");
    }
    if (bar.spread > 0)
      svg += line(middle, y_(whole - bar.spread), middle, y_(whole + bar.spread), "#333333");
    return svg + text(middle, bottom_ + 14, "end", escape_markup(bar.label),
                      fmt::format(fmt::runtime(turned), -35, at(middle), at(bottom_ + 14)));
  }

  const Chart& c_;
  bool is_empty_ = true;
  Extent seen_x_, seen_y_;
  Scale x_, y_;
  double left_ = 0, right_ = 0, width_ = 0, top_ = 0, bottom_ = 0;
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
  for (const Chart& chart : charts) {
    const Plot plot(chart, end);
    if (plot.is_empty()) continue;
    plots += plot.svg();
    end = plot.end();
    width = std::max(width, plot.width());
  }
  return plots.empty() ? "" : picture(width, end, charts.front().label, plots);
}

}  // namespace sightline::report
