#include "pipeline/report/sweep_output.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/markup.hpp"
#include "pipeline/report/measurement_text.hpp"

namespace sightline::pipeline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNumbersShown = 14;  // columns of a map whose places have room for a number

bool has_excess(const KernelSweep& sweep) {
  const auto some = [](const SweepPoint& point) { return point.excess > 0; };
  return some(sweep.own) || std::any_of(sweep.points.begin(), sweep.points.end(), some);
}

// "4,12,20,28: 0.205 ms, 3.25 windows beyond a share"
std::string point_text(const KernelSweep& sweep, const SweepPoint& point) {
  std::string text = fmt::format("{}: {} ms", point.setting, milliseconds(point.seconds));
  if (has_excess(sweep)) text += fmt::format(", {} {}", figures(point.excess), sweep.excess);
  return text;
}

std::string ratio(const KernelSweep& sweep, const SweepPoint& point) {
  const double best = sweep.points[sweep.best_place()].seconds;
  return best > 0 ? fmt::format("{:.2f}", point.seconds / best) : "-";
}

char mark(const KernelSweep& sweep, std::size_t place) {
  return place == sweep.best_place() ? '*' : place == sweep.own_place ? 'o' : ' ';
}

// Columns `first` to before `last`; a line of what is told of each place.
std::string sweep_table(const KernelSweep& sweep, std::size_t first, std::size_t last, const auto& cell) {
  std::vector<std::vector<std::string>> rows{{""}};
  for (std::size_t column = first; column < last; ++column)
    rows[0].push_back(std::to_string(sweep.columns[column]) + ' ');
  for (std::size_t row = 0; row < sweep.rows.size(); ++row) {
    std::vector<std::string>& cells = rows.emplace_back();
    const std::string name = std::to_string(sweep.rows[row]);
    cells.push_back(std::string(name.size() < 4 ? 4 - name.size() : 0, ' ') + name);
    for (std::size_t column = first; column < last; ++column)
      cells.push_back(cell(row * sweep.columns.size() + column));
  }
  return aligned(rows);
}

std::string tables(const KernelSweep& sweep, const auto& cell) {
  constexpr std::size_t kAtOnce = (kColumns - 4) / 8;
  std::string text;
  for (std::size_t first = 0; first < sweep.columns.size(); first += kAtOnce)
    text += sweep_table(sweep, first, std::min(first + kAtOnce, sweep.columns.size()), cell) + '\n';
  return text;
}

Json point_json(const SweepPoint& point) {
  return {{"setting", point.setting}, {"ms", point.seconds * 1e3}, {"excess", point.excess}};
}

std::string badge(const char* kind, const char* text) {
  return fmt::format("<em class=\"{}\">{}</em>", kind, text);
}

std::string place_cell(const KernelSweep& sweep, std::size_t place, bool has_room) {
  const SweepPoint& point = sweep.points[place];
  const double best = sweep.points[sweep.best_place()].seconds;
  const double worst = sweep.slowest();
  const double slow = worst > best ? std::log(point.seconds / best) / std::log(worst / best) : 0;
  std::string kind = mark(sweep, place) == '*' ? "fastest" : "";
  if (place == sweep.own_place) kind += kind.empty() ? "own" : " own";
  std::string text = has_room ? milliseconds(point.seconds) : "";
  if (has_room && point.excess > 0) text += fmt::format("<small>+{}</small>", figures(point.excess));
  return fmt::format("<td class=\"{}\" style=\"--v:{:.2f}\" title=\"{}\">{}</td>", kind, slow,
                     escape_markup(point_text(sweep, point)), text);
}

std::string legend_row(const KernelSweep& sweep, const std::string& who, const SweepPoint& point) {
  const bool tells_excess = has_excess(sweep);
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}×</td>{}</tr>\n", who,
                     escape_markup(point.setting), milliseconds(point.seconds), ratio(sweep, point),
                     tells_excess ? fmt::format("<td>{}</td>", figures(point.excess)) : "");
}

}  // namespace

