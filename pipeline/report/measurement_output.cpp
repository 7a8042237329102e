#include "pipeline/report/measurement_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/report/document.hpp"
#include "pipeline/report/kernel_output.hpp"
#include "pipeline/report/sweep_output.hpp"

namespace sightline::pipeline {
namespace {

using namespace report;
using Json = nlohmann::ordered_json;

std::string megabytes(std::int64_t bytes) {
  return bytes > 0 ? fmt::format("{:.0f}", static_cast<double>(bytes) / 1e6) : "-";
}

std::string energy_text(const Measurement& measurement, const ScheduleResult& schedule) {
  if (schedule.joules_per_frame) return figures(*schedule.joules_per_frame);
  return measurement.meter.empty() ? "no meter" : "-";
}

// Half the range of the repeats, of the median; empty where there was but one.
std::string spread(const ScheduleResult& s) {
  if (s.fps.size() < 2 || s.fps_median <= 0) return {};
  return fmt::format("±{:.1f}%", (s.fps_highest - s.fps_lowest) / 2 / s.fps_median * 100);
}

// What tells measurements apart: "people.avi, 768x576, 100 filters".
std::string subject(const Measurement& m) {
  std::string text = fmt::format("{}, {}x{}", m.input, m.frame_size.width, m.frame_size.height);
  if (!m.variant.empty()) text += ", " + m.variant;
  if (!m.kernels.empty()) text += fmt::format(", {} kernels", m.kernels);
  return text;
}

// Names in the order in which they first appear.
void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// One row of a table of stages by schedule. A stage that a schedule splits has a row for each of its parts.
struct StageRow {
  std::string name;
  std::vector<const StageResult*> results;  // of each schedule; null where it has none
};

std::vector<StageRow> stage_rows(const Measurement& measurement) {
  const auto& schedules = measurement.schedules;
  std::vector<StageRow> rows;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    std::size_t next = 0;  // new rows go after that of the stage before, or to their namesakes
    for (const StageResult& stage : schedules[i].stages) {
      const auto named = [&](auto& row) { return row.name == stage.name; };
      auto row = std::find_if(rows.begin(), rows.end(), [&](auto& r) { return named(r) && !r.results[i]; });
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

// The second best schedule; null where there are not two.
const ScheduleResult* runner_up(const Measurement& measurement) {
  const auto best = best_schedule(measurement);
  const ScheduleResult* next = nullptr;
  for (const ScheduleResult& other : measurement.schedules) {
    if (&other == &measurement.schedules[*best]) continue;
    if (!next || other.fps_median > next->fps_median) next = &other;
  }
  return next;
}

// False where the repeats of the two overlap.
bool clear_winner(const ScheduleResult& best, const ScheduleResult& next) {
  return best.fps.size() < 2 || best.fps_lowest > next.fps_highest;
}

// Why a schedule reached more than its bound; empty where none did.
std::string bound_remark(const Measurement& measurement) {
  const auto exceeds = [](const ScheduleResult& s) { return s.bound_fps > 0 && s.bound_share >= 1.005; };
  if (std::ranges::none_of(measurement.schedules, exceeds)) return "";
  return "The bound is an estimate from frames that ran one at a time. A share above 100% means that frames "
         "in flight need less processor time each: caches stay warm, clocks rise under load, and the frames "
         "of a batch share launches.";
}

// --- tables and charts

Section schedules_section(const Measurement& m) {
  using S = ScheduleResult;
  std::vector<std::string> processors;
  double most = 0;
  for (const S& s : m.schedules) {
    for (const ProcessorResult& processor : s.processors) add_name(processors, processor.name);
    most = std::max({most, s.fps_median, s.bound_fps});
  }
  std::vector<ColumnOf<S>> columns{
      {"schedule", &S::schedule},
      {"frames/s\tspread",
       [most](auto& s) {
         Cell cell(rate_text(s.fps_median));
         cell.small = spread(s);
         cell.bar = s.fps_median / most;
         if (s.bound_fps > 0) cell.tick = s.bound_fps / most;
         return cell;
       }},
      {"p50 ms", [](auto& s) { return thousandths(s.latency_p50); }},
      {"p95 ms", [](auto& s) { return thousandths(s.latency_p95); }},
      {"p99 ms", [](auto& s) { return thousandths(s.latency_p99); }},
      {"bound", [](auto& s) { return rate_text(s.bound_fps); }},
      {"share", [](auto& s) { return s.bound_fps > 0 ? whole_percent(s.bound_share) : "-"; }},
      {"overlap", [](auto& s) { return figures(s.overlap_factor); }},
      {"busy %",
       [&](auto& s) {
         std::string text;
         for (const std::string& name : processors) {
           const auto found = std::ranges::find(s.processors, name, &ProcessorResult::name);
           text +=
               (text.empty() ? "" : "/") + (found == s.processors.end() ? "-" : percents(found->utilisation));
         }
         return text;
       }},
      {"frames\nin flight", &S::in_flight, In::page},
      {"MB", [](auto& s) { return megabytes(s.peak_memory_bytes); }},
      {"J/frame", [&m](auto& s) { return energy_text(m, s); }}};
  if (std::ranges::any_of(m.schedules, [](auto& s) { return !clocks_text(s.megahertz).empty(); }))
    columns.push_back({"MHz", [](auto& s) { return clocks_text(s.megahertz); }});
  Table table = table_of(m.schedules, columns);
  table.best = best_schedule(m);
  return {
      "Schedules",
      {{table},
       {Note{fmt::format("busy: {}", fmt::join(processors, " / "))}},
       {Note{"bound: rate of the slowest processor, from isolated stage times; share: rate reached / bound"}},
       {Note{"The bar is the rate, the tick its bound."}, In::page},
       {Note{bound_remark(m)}}}};
}

// The fastest schedule with and without decoding, and the stage `decode`.
Section decoding_section(const Measurement& m) {
  if (!m.with_decoding) return {};
  const DecodingResult& result = *m.with_decoding;
  struct Row {
    const char* frames;
    double fps;
    std::optional<double> joules;
  };
  const std::vector<Row> rows{{"in memory", result.fps_in_memory, result.joules_in_memory},
                              {"with decoding", result.fps, result.joules}};
  const auto joules = [&m](const std::optional<double>& value) {
    return value ? figures(*value) : m.meter.empty() ? "no meter" : "-";
  };
  const Table rates = table_of<Row>(rows, {{"frames", [](auto& row) { return row.frames; }},
                                           {"schedule", [&result](auto&) { return result.schedule; }},
                                           {"frames/s", [](auto& row) { return rate_text(row.fps); }},
                                           {"J/frame", [&](auto& row) { return joules(row.joules); }}});
  const Table decoders =
      table_of<DecoderCost>(result.decoders, {{"decode on", &DecoderCost::processor},
                                              {"decoders", &DecoderCost::count},
                                              {"ms", [](auto& one) { return thousandths(one.seconds); }},
                                              {"CPU ms", [](auto& one) { return thousandths(one.work); }},
                                              {"at most", [](auto& one) { return rate_text(one.fps()); }}});
  return {"With decoding",
          {{rates},
           {decoders},
           {Note{"ms and CPU ms: a frame, of one decoder alone; at most: frames/s of all decoders"}}}};
}

constexpr const char* kTimelineCard = R"(<section class="card" data-script hidden>
<div class="head"><h2>Timeline</h2><span class="group pick" role="group" aria-label="Schedule"></span></div>
<div class="head"><p class="note summary"></p><span class="tools zoom"></span></div>
<canvas tabindex="0" role="img"></canvas>
<p class="note">Wheel or +/− zooms, dragging or the arrow keys move, 0 shows all. Thin lines under a lane: frames that
wait for it. Point at a frame to follow it.</p>
</section>
<noscript><p class="note">The timeline needs JavaScript; everything else is here without it.</p></noscript>
)";

// A colour of the style sheet for each stage and copy, the same in all charts.
using Colours = std::map<std::string, std::size_t>;

Colours colours_of(std::span<const Measurement> measurements) {
  Colours colours;
  for (const Measurement& m : measurements) {
    for (const StageRow& row : stage_rows(m)) colours.emplace(row.name, colours.size() % 10);
  }
  return colours;
}

Chart stage_chart(const Measurement& m, const Colours& colours) {
  Chart chart{.label = "Stage times by schedule", .x = {.label = "ms per frame"}};
  for (const ScheduleResult& s : m.schedules) {
    for (const auto& [label, seconds] :
         {std::pair("alone", &StageResult::alone), {"run", &StageResult::seconds}}) {
      StackedBar& bar = chart.bars.emplace_back(StackedBar{s.schedule + ", " + label});
      for (const StageResult& stage : s.stages)
        bar.pieces.push_back(
            {1e3 * stage.*seconds, fmt::format("var(--c{})", colours.at(stage.name)), stage.name});
    }
  }
  return chart;
}

Section stages_section(const Measurement& m, const Colours& colours) {
  std::vector<std::string> processors, legend;
  for (const ScheduleResult& s : m.schedules) {
    for (const StageResult& stage : s.stages) add_name(processors, stage.processor);
  }
  const auto letter = [&](const std::string& name) {
    return static_cast<char>(
        'A' + std::min<std::ptrdiff_t>(std::ranges::find(processors, name) - processors.begin(), 25));
  };
  for (const std::string& name : processors) legend.push_back(fmt::format("{}: {}", letter(name), name));
  std::vector<ColumnOf<StageRow>> columns{{"stage, ms a frame", &StageRow::name}};
  for (std::size_t i = 0; i < m.schedules.size(); ++i) {
    columns.push_back({m.schedules[i].schedule + "  \nrun\talone  ", [i, &letter](auto& row) {
                         const StageResult* const r = row.results[i];
                         Cell cell(r ? thousandths(r->seconds) : "");
                         if (r)
                           cell.small = fmt::format("{:>5} {}", thousandths(r->alone), letter(r->processor));
                         return cell;
                       }});
  }
  Table table = table_of(stage_rows(m), columns);
  table.fold = "All times, and where the stages ran";
  return {"Stages, ms a frame",
          {{stage_chart(m, colours)},
           {Note{"Each bar adds up all that a frame needs, also what runs at the same time."}, In::page},
           {table},
           {Note{fmt::format("{}", fmt::join(legend, ", "))}}}};
}

Table overlap_table(const ScheduleResult& s) {
  Table table{.columns = {{""}}, .style = "heat", .caption = s.schedule};
  for (std::size_t a = 0; a < s.overlap.size(); ++a) {
    Cell head(a < s.stages.size() ? s.stages[a].name : std::to_string(a));
    if (std::ranges::count(s.stages, head.text, &StageResult::name) > 1) head.below = s.stages[a].processor;
    table.columns.push_back({head.text + (head.below.empty() ? "" : "\n" + head.below)});
    std::vector<Cell>& row = table.rows.emplace_back(std::vector{head});
    for (std::size_t b = 0; b < s.overlap[a].size(); ++b) {
      const double share = s.overlap[a][b];
      Cell& cell = row.emplace_back(whole_percent(share));
      cell.shade = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
      cell.kind = std::string(a == b ? "own " : "") + (cell.shade > 0.55    ? "high"
                                                       : cell.shade < 0.005 ? "low"
                                                                            : "");
    }
  }
  return table;
}

Section overlap_section(const Measurement& m) {
  Section section{"Overlap of stages, share of the run", {}};
  section.head_markup = "<span class=\"group pick\" role=\"group\" aria-label=\"Schedule\"></span>";
  for (const ScheduleResult& s : m.schedules) section.blocks.push_back({overlap_table(s), In::page});
  return section;
}

// How much of a frame's work is left after each step: most is rejected early.
Section work_section(const Measurement& m, In in) {
  if (m.work.empty()) return {};
  const auto all = static_cast<double>(std::max<std::int64_t>(m.work.front().count, 1));
  const Table table = table_of<WorkCount>(
      m.work, {{"the first frame", &WorkCount::what},
               {"count",
                [all](auto& one) {
                  Cell cell(one.count);
                  cell.bar = std::log10(std::max<double>(static_cast<double>(one.count), 0) + 1) /
                             std::log10(all + 1);
                  return cell;
                }},
               {"of all", [all](auto& one) {
                  return fmt::format("{:.4g}%", 100 * static_cast<double>(one.count) / all);
                }}});
  return {
      "What is left of the first frame",
      {{table, in}, {Note{"The bars' lengths are logarithms: equal steps are equal factors."}, In::page}}};
}

Section measurement_facts(const Measurement& m) {
  Facts facts = facts_of(m);
  facts.items.emplace_back("Accuracy", m.accuracy);
  for (const ScheduleResult& s : m.schedules) {
    std::string how = fmt::format("{}; {} in flight, {} frames", s.mapping, s.in_flight, s.frames);
    if (s.split > 0) how += fmt::format(", {} of a frame on the device", whole_percent(s.split));
    if (!s.bound_by.empty()) how += ", bound by " + s.bound_by;
    facts.items.emplace_back(s.schedule, how);
  }
  return {"What was measured", {{facts, In::page}}};
}

// What tells a measurement from those beside it.
std::string variant_of(const Measurement& m) {
  return m.kernels.empty() ? m.variant : m.kernels;
}

// Variants of a detector, a line each for every schedule that they all have.
Section side_by_side(std::span<const Measurement> measurements) {
  using Pair = std::pair<const Measurement*, const ScheduleResult*>;
  std::vector<Pair> rows;
  for (std::size_t i = 0; i < measurements.front().schedules.size(); ++i) {
    for (const Measurement& m : measurements)
      if (i < m.schedules.size()) rows.emplace_back(&m, &m.schedules[i]);
  }
  return {"",
          {{table_of<Pair>(rows, {{"side by side", [](auto& p) { return variant_of(*p.first); }},
                                  {"schedule", [](auto& p) { return p.second->schedule; }},
                                  {"frames/s", [](auto& p) { return rate_text(p.second->fps_median); }},
                                  {"ms a frame",
                                   [](auto& p) {
                                     return p.second->fps_median > 0 ? thousandths(1 / p.second->fps_median)
                                                                     : "-";
                                   }},
                                  {"p50 ms", [](auto& p) { return thousandths(p.second->latency_p50); }},
                                  {"J/frame", [](auto& p) { return energy_text(*p.first, *p.second); }}})}}};
}

// --- programs

// JSON that may stand in a <script>: nothing in it ends the element or starts a comment.
std::string script_json(const Json& json) {
  std::string result = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = result.find('<', at)) != result.npos;) result.replace(at, 1, "\\u003c");
  return result;
}

// Spans as [activity, stage, processor, share, start, end] in microseconds from the first of the timeline.
Json timeline(const ScheduleResult& s) {
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  for (const TracedFrame& frame : s.timeline) {
    for (const Span& span : frame.spans) origin = std::min(origin, span.start);
  }
  const auto microseconds = [&](std::int64_t time) {
    return std::round(static_cast<double>(time - origin) / 100) / 10;
  };
  Json frames = Json::array();
  for (const TracedFrame& frame : s.timeline) {
    Json spans = Json::array();
    for (const Span& span : frame.spans) {
      spans.push_back({static_cast<int>(span.activity), span.stage, span.processor, span.partition,
                       microseconds(span.start), microseconds(span.end)});
    }
    frames.push_back({frame.frame, frame.slot, spans});
  }
  return frames;
}

Json page_data(std::span<const Measurement> measurements, const Colours& colours) {
  Json json{{"colours", colours}, {"measurements", Json::array()}};
  for (const Measurement& m : measurements) {
    Json schedules = Json::array();
    for (const ScheduleResult& s : m.schedules)
      schedules.push_back({{"name", s.schedule}, {"frames", timeline(s)}});
    json["measurements"].push_back({{"stages", m.trace_info.stages},
                                    {"processors", m.trace_info.processors},
                                    {"best", best_schedule(m).value_or(0)},
                                    {"schedules", schedules}});
  }
  return json;
}

const NamedTexts kMeasurementGuide{
    {"Frames/s", "Median of the repeats; the spread is half their range, as a share of the median."},
    {"Latency",
     "From the moment a frame enters, before it is decoded, until its result has been delivered, waiting "
     "included. 50, 95 and 99 of 100 frames are no slower than p50, p95 and p99."},
    {"Bound",
     "The rate that the slowest processor alone would allow under the schedule's mapping, from stage times "
     "measured with one frame at a time. No schedule with this mapping can be faster unless stages run "
     "faster together than alone; a schedule at 100% keeps that processor always at work."},
    {"Overlap factor",
     "The busy times of all stages and copies, added up, over the time of the run. 1 means that one thing "
     "happened at a time; 2 that two did on average."},
    {"Overlap of stages",
     "Share of the run in which two stages were both at work, on different frames or on the shares of one "
     "frame. The diagonal is the share in which a stage was at work at all."},
    {"Sweep",
     "The same frames with other settings of the device's kernels, one frame at a time: each gives the same "
     "result. Times are the device's own, the fastest of five runs, mean over the frames."},
    {"Kernels", kKernelGuide},
    {"Alone and in the run",
     "Alone: with one frame in flight, so that nothing else competes. A stage that takes longer in the run "
     "shares caches, memory bandwidth, power or cores with others."}};

Document measurement_document(std::span<const Measurement> measurements) {
  const Colours colours = colours_of(measurements);
  Document document{measurements.empty() ? "Sightline measurement" : "Sightline: " + subject(measurements[0]),
                    {},
                    kMeasurementGuide,
                    script_json(page_data(measurements, colours))};
  for (const Measurement& m : measurements) {
    const auto best = best_schedule(m);
    Part& part = document.parts.emplace_back(
        Part{best ? fmt::format("{} reaches {} frames/s", m.schedules[*best].schedule,
                                rate_text(m.schedules[*best].fps_median))
                  : "Nothing was measured",
             subject(m) + (m.decoding ? ", decoding in the run" : ", frames in memory"),
             {}});
    part.sections = {Section{"", {{Note{verdict(m)}, In::page}}}};
    if (!m.schedules.empty()) {
      part.sections.push_back(schedules_section(m));
      part.sections.push_back(decoding_section(m));
      part.sections.push_back({"", {{Raw{kTimelineCard}}}});
      part.sections.push_back(stages_section(m, colours));
      part.sections.push_back(overlap_section(m));
    }
    part.sections.push_back({"",
                             {{Note{m.accuracy.empty() ? "" : "accuracy: " + m.accuracy}, In::text},
                              {Note{m.meter_note.empty() ? "" : "energy: " + m.meter_note}, In::text},
                              {Note{verdict(m)}, In::text}}});
    // Variants of a detector search the same windows, unless they are other models.
    part.sections.push_back(
        work_section(m, &m == measurements.data() || m.kernels.empty() ? In::both : In::page));
    for (const KernelSweep& sweep : m.sweeps) part.sections.push_back(sweep_section(sweep));
    for (const DeviceKernels& one : m.kernel_resources)
      part.sections.push_back({"Kernels on " + one.device, {{kernel_table(one.kernels), In::page}}});
    part.sections.push_back(measurement_facts(m));
  }
  if (measurements.size() > 1) document.parts.push_back({"", "", {side_by_side(measurements)}});
  return document;
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
            {"batch", s.batch},
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
  json["megahertz"] = s.megahertz;
  return json;
}

Json as_json(const DecodingResult& result) {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json{{"schedule", result.schedule},
            {"fps", result.fps},
            {"fps_in_memory", result.fps_in_memory},
            {"joules_per_frame", number(result.joules)},
            {"joules_per_frame_in_memory", number(result.joules_in_memory)}};
  json["decoders"] = Json::array();
  for (const DecoderCost& one : result.decoders) {
    json["decoders"].push_back({{"processor", one.processor},
                                {"decoders", one.count},
                                {"ms", one.seconds * 1e3},
                                {"cpu_ms", one.work * 1e3}});
  }
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
  json["with_decoding"] = m.with_decoding ? as_json(*m.with_decoding) : Json();
  for (const KernelSweep& sweep : m.sweeps) json["sweeps"].push_back(sweep_as_json(sweep));
  for (const DeviceKernels& one : m.kernel_resources) {
    Json kernels = Json::array();
    for (const opencl::KernelResources& kernel : one.kernels) kernels.push_back(opencl::as_json(kernel));
    json["kernel_resources"].push_back({{"device", one.device}, {"kernels", std::move(kernels)}});
  }
  return json;
}

}  // namespace

