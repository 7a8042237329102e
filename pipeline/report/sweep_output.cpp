#include "pipeline/report/sweep_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sightline::pipeline {
namespace {

using namespace report;
using Json = nlohmann::ordered_json;

constexpr std::size_t kBarsShown = 40;     // settings, at most, whose windows beyond shares are drawn
constexpr std::size_t kNumbersShown = 14;  // columns of a page's map whose places have room for a number

bool has_excess(const KernelSweep& sweep) {
  const auto some = [](const SweepPoint& point) { return point.whole_excess() > 0; };
  return some(sweep.own) || std::any_of(sweep.points.begin(), sweep.points.end(), some);
}

Json point_json(const SweepPoint& point) {
  return {{"setting", point.setting},
          {"ms", point.seconds * 1e3},
          {"excess", point.whole_excess()},
          {"excess_by_kernel", point.excess}};
}

std::string mark_of(const KernelSweep& sweep, std::size_t place) {
  return place == sweep.best_place() ? "*" : place == sweep.own_place ? "o" : "";
}

Cell cell_of(const KernelSweep& sweep, std::size_t place) {
  const SweepPoint& point = sweep.points[place];
  const double best = sweep.points[sweep.best_place()].seconds, worst = sweep.slowest();
  const std::string mark = mark_of(sweep, place);
  Cell cell(thousandths(point.seconds) + (mark.empty() ? " " : mark));
  if (point.whole_excess() > 0) cell.small = '+' + figures(point.whole_excess());
  cell.kind = std::string(mark == "*" ? "fastest " : "") + (place == sweep.own_place ? "own" : "");
  cell.shade = worst > best ? std::log(point.seconds / best) / std::log(worst / best) : 0;
  cell.hint = fmt::format("{}: {} ms", point.setting, thousandths(point.seconds));
  if (has_excess(sweep)) cell.hint += fmt::format(", {} {}", figures(point.whole_excess()), sweep.excess);
  return cell;
}

Table map_of(const KernelSweep& sweep) {
  Table map{.columns = {{""}},
            .style = sweep.columns.size() <= kNumbersShown ? "heat slow" : "heat slow fine"};
  for (const int column : sweep.columns) map.columns.push_back({std::to_string(column) + ' '});
  for (std::size_t row = 0; row < sweep.rows.size(); ++row) {
    std::vector<Cell>& cells =
        map.rows.emplace_back(std::vector<Cell>{fmt::format("{:>4}", sweep.rows[row])});
    for (std::size_t column = 0; column < sweep.columns.size(); ++column)
      cells.push_back(cell_of(sweep, row * sweep.columns.size() + column));
  }
  return map;
}

// The settings that matter, each beside the fastest.
Table settings_of(const KernelSweep& sweep) {
  const SweepPoint& best = sweep.points[sweep.best_place()];
  Table table{.columns = {{""}, {"setting"}, {"ms"}, {"of the fastest"}}, .style = "settings"};
  const bool shows_excess = has_excess(sweep);
  if (shows_excess) table.columns.push_back({sweep.excess});
  const auto add = [&](Cell head, const char* kind, const SweepPoint& point) {
    head.kind = kind;
    std::vector<Cell>& cells = table.rows.emplace_back(
        std::vector<Cell>{head, point.setting, thousandths(point.seconds),
                          best.seconds > 0 ? fmt::format("{:.2f}×", point.seconds / best.seconds) : "-"});
    if (shows_excess) cells.emplace_back(figures(point.whole_excess()));
  };
  add("* fastest", "fastest", best);
  add("o own", "own", sweep.own);
  for (const SweepPoint& other : sweep.others) add("", "", other);
  return table;
}

}  // namespace