std::string sweep_as_text(const KernelSweep& sweep) {
  if (sweep.points.empty()) return {};
  std::string text = fmt::format("sweep of {}: {}, ms a frame\nacross: {}\ndown: {}\n\n", sweep.name,
                                 sweep.timed, sweep.across, sweep.down);
  text += tables(sweep, [&](std::size_t place) {
    return milliseconds(sweep.points[place].seconds) + mark(sweep, place);
  });
  text += "* fastest  " + point_text(sweep, sweep.points[sweep.best_place()]) + '\n';
  text += fmt::format("o own      {}; {} times the fastest", point_text(sweep, sweep.own),
                      ratio(sweep, sweep.own));
  text += " (o: the place next to it)\n";
  for (const SweepPoint& other : sweep.others)
    text += fmt::format("           {}: {} ms\n", other.setting, milliseconds(other.seconds));
  if (!sweep.note.empty()) text += "           " + sweep.note + '\n';
  if (!has_excess(sweep)) return text;
  text += fmt::format("\n{}, a frame\n\n", sweep.excess);
  text += tables(sweep, [&](std::size_t place) { return figures(sweep.points[place].excess) + ' '; });
  text.pop_back();
  return text;
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
      excess.push_back(sweep.at(row, column).excess);
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

std::string sweep_card(const KernelSweep& sweep) {
  if (sweep.points.empty()) return {};
  const bool has_room = sweep.columns.size() <= kNumbersShown;
  const double best = sweep.points[sweep.best_place()].seconds;
  std::string text = fmt::format(
      "<section class=\"card sweep\">\n<div class=\"head\"><h2>Sweep of {}: {}, ms a frame</h2>"
      "<span class=\"scale\">{}<i></i>{}</span></div>\n"
      "<p class=\"note\">→ {}<br>↓ {}</p>\n<div class=\"sides\">\n"
      "<div class=\"scroll\"><table class=\"heat slow{}\">\n<thead><tr><th></th>",
      escape_markup(sweep.name), escape_markup(sweep.timed), milliseconds(best),
      milliseconds(sweep.slowest()), escape_markup(sweep.across), escape_markup(sweep.down),
      has_room ? "" : " fine");
  for (const int column : sweep.columns) text += fmt::format("<th scope=\"col\">{}</th>", column);
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < sweep.rows.size(); ++row) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", sweep.rows[row]);
    for (std::size_t column = 0; column < sweep.columns.size(); ++column)
      text += place_cell(sweep, row * sweep.columns.size() + column, has_room);
    text += "</tr>\n";
  }
  text +=
      "</tbody></table></div>\n<div class=\"scroll\"><table class=\"settings\">\n<thead><tr><th></th>"
      "<th scope=\"col\">setting</th><th scope=\"col\">ms</th><th scope=\"col\">of the fastest</th>";
  if (has_excess(sweep)) text += fmt::format("<th scope=\"col\">{}</th>", escape_markup(sweep.excess));
  text += "</tr></thead>\n<tbody>\n";
  text += legend_row(sweep, badge("fastest", "fastest"), sweep.points[sweep.best_place()]);
  text += legend_row(sweep, badge("own", "own"), sweep.own);
  for (const SweepPoint& other : sweep.others) text += legend_row(sweep, "", other);
  text +=
      "</tbody></table></div>\n</div>\n<p class=\"note\">own: what the detector has without a sweep; the "
      "place "
      "next to it has a dashed frame.";
  if (has_excess(sweep)) text += fmt::format(" +n: {}, a frame.", escape_markup(sweep.excess));
  if (!sweep.note.empty()) text += fmt::format(" Note: {}.", escape_markup(sweep.note));
  return text + "</p>\n</section>\n";
}

}  // namespace sightline::pipeline