std::optional<std::size_t> best_schedule(const Measurement& measurement) {
  const auto& all = measurement.schedules;
  if (all.empty()) return std::nullopt;
  const auto slower = [](const ScheduleResult& a, const ScheduleResult& b) {
    return a.fps_median < b.fps_median;
  };
  return static_cast<std::size_t>(std::max_element(all.begin(), all.end(), slower) - all.begin());
}

namespace {

// The bound comes from stages that are measured one frame at a time, which a run may outdo.
std::string bound_text(const ScheduleResult& schedule) {
  const std::string bound = rate_text(schedule.bound_fps);
  if (schedule.bound_share >= 1.005)
    return fmt::format("above the {} frames/s expected of {} from stages measured alone", bound,
                       schedule.bound_by);
  return fmt::format("{} of the {} frames/s that {}, its slowest processor, allows",
                     whole_percent(schedule.bound_share), bound, schedule.bound_by);
}

// "NAME=VALUE;NAME=VALUE"; no value where it is not finite.
template <class T>
std::string csv_list(const std::vector<T>& all, auto name, auto value) {
  std::string text;
  for (const T& one : all) {
    const double number = std::invoke(value, one);
    text += (text.empty() ? "" : ";") + std::invoke(name, one) + '=' +
            (std::isfinite(number) ? shortest(number) : "");
  }
  return text;
}

}  // namespace

