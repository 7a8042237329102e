#include "pipeline/report/stage_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "pipeline/report/measurement_text.hpp"

namespace sightline::pipeline {
namespace {

constexpr double kMilli = 1e3;
constexpr double kTellingIdle = 0.03;  // share of the idle power from which on its error is told

char letter_of(std::size_t processor) {
  return static_cast<char>('A' + std::min<std::size_t>(processor, 25));
}

std::string times_as_fast(double ratio) {
  return ratio > 1000 ? "more than 1000" : figures(ratio);
}

std::string watts_text(const std::optional<Power>& power) {
  return power ? figures(power->watts) : "-";
}

std::string millijoules(double joules) {
  return figures(joules * kMilli);
}

// Why there are no joules, in a cell of the table.
std::string why_none(const StageMeasurement& m) {
  return m.meter.empty() ? "no meter" : "not seen";
}

std::string spread_text(const std::optional<FrameJoules>& joules, int repeats) {
  return joules && repeats > 1 ? "±" + millijoules(joules->spread) : "";
}

std::string alone_table(const StageMeasurement& m) {
  std::vector<std::string> head{"alone", "on", "ms", "frames/s", "busy", "W", "mJ/frame", "±", "above idle"};
  for (const std::string& part : m.part_names) head.push_back(part);
  std::vector<std::vector<std::string>> rows{head};
  const auto idle = [&](const char* name, const std::optional<Power>& power) {
    if (power) rows.push_back({name, "", "", "", "", figures(power->watts)});
  };
  idle("idle, before", m.idle_before);
  for (const std::size_t place : by_stage(m)) {
    const AloneRow& row = m.rows[place];
    std::vector<std::string> cells{row.name + (row.made_ready ? " +" : ""),
                                   std::string(1, letter_of(row.processor)),
                                   row.does_nothing() ? "<0.001" : milliseconds(row.seconds),
                                   row.does_nothing() ? "-" : rate(row.fps()),
                                   whole_percent(row.utilisation),
                                   watts_text(row.power)};
    if (row.joules) {
      cells.insert(cells.end(), {millijoules(row.joules->whole), spread_text(row.joules, m.repeats),
                                 millijoules(row.joules->above_idle)});
      for (const double part : row.joules->parts) cells.push_back(millijoules(part));
    } else {
      cells.insert(cells.end(), {why_none(m), "", "-"});
    }
    rows.push_back(cells);
  }
  idle("idle, after", m.idle_after);
  return aligned(rows);
}

std::string letters_text(const StageMeasurement& m) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < m.processors.size(); ++i)
    names.push_back(fmt::format("{}: {}", letter_of(i), m.processors[i]));
  return fmt::format("{}\n", fmt::join(names, ", "));
}

std::string busy_text(const WholeRow& row) {
  std::vector<std::string> shares;
  for (const double share : row.utilisations) shares.push_back(fmt::format("{:.0f}", share * 100));
  return fmt::format("{}", fmt::join(shares, "/"));
}

std::string whole_table(const StageMeasurement& m) {
  std::vector<std::vector<std::string>> rows{
      {"schedule", "frames/s", "overlap", "busy %", "W", "mJ/frame", "±", "idle", "stages", "rest"}};
  for (const WholeRow& row : m.schedules) {
    std::vector<std::string> cells{row.name, rate(row.fps), figures(row.overlap_factor), busy_text(row),
                                   watts_text(row.power)};
    if (row.joules) {
      cells.insert(cells.end(), {millijoules(row.joules->whole), spread_text(row.joules, m.repeats)});
    } else {
      cells.insert(cells.end(), {why_none(m), ""});
    }
    if (const auto parts = explained(row))
      cells.insert(cells.end(),
                   {millijoules(parts->idle), millijoules(parts->stages), millijoules(parts->rest)});
    rows.push_back(cells);
  }
  return aligned(rows);
}

