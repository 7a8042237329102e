// Stage measurements for other programs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "pipeline/report/measurement_text.hpp"
#include "pipeline/report/stage_output.hpp"

namespace sightline::pipeline {
namespace {

using Json = nlohmann::ordered_json;

Json named(const std::vector<std::string>& names, const std::vector<double>& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) json[names[i]] = values[i];
  return json;
}

Json power_json(const StageMeasurement& m, const std::optional<Power>& power) {
  if (!power) return {};
  return {{"watts", power->watts},
          {"lowest", power->lowest},
          {"highest", power->highest},
          {"meters", named(m.meter_names, power->meters)},
          {"parts", named(m.part_names, power->parts)}};
}

Json joules_json(const StageMeasurement& m, const std::optional<FrameJoules>& joules) {
  if (!joules) return {};
  return {{"whole", joules->whole},
          {"above_idle", joules->above_idle},
          {"spread", joules->spread},
          {"parts_above_idle", named(m.part_names, joules->parts)}};
}

Json maybe(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

const char* kind_of(const AloneRow& row) {
  switch (row.kind) {
    case AloneRow::Kind::upload:
      return "upload";
    case AloneRow::Kind::download:
      return "download";
    default:
      return "stage";
  }
}

Json row_json(const StageMeasurement& m, const AloneRow& row) {
  return {{"kind", kind_of(row)},
          {"name", row.name},
          {"processor", m.processors[row.processor]},
          {"ms", row.seconds * 1e3},
          {"fps", row.fps()},
          {"utilisation", row.utilisation},
          {"made_ready", row.made_ready},
          {"power", power_json(m, row.power)},
          {"joules", joules_json(m, row.joules)}};
}

Json whole_json(const StageMeasurement& m, const WholeRow& row) {
  Json json{{"name", row.name},
            {"mapping", row.mapping},
            {"in_flight", row.schedule.in_flight},
            {"fps", row.fps},
            {"fps_lowest", row.fps_lowest},
            {"fps_highest", row.fps_highest},
            {"predicted_fps", row.predicted_fps},
            {"overlap_factor", row.overlap_factor},
            {"utilisations", row.utilisations},
            {"power", power_json(m, row.power)},
            {"joules", joules_json(m, row.joules)},
            {"predicted_joules", maybe(row.predicted_joules)}};
  const auto parts = explained(row);
  json["explained"] =
      parts ? Json{{"idle", parts->idle}, {"stages", parts->stages}, {"rest", parts->rest}} : Json();
  return json;
}

}  // namespace

std::string stages_as_json(const StageMeasurement& m) {
  Json json{{"program", m.program},
            {"machine", m.machine},
            {"input", m.input},
            {"width", m.frame_size.width},
            {"height", m.frame_size.height},
            {"model", m.model},
            {"variant", m.variant.empty() ? Json() : Json(m.variant)},
            {"seconds", m.seconds},
            {"repeats", m.repeats},
            {"meter", m.meter.empty() ? Json() : Json(m.meter)},
            {"meter_note", m.meter_note.empty() ? Json() : Json(m.meter_note)},
            {"idle_before", power_json(m, m.idle_before)},
            {"idle_after", power_json(m, m.idle_after)}};
  json["processors"] = Json::array();
  for (std::size_t i = 0; i < m.processors.size(); ++i)
    json["processors"].push_back({{"name", m.processors[i]}, {"seen_by_meter", m.seen[i] ? true : false}});
  json["alone"] = Json::array();
  for (const std::size_t place : by_stage(m)) json["alone"].push_back(row_json(m, m.rows[place]));
  json["left_out"] = m.left_out;
  json["schedules"] = Json::array();
  for (const WholeRow& row : m.schedules) json["schedules"].push_back(whole_json(m, row));
  if (!m.mappings.empty()) {
    json["mappings"] = Json::array();
    for (const WholeRow& row : m.mappings) json["mappings"].push_back(whole_json(m, row));
  }
  return json_text(json, 2) + '\n';
}

std::string stages_as_csv(const StageMeasurement& m) {
  std::string text =
      "input,width,height,variant,kind,name,processor,ms,fps,utilisation,overlap_factor,watts,watts_lowest,"
      "watts_highest,joules,joules_above_idle,joules_spread,joules_predicted,joules_idle,joules_stages,"
      "joules_rest";
  for (const std::string& part : m.part_names) text += ',' + field("watts of " + part);
  text += ",model,machine,program,meter\n";
  const auto line = [&](const std::vector<std::string>& of_row, const std::optional<Power>& power,
                        const std::optional<FrameJoules>& joules, const std::vector<std::string>& of_whole) {
    std::vector<std::string> fields{field(m.input), std::to_string(m.frame_size.width),
                                    std::to_string(m.frame_size.height), field(m.variant)};
    fields.insert(fields.end(), of_row.begin(), of_row.end());
    fields.push_back(power ? field(power->watts) : "");
    fields.push_back(power ? field(power->lowest) : "");
    fields.push_back(power ? field(power->highest) : "");
    fields.push_back(joules ? field(joules->whole) : "");
    fields.push_back(joules ? field(joules->above_idle) : "");
    fields.push_back(joules ? field(joules->spread) : "");
    fields.insert(fields.end(), of_whole.begin(), of_whole.end());
    for (std::size_t i = 0; i < m.part_names.size(); ++i)
      fields.push_back(power ? field(power->parts.at(i)) : "");
    fields.insert(fields.end(), {field(m.model), field(m.machine), field(m.program), field(m.meter)});
    text += fmt::format("{}\n", fmt::join(fields, ","));
  };
  const std::vector<std::string> no_whole(4);
  if (m.idle_before) line({"idle", "before", "", "", "", "", ""}, m.idle_before, {}, no_whole);
  for (const std::size_t place : by_stage(m)) {
    const AloneRow& row = m.rows[place];
    line({kind_of(row), field(row.name), field(m.processors[row.processor]), field(row.seconds * 1e3),
          field(row.fps()), field(row.utilisation), ""},
         row.power, row.joules, no_whole);
  }
  if (m.idle_after) line({"idle", "after", "", "", "", "", ""}, m.idle_after, {}, no_whole);
  const auto wholes = [&](const char* kind, const std::vector<WholeRow>& rows) {
    for (const WholeRow& row : rows) {
      const auto parts = explained(row);
      line({kind, field(row.name), field(row.mapping), field(row.fps > 0 ? 1e3 / row.fps : 0), field(row.fps),
            "", field(row.overlap_factor)},
           row.power, row.joules,
           {row.predicted_joules ? field(*row.predicted_joules) : "", parts ? field(parts->idle) : "",
            parts ? field(parts->stages) : "", parts ? field(parts->rest) : ""});
    }
  };
  wholes("schedule", m.schedules);
  wholes("mapping", m.mappings);
  return text;
}

}  // namespace sightline::pipeline
