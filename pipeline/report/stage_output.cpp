#include "pipeline/report/stage_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/report/document.hpp"

namespace sightline::pipeline {
namespace {

using namespace report;
using Json = nlohmann::ordered_json;

constexpr double kTellingIdle = 0.03;  // share of the idle power from which on its error is told
constexpr const char* kIdleColour = "#c3c8d0";
constexpr const char* kRestColour = "#8a919c";

char letter_of(std::size_t processor) {
  return static_cast<char>('A' + std::min<std::size_t>(processor, 25));
}

std::string watts_text(const std::optional<Power>& power) {
  return power ? figures(power->watts) : "-";
}

// The reason for no joules where there are none.
Cell joules_cell(const StageMeasurement& m, const std::optional<FrameJoules>& joules) {
  Cell cell(joules ? thousandths(joules->whole) : m.meter.empty() ? "no meter" : "not seen");
  if (joules && m.repeats > 1) cell.small = "±" + thousandths(joules->spread);
  return cell;
}

// The rows in the order of the stages, each stage's processors side by side.
std::vector<const AloneRow*> by_stage(const StageMeasurement& m) {
  std::vector<const AloneRow*> rows;
  for (const AloneRow& row : m.rows) rows.push_back(&row);
  const auto rank = [&](const AloneRow* row) {
    const std::size_t stage = row->kind == AloneRow::Kind::upload     ? 0
                              : row->kind == AloneRow::Kind::download ? m.stages.size() + 1
                                                                      : row->stage + 1;
    return std::pair(stage, row->processor);
  };
  std::ranges::stable_sort(rows, {}, rank);
  return rows;
}

// For each stage that was measured on several processors: which of them takes less of what is known.
std::vector<std::string> comparisons(const StageMeasurement& m) {
  std::vector<std::string> lines;
  for (std::size_t stage = 0; stage < m.stages.size(); ++stage) {
    std::vector<const AloneRow*> rows;
    for (const AloneRow& row : m.rows) {
      if (row.kind == AloneRow::Kind::stage && row.stage == stage) rows.push_back(&row);
    }
    if (rows.size() < 2) continue;
    const auto [fast, slow] = std::ranges::minmax(rows, {}, [](const AloneRow* row) { return row->seconds; });
    const double ratio = slow->seconds / std::max(fast->seconds, 1e-12);
    std::string line =
        fmt::format("{}: {} is {} times as fast as {}", m.stages[stage], letter_of(fast->processor),
                    ratio > 1000 ? "more than 1000" : figures(ratio), letter_of(slow->processor));
    std::erase_if(rows, [](const AloneRow* row) { return !row->joules || row->joules->above_idle <= 0; });
    if (rows.size() >= 2) {
      const auto [least, most] =
          std::ranges::minmax(rows, {}, [](const AloneRow* row) { return row->joules->above_idle; });
      line += fmt::format("; {} takes {} less energy above idle than {}", letter_of(least->processor),
                          whole_percent(1 - least->joules->above_idle / most->joules->above_idle),
                          letter_of(most->processor));
    }
    lines.push_back(line);
  }
  return lines;
}

// On the figures, and on what they leave out; a sentence each.
std::vector<std::string> remarks(const StageMeasurement& m) {
  std::vector<std::string> lines;
  if (m.meter.empty()) {
    lines.push_back("no energy measured: " + (m.meter_note.empty() ? "there is no meter" : m.meter_note));
  } else {
    lines.push_back(fmt::format("energy: {} ({})", m.meter, m.meter_note));
  }
  std::vector<std::string> unseen;
  for (std::size_t i = 0; i < m.processors.size(); ++i) {
    if (!m.meter.empty() && !m.seen[i])
      unseen.push_back(fmt::format("{} ({})", letter_of(i), m.processors[i]));
  }
  if (!unseen.empty()) {
    lines.push_back(fmt::format("no meter sees {}: its energy is unknown and in no figure here",
                                fmt::join(unseen, ", ")));
  }
  if (const double error = idle_error(m); error > kTellingIdle * m.idle_watts) {
    lines.push_back(
        fmt::format("idle power is known within {} W ({} before, {} after); joules above idle have this "
                    "error over a frame",
                    figures(error), figures(m.idle_before->watts), figures(m.idle_after->watts)));
  }
  if (!m.part_names.empty()) {
    lines.push_back(fmt::format("{}: part of the meters' figures, above idle, in mJ per frame",
                                fmt::join(m.part_names, ", ")));
  }
  if (std::ranges::any_of(m.rows, &AloneRow::made_ready))
    lines.push_back(
        "+: this stage changes its input, so all stages before it are repeated each time, measured "
        "separately and subtracted");
  for (const std::string& what : m.left_out) lines.push_back("skipped: " + what);
  return lines;
}

Table alone_table(const StageMeasurement& m) {
  using Row = const AloneRow*;
  AloneRow before, after;
  before.name = "idle, before", before.power = m.idle_before;
  after.name = "idle, after", after.power = m.idle_after;
  std::vector<Row> rows = by_stage(m);
  if (m.idle_before) rows.insert(rows.begin(), &before);
  if (m.idle_after) rows.push_back(&after);
  // What only a stage has.
  const auto of_stage = [&](auto cell) {
    return [&, cell](auto& row) { return row == &before || row == &after ? Cell() : Cell(cell(*row)); };
  };
  std::vector<ColumnOf<Row>> columns{
      {"alone", [](auto& row) { return row->name + (row->made_ready ? " +" : ""); }},
      {"on", of_stage([](auto& row) { return std::string(1, letter_of(row.processor)); })},
      {"ms", of_stage([](auto& row) { return row.does_nothing() ? "<0.001" : thousandths(row.seconds); })},
      {"frames/s", of_stage([](auto& row) { return row.does_nothing() ? "-" : rate_text(row.fps()); })},
      {"busy", of_stage([](auto& row) { return whole_percent(row.utilisation); })},
      {"W", [](auto& row) { return watts_text(row->power); }},
      {"MHz", [](auto& row) { return row->power ? clocks_text(row->power->megahertz) : ""; }},
      {"mJ/frame\t±", of_stage([&](auto& row) { return joules_cell(m, row.joules); })},
      {"above idle",
       of_stage([](auto& row) { return row.joules ? thousandths(row.joules->above_idle) : "-"; })}};
  for (std::size_t i = 0; i < m.part_names.size(); ++i)
    columns.push_back({m.part_names[i], of_stage([i](auto& row) {
                         return row.joules && i < row.joules->parts.size() ? thousandths(row.joules->parts[i])
                                                                           : "";
                       })});
  Table table = table_of(rows, columns);
  return table;
}

Table whole_table(const StageMeasurement& m, const std::vector<WholeRow>& rows, bool is_mapping) {
  const In in_schedules = is_mapping ? In::page : In::both, in_mappings = is_mapping ? In::both : In::page;
  const auto part_of = [](double JoulesExplained::*part) {
    return [part](auto& row) { return explained(row) ? thousandths((*explained(row)).*part) : ""; };
  };
  Table table = table_of<WholeRow>(
      rows, {{is_mapping ? "every mapping" : "schedule", &WholeRow::name},
             {"flight", [](auto& row) { return row.schedule.in_flight; }, in_mappings},
             {"frames/s", [](auto& row) { return rate_text(row.fps); }},
             {"predicted", [](auto& row) { return rate_text(row.predicted_fps); }, in_mappings},
             {"overlap", [](auto& row) { return figures(row.overlap_factor); }, in_schedules},
             {"busy %",
              [](auto& row) {
                std::vector<std::string> shares;
                for (const double share : row.utilisations) shares.push_back(percents(share));
                return fmt::format("{}", fmt::join(shares, "/"));
              },
              in_schedules},
             {"W", [](auto& row) { return watts_text(row.power); }},
             {"MHz", [](auto& row) { return row.power ? clocks_text(row.power->megahertz) : ""; }},
             {"mJ/frame\t±", [&](auto& row) { return joules_cell(m, row.joules); }},
             {"above idle", [](auto& row) { return row.joules ? thousandths(row.joules->above_idle) : "-"; },
              In::page},
             {"predicted",
              [](auto& row) { return row.predicted_joules ? thousandths(*row.predicted_joules) : "-"; },
              in_mappings},
             {"idle", part_of(&JoulesExplained::idle), in_schedules},
             {"stages", part_of(&JoulesExplained::stages), in_schedules},
             {"rest", part_of(&JoulesExplained::rest), in_schedules},
             {"mapping", &WholeRow::mapping, In::page}});
  table.best = most_frugal(rows);
  return table;
}

std::string short_name(const StageMeasurement& m, std::size_t processor) {
  if (processor == 0) return "CPU";
  return m.processors.size() > 2 ? fmt::format("dev {}", processor - 1) : "device";
}

// The parts that a meter tells apart, and what is left of the whole above idle; millijoules.
std::vector<StackedBar::Piece> stage_pieces(const StageMeasurement& m, const FrameJoules& joules) {
  std::vector<StackedBar::Piece> pieces;
  double left = joules.above_idle;
  for (std::size_t i = 0; i < joules.parts.size(); ++i) {
    const double part = std::clamp(joules.parts[i], 0.0, std::max(left, 0.0));
    pieces.push_back({1e3 * part, line_colour(i + 1), m.part_names[i]});
    left -= part;
  }
  pieces.push_back({1e3 * std::max(left, 0.0), line_colour(0),
                    m.part_names.empty() ? "above idle" : "the rest above idle"});
  pieces.push_back(
      {1e3 * std::max(joules.whole - std::max(joules.above_idle, 0.0), 0.0), kIdleColour, "idle"});
  return pieces;
}

std::vector<StackedBar::Piece> schedule_pieces(const WholeRow& row) {
  const double whole = row.joules->whole;
  const auto parts = explained(row);
  if (!parts) return {{1e3 * whole, kRestColour, "not told apart"}};
  // What is saved is taken off the stages: the bar ends where the whole does.
  const double stages = std::max(parts->stages + std::min(parts->rest, 0.0), 0.0);
  return {{1e3 * stages, line_colour(0), "above idle"},
          {1e3 * std::max(parts->rest, 0.0), kRestColour, "handing over and waiting"},
          {1e3 * std::max(whole - stages - std::max(parts->rest, 0.0), 0.0), kIdleColour, "idle"}};
}

std::string subject_of(const StageMeasurement& m) {
  const std::string name = std::filesystem::path(m.input).filename().string();
  return fmt::format("{}, {}x{}", name.empty() ? m.input : name, m.frame_size.width, m.frame_size.height);
}

// Energies, or times where there is no meter: a bar for each stage on each processor, then one a schedule.
Chart bars_of(const StageMeasurement& m) {
  const bool energy = !m.meter.empty();
  const std::string unit = energy ? "mJ" : "ms";
  Chart chart{.label = (energy ? "Energy of a frame, mJ: " : "Time of a frame, ms: ") + subject_of(m),
              .x = {.label = unit + " per frame"}};
  chart.title = chart.label;
  const auto add = [&](StackedBar bar, const std::optional<FrameJoules>& joules) {
    if (energy && joules) bar.spread = 1e3 * joules->spread;
    if (energy && !joules) bar.missing = "not seen";
    chart.bars.push_back(std::move(bar));
  };
  for (const AloneRow* row : by_stage(m)) {
    StackedBar bar{row->name + ", " + short_name(m, row->processor)};
    if (!energy)
      bar.pieces = {{1e3 * row->seconds, line_colour(row->processor), m.processors[row->processor]}};
    if (energy && row->joules) bar.pieces = stage_pieces(m, *row->joules);
    add(bar, row->joules);
  }
  for (const WholeRow& row : m.schedules) {
    StackedBar bar{"schedule " + row.name};
    if (!energy) bar.pieces = {{row.fps > 0 ? 1e3 / row.fps : 0, kRestColour, "a schedule's frame"}};
    if (energy && row.joules) bar.pieces = schedule_pieces(row);
    add(bar, row.joules);
  }
  return chart;
}

std::vector<Block> notes_of(const std::vector<std::string>& lines) {
  std::vector<Block> blocks;
  for (const std::string& line : lines) blocks.push_back({Note{line}});
  return blocks;
}

Section stage_facts(const StageMeasurement& m) {
  Facts facts = facts_of(m);
  if (m.idle_before)
    facts.items.emplace_back(
        "Idle power",
        fmt::format("{} W before, {} W after", figures(m.idle_before->watts), figures(m.idle_after->watts)));
  return {"What was measured", {{facts, In::page}}};
}

const NamedTexts kStagesGuide{
    {"Alone",
     "One stage again and again on one frame, its inputs made beforehand; a device has several turns "
     "enqueued, so that it need not wait. Copies are of the frame, and of what the device's stages leave for "
     "the CPU."},
    {"mJ a frame",
     "All that the meters count while a frame is worked on. Above idle: less the idle power (the mean of "
     "before and after) over that time."},
    {"±", "Half the range of the windows that a row was measured in."},
    {"Rest",
     "What a whole schedule takes besides idle power and the sum of its stages alone: handing over, waiting "
     "threads, the output. Below 0: what is awake for one stage serves another, too."},
    {"Predicted", "From each stage's time and energy alone."}};

Document stage_document(const StageMeasurement& m) {
  const std::string title =
      fmt::format("Stages alone: {}{}{}", subject_of(m), m.variant.empty() ? "" : ", ", m.variant);
  std::vector<std::string> processors;
  for (std::size_t i = 0; i < m.processors.size(); ++i)
    processors.push_back(fmt::format("{}: {}", letter_of(i), m.processors[i]));
  const std::string explanation = fmt::format(
      "idle: {} W over the time of a frame; stages: sum of the isolated stages and copies above idle; rest: "
      "the "
      "difference to the whole (hand-over, waiting threads, output), below 0 if stages share what is awake",
      figures(m.idle_watts));
  return {
      "Sightline: " + title,
      {{title,
        fmt::format("{}, {}x{}{}{}, one frame in memory; {} s each in {} window{}", m.input,
                    m.frame_size.width, m.frame_size.height, m.variant.empty() ? "" : ", ", m.variant,
                    figures(m.seconds), m.repeats, m.repeats == 1 ? "" : "s"),
        {{m.meter.empty() ? "Time of a frame" : "Energy of a frame", {{bars_of(m)}}},
         {"Each stage alone", {{alone_table(m)}, {Note{fmt::format("{}", fmt::join(processors, ", "))}}}},
         {"", notes_of(remarks(m))},
         {"", notes_of(comparisons(m))},
         {"Whole schedules",
          {{whole_table(m, m.schedules, false)},
           {Note{m.schedules.empty() || m.meter.empty() ? "" : explanation}}}},
         {"Every mapping of stages",
          {{whole_table(m, m.mappings, true)},
           {Note{m.mappings.empty() ? ""
                                    : fmt::format("one letter per stage ({}): g on the device, c on the CPU",
                                                  fmt::join(m.stages, " "))}}}},
         stage_facts(m)}}},
      kStagesGuide};
}

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
          {"parts", named(m.part_names, power->parts)},
          {"megahertz", named(m.meter_names, power->megahertz)}};
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

// All but the rows.
Json measurement_json(const StageMeasurement& m) {
  return {{"program", m.program},
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
}

}  // namespace

std::string stages_as_text(const StageMeasurement& m) {
  return to_text(stage_document(m));
}

std::string stages_as_page(const StageMeasurement& m) {
  return to_html(stage_document(m));
}

std::string stages_as_svg(const StageMeasurement& m) {
  return to_svg({bars_of(m)});
}

std::string stages_as_json(const StageMeasurement& m) {
  Json json = measurement_json(m);
  json["processors"] = Json::array();
  for (std::size_t i = 0; i < m.processors.size(); ++i)
    json["processors"].push_back({{"name", m.processors[i]}, {"seen_by_meter", m.seen[i] ? true : false}});
  json["alone"] = Json::array();
  for (const AloneRow* row : by_stage(m)) json["alone"].push_back(row_json(m, *row));
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
  const Json all = measurement_json(m);
  std::vector<Json> rows;
  const auto add = [&](const char* kind, const Json& what) {
    Json& row = rows.emplace_back(all);
    row["kind"] = kind;
    row.update(what);
    for (std::size_t i = 0; what["power"].is_object() && i < m.part_names.size(); ++i)
      row["watts of " + m.part_names[i]] = what["power"]["parts"][m.part_names[i]];
    for (std::size_t i = 0; what["power"].is_object() && i < m.meter_names.size(); ++i)
      row["MHz by " + m.meter_names[i]] = what["power"]["megahertz"][m.meter_names[i]];
  };
  if (m.idle_before) add("idle", {{"name", "before"}, {"power", power_json(m, m.idle_before)}});
  for (const AloneRow* row : by_stage(m)) add("", row_json(m, *row));
  if (m.idle_after) add("idle", {{"name", "after"}, {"power", power_json(m, m.idle_after)}});
  for (const auto& [kind, wholes] : {std::pair("schedule", &m.schedules), {"mapping", &m.mappings}}) {
    for (const WholeRow& whole : *wholes) {
      Json json = whole_json(m, whole);
      json["processor"] = whole.mapping;
      json["ms"] = whole.fps > 0 ? 1e3 / whole.fps : 0;
      add(kind, json);
    }
  }
  std::vector<std::string> columns = split(
      "input,width,height,variant,kind,name,processor,ms,fps,utilisation,overlap_factor,watts=/power/watts,"
      "watts_lowest=/power/lowest,watts_highest=/power/highest,joules=/joules/whole,"
      "joules_above_idle=/joules/above_idle,joules_spread=/joules/spread,joules_predicted=/predicted_joules,"
      "joules_idle=/explained/idle,joules_stages=/explained/stages,joules_rest=/explained/rest",
      ',');
  for (const std::string& part : m.part_names) columns.push_back("watts of " + part);
  for (const std::string& meter : m.meter_names) columns.push_back("MHz by " + meter);
  for (const char* name : {"model", "machine", "program", "meter"}) columns.emplace_back(name);
  return to_csv(rows, columns);
}

}  // namespace sightline::pipeline
