// Stage measurements as a page, with bars as in the figures of energy by kernel that studies print.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/markup.hpp"
#include "pipeline/report/measurement_text.hpp"
#include "pipeline/report/report_page.hpp"
#include "pipeline/report/report_parts.hpp"
#include "pipeline/report/stage_output.hpp"

namespace sightline::pipeline {
namespace {

namespace parts_of = report_parts;

constexpr double kBarWidth = 30, kBarGap = 8, kGroupGap = 26, kPlotLeft = 64, kPlotTop = 44,
                 kPlotHeight = 300, kUnderPlot = 74, kLegendWidth = 230, kLetterWidth = 8;
constexpr const char* kIdleColour = "#c3c8d0";
constexpr const char* kRestColour = "#8a919c";

struct Piece {
  double value = 0;
  std::string colour;
  std::string name;
};

// One bar: pieces from below, the value that is measured of the whole, and what stands under it.
struct Bar {
  std::string label;
  std::string group;  ///< bars of one stand together, with its name below
  std::vector<Piece> pieces;
  double whole = 0;
  double spread = 0;
  std::string missing;  ///< why there is no bar
};

std::string colour_of(std::size_t number) {
  return parts_of::kColours[number % parts_of::kColours.size()];
}

std::string short_name(const StageMeasurement& m, std::size_t processor) {
  if (processor == 0) return "CPU";
  return m.processors.size() > 2 ? fmt::format("dev {}", processor - 1) : "device";
}

// The parts that a meter tells apart, and what is left of the whole above idle.
std::vector<Piece> stage_pieces(const StageMeasurement& m, const AloneRow& row) {
  std::vector<Piece> pieces;
  double left = row.joules->above_idle;
  for (std::size_t i = 0; i < row.joules->parts.size(); ++i) {
    const double part = std::clamp(row.joules->parts[i], 0.0, std::max(left, 0.0));
    pieces.push_back({part, colour_of(i + 1), m.part_names[i]});
    left -= part;
  }
  pieces.push_back(
      {std::max(left, 0.0), colour_of(0), m.part_names.empty() ? "above idle" : "the rest above idle"});
  pieces.push_back(
      {std::max(row.joules->whole - std::max(row.joules->above_idle, 0.0), 0.0), kIdleColour, "idle"});
  return pieces;
}

std::vector<Bar> energy_bars(const StageMeasurement& m) {
  std::vector<Bar> bars;
  for (const std::size_t place : by_stage(m)) {
    const AloneRow& row = m.rows[place];
    Bar bar{short_name(m, row.processor), row.name, {}, 0, 0, row.joules ? "" : "not seen"};
    if (row.joules) {
      bar.pieces = stage_pieces(m, row);
      bar.whole = row.joules->whole;
      bar.spread = row.joules->spread;
    }
    bars.push_back(std::move(bar));
  }
  for (const WholeRow& row : m.schedules) {
    Bar bar{row.name, "whole schedules", {}, 0, 0, row.joules ? "" : "not seen"};
    if (row.joules) {
      bar.whole = row.joules->whole;
      bar.spread = row.joules->spread;
      if (const auto parts = explained(row)) {
        // What is saved is taken off the stages: the bar ends where the whole does.
        const double stages = std::max(parts->stages + std::min(parts->rest, 0.0), 0.0);
        bar.pieces = {{stages, colour_of(0), "above idle"},
                      {std::max(parts->rest, 0.0), kRestColour, "handing over and waiting"},
                      {std::max(bar.whole - stages - std::max(parts->rest, 0.0), 0.0), kIdleColour, "idle"}};
      } else {
        bar.pieces = {{bar.whole, kRestColour, "not told apart"}};
      }
    }
    bars.push_back(std::move(bar));
  }
  return bars;
}

std::vector<Bar> time_bars(const StageMeasurement& m) {
  std::vector<Bar> bars;
  for (const std::size_t place : by_stage(m)) {
    const AloneRow& row = m.rows[place];
    bars.push_back({short_name(m, row.processor),
                    row.name,
                    {{row.seconds, colour_of(row.processor), m.processors[row.processor]}},
                    row.seconds,
                    0,
                    ""});
  }
  for (const WholeRow& row : m.schedules) {
    const double seconds = row.fps > 0 ? 1 / row.fps : 0;
    bars.push_back(
        {row.name, "whole schedules", {{seconds, kRestColour, "a schedule's frame"}}, seconds, 0, ""});
  }
  return bars;
}

std::string rectangle(double x, double y, double width, double height, const std::string& colour,
                      const std::string& title) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.2f}\" "
      "fill=\"{}\"><title>{}</title></rect>\n",
      x, y, width, height, colour, escape_markup(title));
}