Section sweep_section(const KernelSweep& sweep) {
  if (sweep.points.empty()) return {};
  Section section{fmt::format("Sweep of {}: {}, ms a frame", sweep.name, sweep.timed),
                  {{Note{fmt::format("across: {}; down: {}", sweep.across, sweep.down)}},
                   {map_of(sweep)},
                   {settings_of(sweep)},
                   {Note{"own: what the detector has without a sweep; the place next to it is marked." +
                         (has_excess(sweep) ? fmt::format(" +n: {}, a frame.", sweep.excess) : "") +
                         (sweep.note.empty() ? "" : fmt::format(" Note: {}.", sweep.note))}}},
                  In::both};
  section.style = "sweep";
  section.head_markup =
      fmt::format("<span class=\"scale\">{}<i></i>{}</span>",
                  thousandths(sweep.points[sweep.best_place()].seconds), thousandths(sweep.slowest()));
  return section;
}

Json sweep_as_json(const KernelSweep& sweep) {
  Json json{{"name", sweep.name},          {"timed", sweep.timed},      {"across", sweep.across},
            {"down", sweep.down},          {"excess_of", sweep.excess}, {"columns", sweep.columns},
            {"rows", sweep.rows},          {"ms", Json::array()},       {"excess", Json::array()},
            {"own", point_json(sweep.own)}};
  for (std::size_t row = 0; row < sweep.rows.size(); ++row) {
    Json ms = Json::array(), excess = Json::array();
    for (std::size_t column = 0; column < sweep.columns.size(); ++column) {
      ms.push_back(sweep.at(row, column).seconds * 1e3);
      excess.push_back(sweep.at(row, column).whole_excess());
    }
    json["ms"].push_back(ms);
    json["excess"].push_back(excess);
  }
  json["best"] = sweep.points.empty() ? Json() : point_json(sweep.points[sweep.best_place()]);
  json["others"] = Json::array();
  for (const SweepPoint& other : sweep.others) json["others"].push_back(point_json(other));
  json["note"] = sweep.note;
  return json;
}

std::vector<Chart> sweep_charts(const KernelSweep& sweep) {
  if (sweep.points.empty()) return {};
  const std::string title = fmt::format("Sweep of {}: {}, ms a frame", sweep.name, sweep.timed);
  Chart map{.label = title, .title = title};
  map.subtitle =
      fmt::format("* fastest: {}, {} ms; o next to own: {}, {} ms", sweep.points[sweep.best_place()].setting,
                  thousandths(sweep.points[sweep.best_place()].seconds), sweep.own.setting,
                  thousandths(sweep.own.seconds));
  map.x.label = "across: " + sweep.across + "; down: " + sweep.down;
  for (const int column : sweep.columns) map.x.names.push_back(std::to_string(column));
  for (std::size_t row = 0; row < sweep.rows.size(); ++row) {
    map.y.names.push_back(std::to_string(sweep.rows[row]));
    std::vector<MapCell>& cells = map.cells.emplace_back();
    for (std::size_t column = 0; column < sweep.columns.size(); ++column)
      cells.push_back(
          {1e3 * sweep.at(row, column).seconds, mark_of(sweep, row * sweep.columns.size() + column)});
  }
  std::vector<Chart> charts{map};
  if (!has_excess(sweep)) return charts;
  const std::string beyond = fmt::format("Sweep of {}: {}, a frame, by kernel", sweep.name, sweep.excess);
  Chart bars{.label = beyond, .title = beyond};
  bars.x.label = sweep.excess;
  const auto add = [&](const std::string& name, const SweepPoint& point) {
    StackedBar& bar = bars.bars.emplace_back(StackedBar{name + point.setting});
    for (std::size_t i = 0; i < point.excess.size(); ++i)
      bar.pieces.push_back({point.excess[i], line_colour(i), fmt::format("kernel {}", i + 1)});
  };
  add("own: ", sweep.own);
  if (sweep.points.size() <= kBarsShown) {
    for (const SweepPoint& point : sweep.points) add("", point);
  }
  charts.push_back(bars);
  return charts;
}

}  // namespace sightline::pipeline
