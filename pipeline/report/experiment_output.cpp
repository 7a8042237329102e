#include "pipeline/report/experiment_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

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
  if (best != e.baseline && std::isfinite(times.speed_up))
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
  std::set<std::string> parts;
  for (const Implementation& one : e.implementations) {
    rows.push_back({&one, e.group_times(group, rows.size()), rows.size()});
    longest = std::max(longest, rows.back().times.seconds);
    for (const auto& [name, seconds] : rows.back().times.parts) parts.insert(name);
  }
  const ColumnOf<Row> head{"implementation", [](auto& row) { return name_of(*row.implementation); }};
  std::vector<ColumnOf<Row>> columns{
      head,
      {"ms",
       [longest](auto& row) {
         Cell cell(thousandths(row.times.seconds));
         cell.bar = row.times.seconds / longest;
         return cell;
       }},
      {"deviation",
       [](auto& row) {
         const double deviation = row.times.deviation;
         return std::isfinite(deviation) ? fmt::format("{:.1f}%", deviation * 100) : "-";
       }},
      {"objects", [](auto& row) { return row.times.objects; }},
      {"speed-up", [](auto& row) { return figures(row.times.speed_up); }},
      {"J", [&e](auto& row) { return joules_text(e, row.times.joules); }}};
  for (const std::string& name : parts) {
    columns.push_back({name, [name](auto& row) {
                         const auto found = row.times.parts.find(name);
                         return found == row.times.parts.end() ? "-" : thousandths(found->second);
                       }});
  }
  Table table = table_of(rows, columns);
  table.best = e.fastest(group);
  columns = {head};
  for (const PictureResult& picture : e.pictures) {
    if (picture.group != group) continue;
    columns.push_back({fmt::format("{}\n{}x{}", picture.name, picture.size.width, picture.size.height),
                       [&picture](auto& row) {
                         const PictureTimes& times = picture.times[row.number];
                         Cell cell(thousandths(times.mean()));
                         cell.small = "±" + thousandths(times.deviation());
                         cell.below = std::to_string(times.objects);
                         return cell;
                       }});
  }
  Table pictures = table_of(rows, columns);
  pictures.fold = "Picture by picture: ms, objects";
  return {group + ": " + pictures_text(e, group),
          {{table}, {Note{fastest_text(e, group)}}, {pictures, In::page}},
          In::both};
}