std::string bars_svg(const std::vector<Bar>& bars, const std::string& title, const std::string& unit) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, bar.whole + bar.spread);
  const double end = most > 0 ? parts_of::round_up(most) : 1;
  const double bottom = kPlotTop + kPlotHeight;
  const auto bars_in = [&](const std::string& group) {
    return static_cast<double>(std::ranges::count(bars, group, &Bar::group));
  };
  // Bars of a group stand in the middle of it, where its name is wider.
  const auto room_beside = [&](const std::string& group) {
    const double taken = bars_in(group) * (kBarWidth + kBarGap) - kBarGap;
    return std::max(kLetterWidth * static_cast<double>(group.size()) - taken, 0.0) / 2;
  };
  const auto y = [&](double value) { return bottom - value / end * kPlotHeight; };
  std::string marks;
  std::vector<Piece> legend;
  double x = kPlotLeft + kGroupGap / 2;
  double group_start = x;
  if (!bars.empty()) x += room_beside(bars.front().group);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    if (i > 0 && bar.group != bars[i - 1].group) {
      x += kGroupGap - kBarGap;
      group_start = x;
      x += room_beside(bar.group);
    }
    const double middle = x + kBarWidth / 2;
    double below = 0;
    for (const Piece& piece : bar.pieces) {
      if (piece.value <= 0) continue;
      marks += rectangle(x, y(below + piece.value), kBarWidth, piece.value / end * kPlotHeight, piece.colour,
                         fmt::format("{}, {}: {}: {} {}", bar.group, bar.label, piece.name,
                                     figures(piece.value * 1e3), unit));
      below += piece.value;
      const auto known = [&](const Piece& one) { return one.name == piece.name; };
      if (std::ranges::none_of(legend, known)) legend.push_back(piece);
    }
    if (bar.missing.empty()) {
      marks += parts_of::text(middle, y(bar.whole + bar.spread) - 5, "middle", figures(bar.whole * 1e3),
                              " font-size=\"11\"");
      if (bar.spread > 0) {
        marks +=
            parts_of::line(middle, y(bar.whole - bar.spread), middle, y(bar.whole + bar.spread), "#333333");
      }
    } else {
      marks += parts_of::text(
          middle, bottom - 6, "start", escape_markup(bar.missing),
          fmt::format(" font-size=\"11\" fill=\"#777777\" transform=\"rotate(-90 {:.1f} {:.1f})\"",
                      middle + 4, bottom - 6));
    }
    marks += parts_of::text(
        middle, bottom + 14, "end", escape_markup(bar.label),
        fmt::format(" font-size=\"11\" transform=\"rotate(-35 {:.1f} {:.1f})\"", middle, bottom + 14));
    x += kBarWidth + kBarGap;
    if (i + 1 == bars.size() || bars[i + 1].group != bar.group) {
      x += room_beside(bar.group);
      marks += parts_of::text((group_start + x - kBarGap) / 2, bottom + kUnderPlot - 8, "middle",
                              escape_markup(bar.group), " font-weight=\"bold\"");
    }
  }
  const double right = x - kBarGap + kGroupGap / 2;
  const double width = right + kLegendWidth;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" role=\"img\" "
      "aria-label=\"{}\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      width, bottom + kUnderPlot, width, escape_markup(title));
  svg += parts_of::text(kPlotLeft, 18, "start", escape_markup(title), " font-weight=\"bold\"");
  const double step = parts_of::round_step(end, 5);
  for (double value = 0; value <= end * 1.001; value += step) {
    svg += parts_of::line(kPlotLeft, y(value), right, y(value), value == 0 ? "#333333" : "#dfe3e9");
    svg += parts_of::text(kPlotLeft - 8, y(value) + 4, "end", fmt::format("{:g}", value * 1e3));
  }
  svg += parts_of::text(kPlotLeft - 8, kPlotTop - 14, "end", unit);
  svg += marks;
  double row = kPlotTop + 8;
  for (const Piece& piece : legend) {
    svg += rectangle(right + 18, row - 10, 14, 12, piece.colour, piece.name);
    svg += parts_of::text(right + 40, row, "start", escape_markup(piece.name), " font-size=\"12\"");
    row += 20;
  }
  return svg + "</svg>\n";
}

std::string header(const std::vector<std::string>& names) {
  std::string text = "<table class=\"schedules\"><thead><tr>";
  for (const std::string& name : names) text += "<th scope=\"col\">" + escape_markup(name) + "</th>";
  return text + "</tr></thead><tbody>\n";
}

std::string joules_cells(const StageMeasurement& m, const std::optional<FrameJoules>& joules) {
  if (!joules)
    return table_cell(m.meter.empty() ? "no meter" : "not seen") + table_cell("") + table_cell("-");
  return table_cell(figures(joules->whole * 1e3)) + table_cell("±" + figures(joules->spread * 1e3)) +
         table_cell(figures(joules->above_idle * 1e3));
}

