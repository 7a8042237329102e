#include "pipeline/report/measurement_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "pipeline/report/measurement_text.hpp"
#include "pipeline/report/sweep_output.hpp"

namespace sightline::pipeline {
namespace {

using Json = nlohmann::ordered_json;

/// Characters of UTF-8, which are columns for the letters that we print.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string busy(const ScheduleResult& schedule, const Names& processors) {
  std::string text;
  for (const std::string& name : processors.all()) {
    const auto found = std::find_if(schedule.processors.begin(), schedule.processors.end(),
                                    [&](const ProcessorResult& processor) { return processor.name == name; });
    if (!text.empty()) text += '/';
    text += found == schedule.processors.end() ? "-" : fmt::format("{:.0f}", found->utilisation * 100);
  }
  return text;
}

std::string schedule_table(const Measurement& measurement) {
  const Names processors = processors_of(measurement);
  std::vector<std::vector<std::string>> rows{{"schedule", "frames/s", "spread", "p50 ms", "p95 ms", "p99 ms",
                                              "bound", "share", "overlap", "busy %", "MB", "J/frame"}};
  for (const ScheduleResult& s : measurement.schedules) {
    rows.push_back({s.schedule, rate(s.fps_median), spread(s), milliseconds(s.latency_p50),
                    milliseconds(s.latency_p95), milliseconds(s.latency_p99), rate(s.bound_fps),
                    s.bound_fps > 0 ? whole_percent(s.bound_share) : "-", figures(s.overlap_factor),
                    busy(s, processors), megabytes(s.peak_memory_bytes), energy(measurement, s)});
  }
  std::string text = aligned(rows);
  text += fmt::format("\nbusy: {}\n", fmt::join(processors.all(), " / "));
  text += "bound: rate of the slowest processor, from isolated stage times; share: rate reached / bound\n";
  if (const std::string remark = bound_remark(measurement); !remark.empty()) text += remark + "\n";
  return text;
}

/// One letter a processor: A, B, ...
char letter(const Names& processors, const std::string& name) {
  const auto& all = processors.all();
  const auto found = std::find(all.begin(), all.end(), name);
  return static_cast<char>('A' + std::min<std::ptrdiff_t>(found - all.begin(), 25));
}

/// Times of the stages under schedules `first` to before `last`.
std::string stage_table(const Measurement& measurement, const Names& processors, std::size_t first,
                        std::size_t last) {
  std::vector<std::vector<std::string>> rows(2);
  rows[0] = {""};
  rows[1] = {"stage, ms a frame"};
  for (std::size_t i = first; i < last; ++i) {
    rows[0].push_back(measurement.schedules[i].schedule + "  ");
    rows[1].push_back(fmt::format("{:>5} {:>5}  ", "alone", "run"));
  }
  for (const StageRow& row : stage_rows(measurement)) {
    std::vector<std::string> cells{row.name};
    for (std::size_t i = first; i < last; ++i) {
      const StageResult* r = row.results[i];
      cells.push_back(r ? fmt::format("{:>5} {:>5} {}", milliseconds(r->alone), milliseconds(r->seconds),
                                      letter(processors, r->processor))
                        : "");
    }
    rows.push_back(cells);
  }
  return aligned(rows);
}

std::string stage_tables(const Measurement& measurement) {
  constexpr std::size_t kFirstColumn = 17, kColumn = 15;
  constexpr std::size_t kAtOnce = (kColumns - kFirstColumn) / kColumn;
  Names processors;
  for (const ScheduleResult& schedule : measurement.schedules) {
    for (const StageResult& stage : schedule.stages) processors.add(stage.processor);
  }
  std::string text;
  for (std::size_t first = 0; first < measurement.schedules.size(); first += kAtOnce) {
    text +=
        stage_table(measurement, processors, first, std::min(first + kAtOnce, measurement.schedules.size())) +
        '\n';
  }
  for (const std::string& name : processors.all())
    text += fmt::format("{}{}: {}", text.ends_with('\n') ? "" : ", ", letter(processors, name), name);
  return text + '\n';
}

Json optional_text(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json as_json(const StageResult& stage) {
  return {{"name", stage.name},
          {"processor", stage.processor},
          {"ms", stage.seconds * 1e3},
          {"ms_alone", stage.alone * 1e3}};
}

Json as_json(const ScheduleResult& s) {
  Json json{{"schedule", s.schedule},
            {"mapping", s.mapping},
            {"in_flight", s.in_flight},
            {"split", s.split},
            {"frames", s.frames},
            {"fps", s.fps_median},
            {"fps_lowest", s.fps_lowest},
            {"fps_highest", s.fps_highest},
            {"fps_runs", s.fps},
            {"bound_fps", s.bound_fps},
            {"bound_by", s.bound_by},
            {"bound_share", s.bound_share},
            {"overlap_factor", s.overlap_factor}};
  json["latency_ms"] = {
      {"p50", s.latency_p50 * 1e3}, {"p95", s.latency_p95 * 1e3}, {"p99", s.latency_p99 * 1e3}};
  json["stages"] = Json::array();
  for (const StageResult& stage : s.stages) json["stages"].push_back(as_json(stage));
  json["processors"] = Json::array();
  for (const ProcessorResult& processor : s.processors) {
    json["processors"].push_back({{"name", processor.name},
                                  {"utilisation", processor.utilisation},
                                  {"bound_fps", processor.bound_fps}});
  }
  json["overlap"] = s.overlap;
  json["peak_memory_bytes"] = s.peak_memory_bytes;
  json["joules_per_frame"] = s.joules_per_frame ? Json(*s.joules_per_frame) : Json();
  return json;
}

Json as_json(const Measurement& m) {
  Json json{{"program", m.program},
            {"machine", m.machine},
            {"input", m.input},
            {"width", m.frame_size.width},
            {"height", m.frame_size.height},
            {"decoding", m.decoding},
            {"model", m.model},
            {"variant", optional_text(m.variant)},
            {"kernels", optional_text(m.kernels)},
            {"meter", optional_text(m.meter)},
            {"meter_note", optional_text(m.meter_note)},
            {"accuracy", optional_text(m.accuracy)}};
  json["work"] = Json::array();
  for (const WorkCount& one : m.work) json["work"].push_back({{"what", one.what}, {"count", one.count}});
  const auto best = best_schedule(m);
  json["best"] = best ? Json(m.schedules[*best].schedule) : Json();
  json["schedules"] = Json::array();
  for (const ScheduleResult& schedule : m.schedules) json["schedules"].push_back(as_json(schedule));
  for (const KernelSweep& sweep : m.sweeps) json["sweeps"].push_back(sweep_as_json(sweep));
  return json;
}

std::string csv_row(const Measurement& m, const ScheduleResult& s) {
  std::string utilisation;
  for (const ProcessorResult& processor : s.processors) {
    if (!utilisation.empty()) utilisation += ';';
    utilisation += processor.name + '=' + field(processor.utilisation);
  }
  const std::vector<std::string> fields{field(m.input),
                                        std::to_string(m.frame_size.width),
                                        std::to_string(m.frame_size.height),
                                        field(m.variant),
                                        field(s.schedule),
                                        field(s.mapping),
                                        std::to_string(s.in_flight),
                                        field(s.split),
                                        std::to_string(s.frames),
                                        field(s.fps_median),
                                        field(s.fps_lowest),
                                        field(s.fps_highest),
                                        field(s.latency_p50 * 1e3),
                                        field(s.latency_p95 * 1e3),
                                        field(s.latency_p99 * 1e3),
                                        field(s.bound_fps),
                                        field(s.bound_by),
                                        field(s.bound_share),
                                        field(s.overlap_factor),
                                        field(utilisation),
                                        std::to_string(s.peak_memory_bytes),
                                        s.joules_per_frame ? field(*s.joules_per_frame) : "",
                                        field(m.model),
                                        field(m.machine),
                                        field(m.program),
                                        field(m.kernels)};
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string field(double value) {
  if (!std::isfinite(value)) return {};
  std::array<char, 40> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = row[0] + std::string(widths[0] - width(row[0]), ' ');
    for (std::size_t i = 1; i < row.size(); ++i)
      line += std::string(2 + widths[i] - width(row[i]), ' ') + row[i];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string figures(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const int decimals = size >= 999.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || size == 0 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string whole_percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.0f}%", share * 100) : "-";
}

std::string megabytes(std::int64_t bytes) {
  return bytes > 0 ? fmt::format("{:.0f}", static_cast<double>(bytes) / 1e6) : "-";
}

std::string energy(const Measurement& measurement, const ScheduleResult& schedule) {
  if (schedule.joules_per_frame) return figures(*schedule.joules_per_frame);
  return measurement.meter.empty() ? "no meter" : "-";
}

std::string spread(const ScheduleResult& s) {
  if (s.fps.size() < 2 || s.fps_median <= 0) return {};
  return fmt::format("±{:.1f}%", (s.fps_highest - s.fps_lowest) / 2 / s.fps_median * 100);
}

std::string subject(const Measurement& m) {
  std::string text = fmt::format("{}, {}x{}", m.input, m.frame_size.width, m.frame_size.height);
  if (!m.variant.empty()) text += ", " + m.variant;
  if (!m.kernels.empty()) text += fmt::format(", {} kernels", m.kernels);
  return text;
}

Names processors_of(const Measurement& measurement) {
  Names names;
  for (const ScheduleResult& schedule : measurement.schedules) {
    for (const ProcessorResult& processor : schedule.processors) names.add(processor.name);
  }
  return names;
}

std::vector<StageRow> stage_rows(const Measurement& measurement) {
  const auto& schedules = measurement.schedules;
  std::vector<StageRow> rows;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    std::size_t next = 0;  // new rows go after that of the stage before, or to their namesakes
    for (const StageResult& stage : schedules[i].stages) {
      const auto named = [&](const StageRow& row) { return row.name == stage.name; };
      auto row = std::find_if(rows.begin(), rows.end(),
                              [&](const StageRow& r) { return named(r) && !r.results[i]; });
      if (row == rows.end()) {
        const auto namesake = std::find_if(rows.rbegin(), rows.rend(), named).base();
        row = namesake == rows.begin() ? rows.begin() + static_cast<std::ptrdiff_t>(next) : namesake;
        row = rows.insert(row, StageRow{stage.name, {}});
        row->results.resize(schedules.size());
      }
      row->results[i] = &stage;
      next = static_cast<std::size_t>(row - rows.begin()) + 1;
    }
  }
  return rows;
}

std::optional<std::size_t> best_schedule(const Measurement& measurement) {
  const auto& all = measurement.schedules;
  if (all.empty()) return std::nullopt;
  const auto slower = [](const ScheduleResult& a, const ScheduleResult& b) {
    return a.fps_median < b.fps_median;
  };
  return static_cast<std::size_t>(std::max_element(all.begin(), all.end(), slower) - all.begin());
}

const ScheduleResult* runner_up(const Measurement& measurement) {
  const auto best = best_schedule(measurement);
  const ScheduleResult* next = nullptr;
  for (const ScheduleResult& other : measurement.schedules) {
    if (&other == &measurement.schedules[*best]) continue;
    if (!next || other.fps_median > next->fps_median) next = &other;
  }
  return next;
}

bool clear_winner(const ScheduleResult& best, const ScheduleResult& next) {
  return best.fps.size() < 2 || best.fps_lowest > next.fps_highest;
}

std::string bound_remark(const Measurement& measurement) {
  const auto exceeds = [](const ScheduleResult& s) { return s.bound_fps > 0 && s.bound_share >= 1.005; };
  if (std::ranges::none_of(measurement.schedules, exceeds)) return "";
  return "The bound is an estimate from frames that ran one at a time. A share above 100% means that frames "
         "in flight need less processor time each: caches stay warm, and clocks rise under load.";
}

std::string verdict(const Measurement& measurement) {
  const auto number = best_schedule(measurement);
  if (!number) return "nothing was measured";
  const ScheduleResult& best = measurement.schedules[*number];
  std::string text = fmt::format("best: {} with {} frames/s", best.schedule, rate(best.fps_median));
  if (best.bound_fps > 0)
    text += fmt::format(", {} of the bound of {}", whole_percent(best.bound_share), best.bound_by);
  const ScheduleResult* next = runner_up(measurement);
  if (!next || next->fps_median <= 0) return text;
  text += fmt::format("; {:.2f} times {}", best.fps_median / next->fps_median, next->schedule);
  if (!clear_winner(best, *next)) text += ", but their repeats overlap: no clear winner";
  return text;
}

namespace {

// How much is left of a frame's work, of which most is rejected early.
std::string work_table(const Measurement& measurement) {
  if (measurement.work.empty()) return {};
  std::vector<std::vector<std::string>> rows{{"the first frame", "count", "of all"}};
  const auto all = static_cast<double>(std::max<std::int64_t>(measurement.work.front().count, 1));
  for (const WorkCount& one : measurement.work) {
    rows.push_back({one.what, fmt::format("{}", one.count),
                    fmt::format("{:.4g}%", 100 * static_cast<double>(one.count) / all)});
  }
  return '\n' + aligned(rows);
}

// What tells a measurement from those beside it.
std::string variant(const Measurement& m) {
  return m.kernels.empty() ? m.variant : m.kernels;
}

// Variants of a detector, a line each for every schedule that they all have.
std::string side_by_side(std::span<const Measurement> measurements) {
  std::vector<std::vector<std::string>> rows{
      {"side by side", "schedule", "frames/s", "ms a frame", "p50 ms", "J/frame"}};
  for (std::size_t i = 0; i < measurements.front().schedules.size(); ++i) {
    for (const Measurement& m : measurements) {
      if (i >= m.schedules.size()) continue;
      const ScheduleResult& s = m.schedules[i];
      rows.push_back({variant(m), s.schedule, rate(s.fps_median),
                      s.fps_median > 0 ? milliseconds(1 / s.fps_median) : "-", milliseconds(s.latency_p50),
                      energy(m, s)});
    }
  }
  return aligned(rows);
}

}  // namespace

std::string measurements_as_text(std::span<const Measurement> measurements) {
  std::string text;
  for (const Measurement& m : measurements) {
    if (!text.empty()) text += '\n';
    text += subject(m) + (m.decoding ? ", decoding in the run" : ", frames in memory") + "\n\n";
    text += schedule_table(m) + '\n' + stage_tables(m) + '\n';
    if (!m.accuracy.empty()) text += fmt::format("accuracy: {}\n", m.accuracy);
    if (!m.meter_note.empty()) text += fmt::format("energy: {}\n", m.meter_note);
    text += verdict(m) + '\n';
  }
  if (measurements.size() > 1) text += '\n' + side_by_side(measurements);
  // Variants of a detector search the same windows, unless they are other models.
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    if (i == 0 || measurements[i].kernels.empty()) text += work_table(measurements[i]);
  }
  for (const Measurement& m : measurements) {
    for (const KernelSweep& sweep : m.sweeps) text += '\n' + sweep_as_text(sweep);
  }
  return text;
}

std::string measurements_as_json(std::span<const Measurement> measurements) {
  Json json;
  if (measurements.size() == 1) {
    json = as_json(measurements[0]);
  } else {
    json["measurements"] = Json::array();
    for (const Measurement& measurement : measurements) json["measurements"].push_back(as_json(measurement));
  }
  return json_text(json, 2) + '\n';
}

std::string measurements_as_csv(std::span<const Measurement> measurements) {
  std::string text =
      "input,width,height,variant,schedule,mapping,in_flight,split,frames,fps,fps_lowest,fps_highest,"
      "latency_p50_ms,latency_p95_ms,latency_p99_ms,bound_fps,bound_by,bound_share,overlap_factor,"
      "utilisation,peak_memory_bytes,joules_per_frame,model,machine,program,kernels\n";
  for (const Measurement& measurement : measurements) {
    for (const ScheduleResult& schedule : measurement.schedules) text += csv_row(measurement, schedule);
  }
  return text;
}

}  // namespace sightline::pipeline