// What runs where, in the order of the table.
Facts places_of(const Experiment& e) {
  Facts places;
  for (const Implementation& one : e.implementations) {
    if (places.items.empty() || places.items.back().first != one.runs_on) {
      places.items.emplace_back(one.runs_on, one.name);
    } else if (!places.items.back().second.ends_with(one.name)) {
      places.items.back().second += ", " + one.name;
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
    {"Kernels, upload, download, reading",
     "Parts of the time on the device's clock, in ms, the least of the runs. Reading: a kernel that reads "
     "the picture "
     "and does nothing else, which is a bound."},
    {"Ordinary, new buffers",
     "The whole in ms, the least of the runs, with the picture in memory that the device cannot copy from by "
     "itself, and "
     "with the making of buffers."},
    {"Copied, mapped", "How pictures and results get to a device and back."}};

// Each implementation's times over the pixels of groups of pictures.
Section sizes_section(const Experiment& e) {
  Chart chart{.label = "Time over size"};
  chart.x = {.label = "pixels of a picture", .is_logarithmic = true, .is_marked_by_points = true};
  chart.y = {.is_logarithmic = true, .text = [](double ms) { return fmt::format("{:g} ms", ms); }};
  for (std::size_t i = 0; i < e.implementations.size(); ++i) {
    Line& line = chart.lines.emplace_back(Line{name_of(e.implementations[i]), {}});
    for (const std::string& group : e.groups()) {
      const Size size = std::ranges::find(e.pictures, group, &PictureResult::group)->size;
      line.points.push_back({1.0 * size.width * size.height, 1e3 * e.group_times(group, i).seconds});
    }
  }
  if (e.groups().size() < 2) chart.lines.clear();
  return {chart.label, {{chart}}};
}

Part part_of(const Experiment& e) {
  Part part{fmt::format("{} implementations, {} pictures", e.implementations.size(), e.pictures.size()),
            fmt::format("{}; {} runs each, one picture at a time; speed-up against {}", e.input, e.repeats,
                        baseline_name(e)),
            {sizes_section(e)}};
  for (const std::string& group : e.groups()) part.sections.push_back(group_section(e, group));
  Section notes{"", {{places_of(e)}}};
  for (const std::string& what : e.left_out) notes.blocks.push_back({Note{"skipped: " + what}});
  if (!e.meter_note.empty()) notes.blocks.push_back({Note{"energy: " + e.meter_note}, In::text});
  for (const std::string& what : findings(e)) notes.blocks.push_back({Note{what}});
  part.sections.push_back(notes);
  part.sections.push_back({"What was measured", {{facts_of(e), In::page}}});
  return part;
}

Document experiment_document(std::span<const Experiment> experiments) {
  Document document{"Sightline: " + experiments.front().input, {}, kExperimentGuide};
  for (const Experiment& e : experiments) document.parts.push_back(part_of(e));
  return document;
}

Json group_json(const Experiment& e, const std::string& group, std::size_t i) {
  const GroupTimes t = e.group_times(group, i);
  return {{"implementation", name_of(e.implementations[i])},
          {"ms", t.seconds * 1e3},
          {"deviation", t.deviation},
          {"objects", t.objects},
          {"speed_up", t.speed_up},
          {"joules", t.joules ? Json(*t.joules) : Json()}};
}

Json picture_json(const PictureResult& picture) {
  return {{"picture", picture.name},
          {"group", picture.group},
          {"width", picture.size.width},
          {"height", picture.size.height}};
}

Json times_json(const Experiment& e, const PictureResult& picture, std::size_t i) {
  const PictureTimes& t = picture.times[i];
  Json runs = Json::array();
  for (const double seconds : t.seconds) runs.push_back(seconds * 1e3);
  return {{"implementation", name_of(e.implementations[i])},
          {"ms", t.mean() * 1e3},
          {"deviation_ms", t.deviation() * 1e3},
          {"median_ms", median(t.seconds) * 1e3},
          {"runs_ms", runs},
          {"objects", t.objects},
          {"joules", t.joules ? Json(*t.joules) : Json()}};
}

}  // namespace

std::string experiments_as_text(std::span<const Experiment> experiments) {
  return to_text(experiment_document(experiments));
}

std::string experiments_as_page(std::span<const Experiment> experiments) {
  return to_html(experiment_document(experiments));
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
    for (std::size_t i = 0; i < e.implementations.size(); ++i) times.push_back(group_json(e, group, i));
    json["groups"].push_back({{"group", group}, {"times", times}});
  }
  json["pictures"] = Json::array();
  for (const PictureResult& picture : e.pictures) {
    Json& one = json["pictures"].emplace_back(picture_json(picture));
    one["times"] = Json::array();
    for (std::size_t i = 0; i < picture.times.size(); ++i) one["times"].push_back(times_json(e, picture, i));
  }
  return json_text(json, 2) + '\n';
}

std::string experiment_as_csv(const Experiment& e) {
  std::vector<Json> rows;
  const auto add = [&](Json row, std::size_t i) {
    const Implementation& one = e.implementations[i];
    row.update(Json{{"implementation", one.name},
                    {"buffers", one.buffers},
                    {"runs_on", one.runs_on},
                    {"runs", e.repeats},
                    {"model", e.model},
                    {"machine", e.machine},
                    {"program", e.program}});
    rows.push_back(std::move(row));
  };
  for (const PictureResult& picture : e.pictures) {
    for (std::size_t i = 0; i < picture.times.size(); ++i) {
      Json row = picture_json(picture);
      row.update(times_json(e, picture, i));
      row["speed_up"] = picture.times[e.baseline].mean() / picture.times[i].mean();
      add(row, i);
    }
  }
  for (const std::string& group : e.groups()) {
    for (std::size_t i = 0; i < e.implementations.size(); ++i) {
      Json row = group_json(e, group, i);
      const GroupTimes t = e.group_times(group, i);
      row["deviation_ms"] = t.seconds * t.deviation * 1e3;
      row["group"] = group;
      add(row, i);
    }
  }
  return to_csv(
      rows, split("group,picture,width,height,implementation,buffers,runs_on,runs,mean_ms=/ms,deviation_ms,"
                  "median_ms,objects,speed_up,joules,model,machine,program",
                  ','));
}

}  // namespace sightline::pipeline