std::string explanation(const StageMeasurement& m) {
  if (m.meter.empty()) return {};
  return fmt::format(
      "idle: {} W over the time of a frame; stages: sum of the isolated stages and copies above idle;\nrest: "
      "the difference to the whole (hand-over, waiting threads, output), below 0 if stages share\nwhat is "
      "awake\n",
      figures(m.idle_watts));
}

std::string mapping_table(const StageMeasurement& m) {
  const std::string stages = fmt::format("{}", fmt::join(m.stages, " "));
  std::vector<std::vector<std::string>> rows{
      {"every mapping", "flight", "frames/s", "predicted", "W", "mJ/frame", "±", "predicted"}};
  for (const WholeRow& row : m.mappings) {
    rows.push_back({row.name, std::to_string(row.schedule.in_flight), rate(row.fps), rate(row.predicted_fps),
                    watts_text(row.power), row.joules ? millijoules(row.joules->whole) : why_none(m),
                    spread_text(row.joules, m.repeats),
                    row.predicted_joules ? millijoules(*row.predicted_joules) : "-"});
  }
  return aligned(rows) + fmt::format("\none letter per stage ({}): g on the device, c on the CPU\n", stages);
}

std::string percent_less(double less, double more) {
  return fmt::format("{:.0f}%", 100 * (1 - less / more));
}

}  // namespace

std::vector<std::size_t> by_stage(const StageMeasurement& m) {
  std::vector<std::size_t> places(m.rows.size());
  std::iota(places.begin(), places.end(), 0);
  const auto rank = [&](std::size_t place) {
    const AloneRow& row = m.rows[place];
    const std::size_t stage = row.kind == AloneRow::Kind::upload     ? 0
                              : row.kind == AloneRow::Kind::download ? m.stages.size() + 1
                                                                     : row.stage + 1;
    return std::pair(stage, row.processor);
  };
  std::ranges::stable_sort(places, {}, rank);
  return places;
}

std::vector<std::string> comparisons(const StageMeasurement& m, const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (std::size_t stage = 0; stage < m.stages.size(); ++stage) {
    std::vector<const AloneRow*> rows;
    for (const AloneRow& row : m.rows) {
      if (row.kind == AloneRow::Kind::stage && row.stage == stage) rows.push_back(&row);
    }
    if (rows.size() < 2) continue;
    const auto [fast, slow] = std::ranges::minmax(rows, {}, [](const AloneRow* row) { return row->seconds; });
    std::string line =
        fmt::format("{}: {} is {} times as fast as {}", m.stages[stage], names[fast->processor],
                    times_as_fast(slow->seconds / std::max(fast->seconds, 1e-12)), names[slow->processor]);
    std::erase_if(rows, [](const AloneRow* row) { return !row->joules || row->joules->above_idle <= 0; });
    if (rows.size() >= 2) {
      const auto [least, most] =
          std::ranges::minmax(rows, {}, [](const AloneRow* row) { return row->joules->above_idle; });
      line += fmt::format("; {} takes {} less energy above idle than {}", names[least->processor],
                          percent_less(least->joules->above_idle, most->joules->above_idle),
                          names[most->processor]);
    }
    lines.push_back(line);
  }
  return lines;
}

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

std::string stages_as_text(const StageMeasurement& m) {
  std::string text = fmt::format("{}, {}x{}{}{}, one frame in memory; {} s each in {} window{}\n\n", m.input,
                                 m.frame_size.width, m.frame_size.height, m.variant.empty() ? "" : ", ",
                                 m.variant, figures(m.seconds), m.repeats, m.repeats == 1 ? "" : "s");
  text += alone_table(m) + '\n' + letters_text(m);
  for (const std::string& line : remarks(m)) text += line + '\n';
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < m.processors.size(); ++i) letters.emplace_back(1, letter_of(i));
  if (const auto lines = comparisons(m, letters); !lines.empty())
    text += fmt::format("\n{}\n", fmt::join(lines, "\n"));
  if (!m.schedules.empty()) text += '\n' + whole_table(m) + '\n' + explanation(m);
  if (!m.mappings.empty()) text += '\n' + mapping_table(m);
  return text;
}

}  // namespace sightline::pipeline
