#include "pipeline/report/experiment_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/median.hpp"
#include "base/text.hpp"
#include "pipeline/report/document.hpp"

namespace sightline::pipeline {
namespace {

using namespace report;
using Json = nlohmann::ordered_json;

std::string joules_text(const Experiment& e, const std::optional<double>& joules) {
  if (joules) return figures(*joules);
  return e.meter.empty() ? "no meter" : "-";
}

// "3 pictures, 1920x1080"; "3 pictures, 320x240 to 640x480".
std::string pictures_text(const Experiment& e, const std::string& group) {
  std::size_t count = 0;
  Size smallest, largest;
  const auto area = [](Size s) { return std::int64_t{s.width} * s.height; };
  for (const PictureResult& picture : e.pictures) {
    if (picture.group != group) continue;
    if (count == 0 || area(picture.size) < area(smallest)) smallest = picture.size;
    if (count == 0 || area(picture.size) > area(largest)) largest = picture.size;
    ++count;
  }
  std::string text = fmt::format("{}, {}x{}", counted(static_cast<std::int64_t>(count), "picture"),
                                 smallest.width, smallest.height);
  if (largest != smallest) text += fmt::format(" to {}x{}", largest.width, largest.height);
  return text;
}

std::string baseline_name(const Experiment& e) {
  return name_of(e.implementations[e.baseline]);
}

std::string fastest_text(const Experiment& e, const std::string& group) {
  const std::size_t best = e.fastest(group);
  if (best == e.implementations.size()) return {};
  const GroupTimes times = e.group_times(group, best);
  std::string text =
      fmt::format("fastest: {} with {} ms", name_of(e.implementations[best]), thousandths(times.seconds));
  if (best != e.baseline)
    text += fmt::format(", {} times as fast as {}", figures(times.speed_up), baseline_name(e));
  return text;
}

// Whether all of ours found the same, a line each where not.
std::vector<std::string> findings(const Experiment& e) {
  if (!e.differences.empty()) return e.differences;
  const auto ours = std::ranges::count(e.implementations, true, &Implementation::is_ours);
  if (ours < 2) return {};
  return {fmt::format("all {} variants of Sightline found the same objects, to the bit", ours)};
}

Section group_section(const Experiment& e, const std::string& group) {
  struct Row {
    const Implementation* implementation;
    GroupTimes times;
    std::size_t number;
  };
  std::vector<Row> rows;
  double longest = 0;
  for (const Implementation& one : e.implementations) {
    rows.push_back({&one, e.group_times(group, rows.size()), rows.size()});
    longest = std::max(longest, rows.back().times.seconds);
  }
  Table table = table_of<Row>(
      rows, {{"implementation", [](const Row& row) { return name_of(*row.implementation); }},
             {"ms",
              [longest](const Row& row) {
                Cell cell(thousandths(row.times.seconds));
                cell.bar = row.times.seconds / longest;
                return cell;
              }},
             {"deviation", [](const Row& row) { return fmt::format("{:.1f}%", row.times.deviation * 100); }},
             {"objects", [](const Row& row) { return row.times.objects; }},
             {"speed-up", [](const Row& row) { return figures(row.times.speed_up); }},
             {"J", [&e](const Row& row) { return joules_text(e, row.times.joules); }}});
  table.best = e.fastest(group);
  table.style = "schedules";
  std::vector<ColumnOf<Row>> columns{
      {"implementation", [](const Row& row) { return name_of(*row.implementation); }}};
  for (const PictureResult& picture : e.pictures) {
    if (picture.group != group) continue;
    columns.push_back({fmt::format("{}\n{}x{}", picture.name, picture.size.width, picture.size.height),
                       [&picture](const Row& row) {
                         const PictureTimes& times = picture.times[row.number];
                         Cell cell(thousandths(times.mean()));
                         cell.small = "±" + thousandths(times.deviation());
                         cell.below = std::to_string(times.objects);
                         return cell;
                       }});
  }
  Table pictures = table_of(rows, columns);
  pictures.style = "stages";
  pictures.fold = "Picture by picture: ms, objects";
  return {group + ": " + pictures_text(e, group),
          {{table}, {Note{fastest_text(e, group)}}, {pictures, In::page}},
          In::both};
}

// Where implementations run, in the order of the table, each place once.
Facts places_of(const Experiment& e) {
  Facts places;
  for (const Implementation& one : e.implementations) {
    if (!places.items.empty() && places.items.back().second == one.runs_on) {
      if (!places.items.back().first.ends_with(one.name)) places.items.back().first += ", " + one.name;
    } else {
      places.items.emplace_back(one.name, one.runs_on);
    }
  }
  return places;
}

const NamedTexts kExperimentGuide{
    {"ms",
     "From the picture in memory until its objects are there, one picture at a time: the mean of the runs; "
     "of a group, the geometric mean of its pictures."},
    {"Deviation",
     "The runs' standard deviation as a share of their mean; of a group, the mean of these shares."},
    {"Objects", "That are found. Sightline's implementations must all find the same."},
    {"Speed-up", "Ratio of the geometric means."},
    {"J", "Joules a picture, from a meter that the machine has."},
    {"Copied, mapped", "How pictures and results get to a device and back."}};

Document experiment_document(const Experiment& e) {
  Part part{fmt::format("{} implementations, {} pictures", e.implementations.size(), e.pictures.size()),
            fmt::format("{}; {} runs each, one picture at a time; speed-up against {}", e.input, e.repeats,
                        baseline_name(e)),
            {}};
  for (const std::string& group : e.groups()) part.sections.push_back(group_section(e, group));
  Facts facts{{{"Machine", e.machine},
               {"Program", e.program},
               {"Input", e.input},
               {"Model", e.model},
               {"Energy", (e.meter.empty() ? "no meter" : e.meter) +
                              (e.meter_note.empty() ? "" : ": " + e.meter_note)}}};
  Section notes{"", {{places_of(e), In::text}}};
  for (const auto& [names, where] : places_of(e).items) facts.items.emplace_back(names, where);
  for (const std::string& what : e.left_out) {
    facts.items.emplace_back("Skipped", what);
    notes.blocks.push_back({Note{"skipped: " + what}, In::text});
  }
  if (!e.meter_note.empty()) notes.blocks.push_back({Note{"energy: " + e.meter_note}, In::text});
  for (const std::string& what : findings(e)) notes.blocks.push_back({Note{what}});
  part.sections.push_back(notes);
  part.sections.push_back({"What was measured", {{facts, In::page}}});
  return {"Sightline: " + e.input, {part}, kExperimentGuide};
}

}  // namespace

std::string experiment_as_text(const Experiment& e) {
  return to_text(experiment_document(e));
}

std::string experiment_as_page(const Experiment& e) {
  return to_html(experiment_document(e));
}

std::string experiment_as_json(const Experiment& e) {
  Json json{{"program", e.program},
            {"machine", e.machine},
            {"input", e.input},
            {"model", e.model},
            {"repeats", e.repeats},
            {"meter", e.meter.empty() ? Json() : Json(e.meter)},
            {"meter_note", e.meter_note.empty() ? Json() : Json(e.meter_note)},
            {"baseline", baseline_name(e)},
            {"differences", e.differences},
            {"left_out", e.left_out}};
  json["implementations"] = Json::array();
  for (const Implementation& one : e.implementations) {
    json["implementations"].push_back({{"name", one.name},
                                       {"buffers", one.buffers.empty() ? Json() : Json(one.buffers)},
                                       {"runs_on", one.runs_on},
                                       {"ours", one.is_ours}});
  }
  json["groups"] = Json::array();
  for (const std::string& group : e.groups()) {
    Json times = Json::array();
    for (std::size_t i = 0; i < e.implementations.size(); ++i) {
      const GroupTimes t = e.group_times(group, i);
      times.push_back({{"implementation", name_of(e.implementations[i])},
                       {"ms", t.seconds * 1e3},
                       {"deviation", t.deviation},
                       {"objects", t.objects},
                       {"speed_up", t.speed_up},
                       {"joules", t.joules ? Json(*t.joules) : Json()}});
    }
    json["groups"].push_back({{"group", group}, {"times", times}});
  }
  json["pictures"] = Json::array();
  for (const PictureResult& picture : e.pictures) {
    Json times = Json::array();
    for (std::size_t i = 0; i < picture.times.size(); ++i) {
      const PictureTimes& t = picture.times[i];
      Json runs = Json::array();
      for (const double seconds : t.seconds) runs.push_back(seconds * 1e3);
      times.push_back({{"implementation", name_of(e.implementations[i])},
                       {"ms", t.mean() * 1e3},
                       {"deviation_ms", t.deviation() * 1e3},
                       {"median_ms", median(t.seconds) * 1e3},
                       {"runs_ms", runs},
                       {"objects", t.objects},
                       {"joules", t.joules ? Json(*t.joules) : Json()}});
    }
    json["pictures"].push_back({{"picture", picture.name},
                                {"group", picture.group},
                                {"width", picture.size.width},
                                {"height", picture.size.height},
                                {"times", times}});
  }
  return json_text(json, 2) + '\n';
}

std::string experiment_as_csv(const Experiment& e) {
  Table table;
  for (const char* name :
       {"group", "picture", "width", "height", "implementation", "buffers", "runs_on", "runs", "mean_ms",
        "deviation_ms", "median_ms", "objects", "speed_up", "joules", "model", "machine", "program"})
    table.columns.push_back({name});
  const auto add = [&](std::vector<Cell> cells, const Implementation& one, const std::vector<Cell>& values) {
    const auto append = [&](const std::vector<Cell>& more) {
      cells.insert(cells.end(), more.begin(), more.end());
    };
    append({one.name, one.buffers, one.runs_on, e.repeats});
    append(values);
    append({e.model, e.machine, e.program});
    table.rows.push_back(std::move(cells));
  };
  for (const PictureResult& picture : e.pictures) {
    for (std::size_t i = 0; i < picture.times.size(); ++i) {
      const PictureTimes& t = picture.times[i];
      add({picture.group, picture.name, picture.size.width, picture.size.height}, e.implementations[i],
          {t.mean() * 1e3, t.deviation() * 1e3, median(t.seconds) * 1e3, t.objects,
           picture.times[e.baseline].mean() / t.mean(), t.joules});
    }
  }
  for (const std::string& group : e.groups()) {
    for (std::size_t i = 0; i < e.implementations.size(); ++i) {
      const GroupTimes t = e.group_times(group, i);
      add({group, "", "", ""}, e.implementations[i],
          {t.seconds * 1e3, t.seconds * t.deviation * 1e3, "", t.objects, t.speed_up, t.joules});
    }
  }
  return to_csv(table);
}

}  // namespace sightline::pipeline
