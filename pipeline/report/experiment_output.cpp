#include "pipeline/report/experiment_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/markup.hpp"
#include "base/median.hpp"
#include "pipeline/report/measurement_text.hpp"
#include "pipeline/report/report_page.hpp"

namespace sightline::pipeline {
namespace {

using Json = nlohmann::ordered_json;

std::string energy_text(const Experiment& e, const std::optional<double>& joules) {
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
  std::string text =
      fmt::format("{} picture{}, {}x{}", count, count == 1 ? "" : "s", smallest.width, smallest.height);
  if (largest != smallest) text += fmt::format(" to {}x{}", largest.width, largest.height);
  return text;
}

std::string baseline_name(const Experiment& e) {
  return name_of(e.implementations[e.baseline]);
}

std::string verdict(const Experiment& e, const std::string& group) {
  const std::size_t best = e.fastest(group);
  if (best == e.implementations.size()) return {};
  const GroupTimes times = e.group_times(group, best);
  std::string text =
      fmt::format("fastest: {} with {} ms", name_of(e.implementations[best]), milliseconds(times.seconds));
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

std::string group_table(const Experiment& e, const std::string& group) {
  std::vector<std::vector<std::string>> rows{
      {"implementation", "ms", "deviation", "objects", "speed-up", "J"}};
  for (std::size_t i = 0; i < e.implementations.size(); ++i) {
    const GroupTimes times = e.group_times(group, i);
    rows.push_back({name_of(e.implementations[i]), milliseconds(times.seconds),
                    fmt::format("{:.1f}%", times.deviation * 100), std::to_string(times.objects),
                    figures(times.speed_up), energy_text(e, times.joules)});
  }
  return aligned(rows);
}

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

// --- the page -------------------------------------------------------------------------------------------

std::string group_card(const Experiment& e, const std::string& group) {
  double longest = 0;
  for (std::size_t i = 0; i < e.implementations.size(); ++i)
    longest = std::max(longest, e.group_times(group, i).seconds);
  std::string text = fmt::format(
      "<section class=\"card\">\n<h2>{}: {}</h2>\n<div class=\"scroll\"><table class=\"schedules\">\n"
      "<thead><tr><th scope=\"col\">implementation</th><th scope=\"col\">ms</th><th scope=\"col\">deviation"
      "</th><th scope=\"col\">objects</th><th scope=\"col\">speed-up</th><th "
      "scope=\"col\">J</th></tr></thead>"
      "\n<tbody>\n",
      escape_markup(group), pictures_text(e, group));
  for (std::size_t i = 0; i < e.implementations.size(); ++i) {
    const GroupTimes times = e.group_times(group, i);
    text += i == e.fastest(group) ? "<tr class=\"best\">" : "<tr>";
    text += fmt::format("<th scope=\"row\">{}</th>", escape_markup(name_of(e.implementations[i])));
    text +=
        fmt::format("<td class=\"fps\">{}<span class=\"rate\"><i style=\"width:{:.1f}%\"></i></span></td>",
                    milliseconds(times.seconds), longest > 0 ? 100 * times.seconds / longest : 0);
    text += table_cell(fmt::format("{:.1f}%", times.deviation * 100)) +
            table_cell(std::to_string(times.objects)) + table_cell(figures(times.speed_up)) +
            table_cell(energy_text(e, times.joules)) + "</tr>\n";
  }
  return text +
         fmt::format("</tbody></table></div>\n<p class=\"note\">{}.</p>\n", escape_markup(verdict(e, group)));
}

// Every picture of a group, a column each.
std::string pictures_details(const Experiment& e, const std::string& group) {
  std::string text =
      "<details><summary>Picture by picture: ms, objects</summary>\n<div class=\"scroll\"><table "
      "class=\"stages\">\n<thead><tr><th scope=\"col\">implementation</th>";
  for (const PictureResult& picture : e.pictures) {
    if (picture.group != group) continue;
    text += fmt::format("<th scope=\"col\">{}<br><small>{}x{}</small></th>", escape_markup(picture.name),
                        picture.size.width, picture.size.height);
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < e.implementations.size(); ++i) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", escape_markup(name_of(e.implementations[i])));
    for (const PictureResult& picture : e.pictures) {
      if (picture.group != group) continue;
      const PictureTimes& times = picture.times[i];
      text += fmt::format("<td>{}<small>±{}</small><br><small>{}</small></td>", milliseconds(times.mean()),
                          milliseconds(times.deviation()), times.objects);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div></details>\n";
}

std::string facts(const Experiment& e) {
  std::string text = "<section class=\"card\">\n<h2>What was measured</h2>\n<dl class=\"facts\">\n";
  const auto fact = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  };
  fact("Machine", e.machine);
  fact("Program", e.program);
  fact("Input", e.input);
  fact("Model", e.model);
  fact("Energy",
       (e.meter.empty() ? "no meter" : e.meter) + (e.meter_note.empty() ? "" : ": " + e.meter_note));
  for (const Implementation& one : e.implementations) fact(name_of(one), one.runs_on);
  for (const std::string& what : e.left_out) fact("Skipped", what);
  return text + "</dl>\n</section>\n";
}

constexpr const char* kExperimentGuide =
    R"(<dt>ms</dt><dd>From the picture in memory until its objects are there, one picture at a time: the mean of the
runs; of a group, the geometric mean of its pictures.</dd>
<dt>Deviation</dt><dd>The runs' standard deviation as a share of their mean; of a group, the mean of these shares.</dd>
<dt>Objects</dt><dd>That are found. Sightline's implementations must all find the same.</dd>
<dt>Speed-up</dt><dd>Ratio of the geometric means.</dd>
<dt>J</dt><dd>Joules a picture, from a meter that the machine has.</dd>
<dt>Copied, mapped</dt><dd>How pictures and results get to a device and back.</dd>
)";

}  // namespace

std::string experiment_as_text(const Experiment& e) {
  std::string text = fmt::format("{}; {} runs each, one picture at a time; speed-up against {}\n", e.input,
                                 e.repeats, baseline_name(e));
  for (const std::string& group : e.groups())
    text += fmt::format("\n{}: {}\n\n{}\n{}\n", group, pictures_text(e, group), group_table(e, group),
                        verdict(e, group));
  text += '\n';
  std::vector<std::pair<std::string, std::string>> places;  // what runs there, in the order of the table
  for (const Implementation& one : e.implementations) {
    if (!places.empty() && places.back().second == one.runs_on) {
      if (!places.back().first.ends_with(one.name)) places.back().first += ", " + one.name;
    } else {
      places.emplace_back(one.name, one.runs_on);
    }
  }
  for (const auto& [names, where] : places) text += fmt::format("{}: {}\n", names, where);
  for (const std::string& what : e.left_out) text += fmt::format("skipped: {}\n", what);
  if (!e.meter_note.empty()) text += fmt::format("energy: {}\n", e.meter_note);
  for (const std::string& what : findings(e)) text += what + '\n';
  return text;
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
                       {"joules", number_or_null(t.joules)}});
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
                       {"joules", number_or_null(t.joules)}});
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
  std::string text =
      "group,picture,width,height,implementation,buffers,runs_on,runs,mean_ms,deviation_ms,median_ms,objects,"
      "speed_up,joules,model,machine,program\n";
  const auto row = [&](std::vector<std::string> fields, const Implementation& one,
                       const std::vector<std::string>& values) {
    fields.insert(fields.end(),
                  {field(one.name), one.buffers, field(one.runs_on), std::to_string(e.repeats)});
    fields.insert(fields.end(), values.begin(), values.end());
    fields.insert(fields.end(), {field(e.model), field(e.machine), field(e.program)});
    text += fmt::format("{}\n", fmt::join(fields, ","));
  };
  const auto joules = [](const std::optional<double>& value) { return value ? field(*value) : ""; };
  for (const PictureResult& picture : e.pictures) {
    for (std::size_t i = 0; i < picture.times.size(); ++i) {
      const PictureTimes& t = picture.times[i];
      row({field(picture.group), field(picture.name), std::to_string(picture.size.width),
           std::to_string(picture.size.height)},
          e.implementations[i],
          {field(t.mean() * 1e3), field(t.deviation() * 1e3), field(median(t.seconds) * 1e3),
           std::to_string(t.objects), field(picture.times[e.baseline].mean() / t.mean()), joules(t.joules)});
    }
  }
  for (const std::string& group : e.groups()) {
    for (std::size_t i = 0; i < e.implementations.size(); ++i) {
      const GroupTimes t = e.group_times(group, i);
      row({field(group), "", "", ""}, e.implementations[i],
          {field(t.seconds * 1e3), field(t.seconds * t.deviation * 1e3), "", std::to_string(t.objects),
           field(t.speed_up), joules(t.joules)});
    }
  }
  return text;
}

std::string experiment_as_page(const Experiment& e) {
  std::string sections = fmt::format(
      "<article>\n<h1>{} implementations, {} pictures</h1>\n<p class=\"subject\">{}; {} runs each, one "
      "picture at "
      "a time; speed-up against {}</p>\n",
      e.implementations.size(), e.pictures.size(), escape_markup(e.input), e.repeats,
      escape_markup(baseline_name(e)));
  for (const std::string& group : e.groups())
    sections += group_card(e, group) + pictures_details(e, group) + "</section>\n";
  for (const std::string& what : findings(e))
    sections += fmt::format("<p class=\"note\">{}.</p>\n", escape_markup(what));
  sections += facts(e) + "</article>\n";
  return report_page("Sightline: " + e.input, sections, kExperimentGuide,
                     R"({"colours":{},"measurements":[]})");
}

}  // namespace sightline::pipeline