std::string alone_html(const StageMeasurement& m) {
  std::vector<std::string> names{"alone", "on",         "ms", "frames/s",  "busy",
                                 "W",     "mJ a frame", "±",  "above idle"};
  for (const std::string& part : m.part_names) names.push_back(part);
  std::string text = header(names);
  for (const std::size_t place : by_stage(m)) {
    const AloneRow& row = m.rows[place];
    text += "<tr><th scope=\"row\">" + escape_markup(row.name) + "</th>" +
            table_cell(m.processors[row.processor]) +
            table_cell(row.does_nothing() ? "<0.001" : milliseconds(row.seconds)) +
            table_cell(row.does_nothing() ? "-" : rate(row.fps())) +
            table_cell(whole_percent(row.utilisation)) +
            table_cell(row.power ? figures(row.power->watts) : "-") + joules_cells(m, row.joules);
    for (std::size_t i = 0; row.joules && i < m.part_names.size(); ++i)
      text += table_cell(figures(row.joules->parts.at(i) * 1e3));
    text += "</tr>\n";
  }
  return text + "</tbody></table>";
}

std::string wholes_html(const StageMeasurement& m, const std::vector<WholeRow>& rows) {
  if (rows.empty()) return "";
  std::string text = header({"schedule", "frames/s", "predicted", "overlap", "W", "mJ a frame", "±",
                             "above idle", "predicted", "of it idle", "stages alone", "rest", "mapping"});
  const auto best = most_frugal(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const WholeRow& row = rows[i];
    text += best == i ? "<tr class=\"best\">" : "<tr>";
    text += "<th scope=\"row\">" + escape_markup(row.name) + "</th>" + table_cell(rate(row.fps)) +
            table_cell(rate(row.predicted_fps)) + table_cell(figures(row.overlap_factor)) +
            table_cell(row.power ? figures(row.power->watts) : "-") + joules_cells(m, row.joules) +
            table_cell(row.predicted_joules ? figures(*row.predicted_joules * 1e3) : "-");
    const auto parts = explained(row);
    for (const double value :
         {parts ? parts->idle : NAN, parts ? parts->stages : NAN, parts ? parts->rest : NAN})
      text += table_cell(figures(value * 1e3));
    text += table_cell(row.mapping) + "</tr>\n";
  }
  return text + "</tbody></table>";
}

std::string subject_of(const StageMeasurement& m) {
  const std::string name = std::filesystem::path(m.input).filename().string();
  return fmt::format("{}, {}x{}", name.empty() ? m.input : name, m.frame_size.width, m.frame_size.height);
}

std::string facts_html(const StageMeasurement& m) {
  std::string text = "<dl class=\"facts\">\n";
  const auto fact = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  };
  fact("Input", m.input);
  fact("Machine", m.machine);
  fact("Program", m.program);
  fact("Model", m.model);
  if (m.idle_before) {
    fact("Idle power",
         fmt::format("{} W before, {} W after", figures(m.idle_before->watts), figures(m.idle_after->watts)));
  }
  for (const std::string& line : remarks(m)) fact("Note", line);
  for (const std::string& line : comparisons(m, m.processors)) fact("Compared", line);
  return text + "</dl>\n";
}

constexpr const char* kStagesGuide =
    R"(<dt>Alone</dt><dd>One stage again and again on one frame, its inputs made beforehand; a device has several
turns enqueued, so that it need not wait. Copies are of the frame, and of what the device's stages leave for the
CPU.</dd>
<dt>mJ a frame</dt><dd>All that the meters count while a frame is worked on. Above idle: less the idle power (the
mean of before and after) over that time.</dd>
<dt>±</dt><dd>Half the range of the windows that a row was measured in.</dd>
<dt>Rest</dt><dd>What a whole schedule takes besides idle power and the sum of its stages alone: handing over,
waiting threads, the output. Below 0: what is awake for one stage serves another, too.</dd>
<dt>Predicted</dt><dd>From each stage's time and energy alone.</dd>
)";

}  // namespace

std::string stages_as_svg(const StageMeasurement& m) {
  const std::string subject = subject_of(m);
  if (m.meter.empty()) return bars_svg(time_bars(m), "Time of a frame, ms: " + subject, "ms");
  return bars_svg(energy_bars(m), "Energy of a frame, mJ: " + subject, "mJ");
}

std::string stages_as_page(const StageMeasurement& m) {
  const std::string title =
      fmt::format("Stages alone: {}{}{}", subject_of(m), m.variant.empty() ? "" : ", ", m.variant);
  std::string sections = "<article>\n<h1>" + escape_markup(title) + "</h1>\n";
  sections += report_card(m.meter.empty() ? "Time of a frame" : "Energy of a frame", stages_as_svg(m));
  sections += report_card("Each stage alone", alone_html(m));
  sections += report_card("Whole schedules", wholes_html(m, m.schedules));
  sections += report_card("Every mapping of stages", wholes_html(m, m.mappings));
  sections += report_card("What was measured", facts_html(m)) + "</article>\n";
  return report_page("Sightline: " + title, sections, kStagesGuide);
}

}  // namespace sightline::pipeline