std::string verdict(const Measurement& measurement) {
  const auto number = best_schedule(measurement);
  if (!number) return "nothing was measured";
  const ScheduleResult& best = measurement.schedules[*number];
  std::string text =
      fmt::format("fastest schedule: {} with {} frames/s", best.schedule, rate_text(best.fps_median));
  if (best.bound_fps > 0) text += ", " + bound_text(best);
  const ScheduleResult* next = runner_up(measurement);
  if (!next || next->fps_median <= 0) return text;
  text += fmt::format("; {:.2f} times as fast as {}", best.fps_median / next->fps_median, next->schedule);
  if (!clear_winner(best, *next)) text += ", but their repeats overlap: no clear winner";
  return text;
}

std::string measurements_as_text(std::span<const Measurement> measurements) {
  return to_text(measurement_document(measurements));
}

std::string measurements_as_page(std::span<const Measurement> measurements) {
  return to_html(measurement_document(measurements));
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
  std::vector<Json> rows;
  for (const Measurement& m : measurements) {
    const Json all = as_json(m);
    for (const ScheduleResult& s : m.schedules) {
      Json& row = rows.emplace_back(all);
      row.update(as_json(s));
      row["utilisation"] = csv_list(s.processors, &ProcessorResult::name, &ProcessorResult::utilisation);
      if (!m.with_decoding || m.with_decoding->schedule != s.schedule) continue;
      const DecodingResult& decoding = *m.with_decoding;
      const auto processor = &DecoderCost::processor;
      row["decoded"] = as_json(decoding);
      row["decoders"] = csv_list(decoding.decoders, processor, &DecoderCost::count);
      row["decode_ms"] = csv_list(decoding.decoders, processor, [](auto& one) { return 1e3 * one.seconds; });
      row["decode_cpu_ms"] = csv_list(decoding.decoders, processor, [](auto& one) { return 1e3 * one.work; });
    }
  }
  return to_csv(
      rows, split("input,width,height,variant,schedule,mapping,in_flight,batch,split,frames,fps,fps_lowest,"
                  "fps_highest,latency_p50_ms=/latency_ms/p50,latency_p95_ms=/latency_ms/p95,"
                  "latency_p99_ms=/latency_ms/p99,bound_fps,bound_by,bound_share,overlap_factor,utilisation,"
                  "peak_memory_bytes,joules_per_frame,fps_with_decoding=/decoded/fps,"
                  "joules_per_frame_with_decoding=/decoded/joules_per_frame,decoders,decode_ms,"
                  "decode_cpu_ms,model,machine,program,kernels",
                  ','));
}

std::string sweeps_as_svg(std::span<const Measurement> measurements) {
  std::vector<report::Chart> charts;
  for (const Measurement& m : measurements) {
    for (const KernelSweep& sweep : m.sweeps)
      for (report::Chart& chart : sweep_charts(sweep)) charts.push_back(std::move(chart));
  }
  return report::to_svg(charts);
}

}  // namespace sightline::pipeline
