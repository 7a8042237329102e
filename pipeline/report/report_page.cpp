#include "pipeline/report/report_page.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/markup.hpp"
#include "pipeline/report/measurement_output.hpp"
#include "pipeline/report/measurement_text.hpp"
#include "pipeline/report/sweep_output.hpp"

namespace sightline::pipeline {
namespace {

using Json = nlohmann::ordered_json;

/// JSON that may stand in a <script>: nothing in it ends the element or starts a comment.
std::string script_json(const Json& json) {
  std::string result;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

/// Replaces each @name@ of the template.
std::string filled(std::string_view text, const std::map<std::string, std::string_view>& values) {
  std::string result;
  while (!text.empty()) {
    const std::size_t first = text.find('@');
    const std::size_t last = first == text.npos ? first : text.find('@', first + 1);
    if (last == text.npos) break;
    const auto value = values.find(std::string(text.substr(first + 1, last - first - 1)));
    result += text.substr(0, first);
    result += value == values.end() ? text.substr(first, 1) : value->second;
    text.remove_prefix(value == values.end() ? first + 1 : last + 1);
  }
  return result += text;
}

/// A colour of the style sheet for each stage and copy, the same in all charts.
using Colours = std::map<std::string, int>;

Colours colours_of(std::span<const Measurement> measurements) {
  Colours colours{{"decode", 0}, {"output", 9}};
  int next = 0;
  const auto add = [&](const std::string& name) {
    if (colours.emplace(name, 1 + next % 8).second) ++next;
  };
  for (const Measurement& m : measurements) {
    for (const std::string& name : m.trace_info.stages) add(name);
    for (const StageRow& row : stage_rows(m)) add(row.name);
    add("upload");
    add("download");
  }
  return colours;
}

double percent(double part, double whole) {
  return whole > 0 && std::isfinite(part) ? std::clamp(part / whole * 100, 0.0, 100.0) : 0;
}

std::string tile(const std::string& value, const std::string& what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", escape_markup(value),
                     escape_markup(what));
}

std::string headline(const Measurement& m) {
  const auto number = best_schedule(m);
  std::string text = "<p class=\"subject\">" + escape_markup(subject(m)) +
                     (m.decoding ? ", decoded during the run" : ", frames held in memory") + "</p>\n";
  if (!number) return text + "<h1>Nothing was measured</h1>\n";
  const ScheduleResult& best = m.schedules[*number];
  text =
      fmt::format("<h1>{} reaches {} frames/s</h1>\n", escape_markup(best.schedule), rate(best.fps_median)) +
      text;
  text += "<div class=\"tiles\">\n";
  if (const ScheduleResult* next = runner_up(m); next && next->fps_median > 0) {
    const std::string doubt = clear_winner(best, *next) ? "" : "; their repeats overlap: no clear winner";
    text += tile(fmt::format("{:.2f}×", best.fps_median / next->fps_median),
                 "the rate of " + next->schedule + ", the next best" + doubt);
  }
  if (best.bound_fps > 0)
    text += tile(whole_percent(best.bound_share),
                 fmt::format("of the bound, {} frames/s{}", rate(best.bound_fps),
                             bound_remark(m).empty() ? "" : ", an estimate: see below the table"));
  text += tile(milliseconds(best.latency_p95) + " ms", "latency, 95 of 100 frames");
  text += tile(figures(best.overlap_factor), "overlap factor");
  if (best.joules_per_frame) text += tile(energy(m, best) + " J", "a frame");
  return text + "</div>\n";
}

std::string rate_cell(const ScheduleResult& s, double longest) {
  std::string cell = fmt::format("<td class=\"fps\">{}", rate(s.fps_median));
  if (!spread(s).empty()) cell += "<small>" + spread(s) + "</small>";
  cell += fmt::format("<span class=\"rate\"><i style=\"width:{:.1f}%\"></i>", percent(s.fps_median, longest));
  if (s.bound_fps > 0) cell += fmt::format("<s style=\"left:{:.1f}%\"></s>", percent(s.bound_fps, longest));
  return cell + "</span></td>";
}

std::string schedule_row(const Measurement& m, const ScheduleResult& s, const Names& processors,
                         double longest) {
  const auto cell = [](const std::string& kind, const std::string& text) {
    return fmt::format("<td class=\"{}\">{}</td>", kind, escape_markup(text));
  };
  std::string row =
      fmt::format("<th scope=\"row\">{}</th>", escape_markup(s.schedule)) + rate_cell(s, longest);
  row += cell("p50", milliseconds(s.latency_p50)) + cell("p95", milliseconds(s.latency_p95)) +
         cell("p99", milliseconds(s.latency_p99));
  row +=
      cell("bound", rate(s.bound_fps)) + cell("share", s.bound_fps > 0 ? whole_percent(s.bound_share) : "-");
  row += cell("overlap", figures(s.overlap_factor));
  for (const std::string& name : processors.all()) {
    const auto found = std::find_if(s.processors.begin(), s.processors.end(),
                                    [&](const ProcessorResult& p) { return p.name == name; });
    row += cell("busy", found == s.processors.end() ? "-" : whole_percent(found->utilisation));
  }
  return row + cell("slots", std::to_string(s.in_flight)) + cell("memory", megabytes(s.peak_memory_bytes)) +
         cell("energy", energy(m, s));
}

std::string schedules_card(const Measurement& m) {
  const Names processors = processors_of(m);
  double longest = 0;
  for (const ScheduleResult& s : m.schedules) longest = std::max({longest, s.fps_median, s.bound_fps});
  std::string text =
      "<section class=\"card\">\n<h2>Schedules</h2>\n<div class=\"scroll\"><table "
      "class=\"schedules\">\n<thead><tr>"
      "<th scope=\"col\">schedule</th><th scope=\"col\">frames/s</th><th scope=\"col\">p50 ms</th>"
      "<th scope=\"col\">p95 ms</th><th scope=\"col\">p99 ms</th><th scope=\"col\">bound</th>"
      "<th scope=\"col\">share</th><th scope=\"col\">overlap</th>";
  for (const std::string& name : processors.all())
    text += fmt::format("<th scope=\"col\">{}<br>busy</th>", escape_markup(name));
  text +=
      "<th scope=\"col\">frames<br>in flight</th><th scope=\"col\">memory<br>MB</th>"
      "<th scope=\"col\">J/frame</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < m.schedules.size(); ++i) {
    text += i == best_schedule(m) ? "<tr class=\"best\">" : "<tr>";
    text += schedule_row(m, m.schedules[i], processors, longest) + "</tr>\n";
  }
  return text +
         "</tbody></table></div>\n<p class=\"note\">The bar is the rate, the tick its "
         "bound. " +
         bound_remark(m) + "</p>\n</section>\n";
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

/// One stacked bar; `times` tells which of a stage's times.
std::string bar(const ScheduleResult& s, double StageResult::*times, double longest, const Colours& colours,
                const char* kind) {
  std::string text = fmt::format("<div class=\"bar {}\">", kind);
  double sum = 0;
  for (const StageResult& stage : s.stages) {
    const double part = percent(stage.*times, longest);
    sum += stage.*times;
    const std::string time = milliseconds(stage.*times);
    text +=
        fmt::format("<i style=\"width:{:.2f}%;background-color:var(--c{})\" title=\"{}, {}: {} ms\">{}</i>",
                    part * 0.9, colours.at(stage.name), escape_markup(stage.name),
                    escape_markup(stage.processor), time, part > 5 ? time : "");
  }
  return text + fmt::format("<em>{} ms</em></div>\n", milliseconds(sum));
}

std::string stage_bars(const Measurement& m, const Colours& colours) {
  double longest = 0;
  for (const ScheduleResult& s : m.schedules) {
    double alone = 0, run = 0;
    for (const StageResult& stage : s.stages) alone += stage.alone, run += stage.seconds;
    longest = std::max({longest, alone, run});
  }
  std::string text = "<div class=\"legend\">";
  Names names;
  for (const StageRow& row : stage_rows(m)) names.add(row.name);
  for (const std::string& name : names.all())
    text += fmt::format("<span><i style=\"background:var(--c{})\"></i>{}</span>", colours.at(name),
                        escape_markup(name));
  text += "</div>\n<div class=\"bars\">\n";
  for (const ScheduleResult& s : m.schedules) {
    text += fmt::format("<b>{}</b><span class=\"muted\">alone</span>", escape_markup(s.schedule));
    text += bar(s, &StageResult::alone, longest, colours, "alone");
    text += "<i></i><span class=\"muted\">in the run</span>";
    text += bar(s, &StageResult::seconds, longest, colours, "run") + "<span class=\"gap\"></span>\n";
  }
  return text +
         "</div>\n<p class=\"note\">Each bar adds up all that a frame needs, also what runs at the same "
         "time.</p>\n";
}

std::string stages_card(const Measurement& m, const Colours& colours) {
  std::string text = "<section class=\"card\">\n<h2>Stages, ms a frame</h2>\n" + stage_bars(m, colours);
  text +=
      "<details><summary>All times, and where the stages ran</summary>\n<div class=\"scroll\">"
      "<table class=\"stages\">\n<thead><tr><th scope=\"col\">stage</th>";
  for (const ScheduleResult& s : m.schedules)
    text += fmt::format("<th scope=\"col\">{}</th>", escape_markup(s.schedule));
  text += "</tr></thead>\n<tbody>\n";
  for (const StageRow& row : stage_rows(m)) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", escape_markup(row.name));
    for (const StageResult* r : row.results) {
      text += r ? fmt::format("<td>{}<small>alone {}</small><br><small>{}</small></td>",
                              milliseconds(r->seconds), milliseconds(r->alone), escape_markup(r->processor))
                : std::string("<td></td>");
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div></details>\n</section>\n";
}

std::string matrix(const ScheduleResult& s) {
  std::string text =
      fmt::format("<figure><figcaption>{}</figcaption><div class=\"scroll\"><table class=\"heat\">\n",
                  escape_markup(s.schedule));
  const auto name = [&](std::size_t i) {
    if (i >= s.stages.size()) return std::to_string(i);
    const StageResult& stage = s.stages[i];
    const auto shares = std::count_if(s.stages.begin(), s.stages.end(),
                                      [&](const StageResult& other) { return other.name == stage.name; });
    return escape_markup(stage.name) +
           (shares > 1 ? "<small>" + escape_markup(stage.processor) + "</small>" : "");
  };
  text += "<thead><tr><th></th>";
  for (std::size_t i = 0; i < s.overlap.size(); ++i)
    text += fmt::format("<th scope=\"col\">{}</th>", name(i));
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t a = 0; a < s.overlap.size(); ++a) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", name(a));
    for (std::size_t b = 0; b < s.overlap[a].size(); ++b) {
      const double share = percent(s.overlap[a][b], 1) / 100;
      text += fmt::format("<td class=\"{}{}\" style=\"--v:{:.2f}\">{}</td>", a == b ? "own " : "",
                          share > 0.55    ? "high"
                          : share < 0.005 ? "low"
                                          : "",
                          share, whole_percent(s.overlap[a][b]));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div></figure>\n";
}

std::string overlap_card(const Measurement& m) {
  std::string text =
      "<section class=\"card\">\n<div class=\"head\"><h2>Overlap of stages, share of the run</h2>"
      "<span class=\"group pick\" role=\"group\" aria-label=\"Schedule\"></span></div>\n";
  for (const ScheduleResult& s : m.schedules) text += matrix(s);
  return text + "</section>\n";
}

/// How much of a frame's work is left after each step, on a scale of powers of ten.
std::string work_card(const Measurement& m) {
  if (m.work.empty()) return {};
  const auto all = static_cast<double>(std::max<std::int64_t>(m.work.front().count, 1));
  const auto width = [&](std::int64_t count) {
    return count > 0 ? percent(std::log10(static_cast<double>(count) + 1), std::log10(all + 1)) : 0;
  };
  std::string text =
      "<section class=\"card\">\n<h2>What is left of the first frame</h2>\n<div class=\"work\">\n";
  for (const WorkCount& one : m.work) {
    const double share = 100 * static_cast<double>(one.count) / all;
    text += fmt::format(
        "<span>{}</span><div><i style=\"width:{:.1f}%\"></i></div><b>{}</b><small>{:.4g}%</small>\n",
        escape_markup(one.what), width(one.count), one.count, share);
  }
  return text +
         "</div>\n<p class=\"note\">The bars' lengths are logarithms: equal steps are equal "
         "factors.</p>\n</section>\n";
}

std::string facts_card(const Measurement& m) {
  std::string text = "<section class=\"card\">\n<h2>What was measured</h2>\n<dl class=\"facts\">\n";
  const auto fact = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  };
  fact("Machine", m.machine);
  fact("Program", m.program);
  fact("Input", subject(m));
  fact("Model", m.model);
  fact("Accuracy", m.accuracy);
  fact("Energy",
       (m.meter.empty() ? "no meter" : m.meter) + (m.meter_note.empty() ? "" : ": " + m.meter_note));
  for (const ScheduleResult& s : m.schedules) {
    std::string how = fmt::format("{}; {} in flight, {} frames", s.mapping, s.in_flight, s.frames);
    if (s.split > 0) how += fmt::format(", {} of a frame on the device", whole_percent(s.split));
    if (!s.bound_by.empty()) how += ", bound by " + s.bound_by;
    fact(s.schedule, how);
  }
  return text + "</dl>\n</section>\n";
}

std::string section(const Measurement& m, const Colours& colours) {
  std::string text = "<article class=\"measurement\">\n" + headline(m);
  if (!m.schedules.empty())
    text += schedules_card(m) + kTimelineCard + stages_card(m, colours) + overlap_card(m);
  text += work_card(m);
  for (const KernelSweep& sweep : m.sweeps) text += sweep_card(sweep);
  return text + facts_card(m) + "</article>\n";
}

/// Spans as [activity, stage, processor, share, start, end] in microseconds from the first of the timeline.
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

constexpr const char* kMeasurementGuide =
    R"(<dt>Frames/s</dt><dd>Median of the repeats; the spread is half their range, as a share of the median.</dd>
<dt>Latency</dt><dd>From the moment a frame enters, before it is decoded, until its result has been delivered, waiting
included. 50, 95 and 99 of 100 frames are no slower than p50, p95 and p99.</dd>
<dt>Bound</dt><dd>The rate that the slowest processor alone would allow under the schedule's mapping, from stage times
measured with one frame at a time. No schedule with this mapping can be faster unless stages run faster together than
alone; a schedule at 100% keeps that processor always at work.</dd>
<dt>Overlap factor</dt><dd>The busy times of all stages and copies, added up, over the time of the run. 1 means that
one thing happened at a time; 2 that two did on average.</dd>
<dt>Overlap of stages</dt><dd>Share of the run in which two stages were both at work, on different frames or on the
shares of one frame. The diagonal is the share in which a stage was at work at all.</dd>
<dt>Sweep</dt><dd>The same frames with other settings of the device's kernels, one frame at a time: each gives the same
result. Times are the device's own, the fastest of five runs, mean over the frames.</dd>
<dt>Alone and in the run</dt><dd>Alone: with one frame in flight, so that nothing else competes. A stage that takes
longer in the run shares caches, memory bandwidth, power or cores with others.</dd>
)";

}  // namespace

std::string table_cell(const std::string& text) {
  return "<td>" + escape_markup(text) + "</td>";
}

std::string report_card(const std::string& title, const std::string& content) {
  if (content.empty()) return "";
  return "<section class=\"card\"><h2>" + escape_markup(title) + "</h2><div class=\"scroll\">" + content +
         "</div></section>\n";
}

std::string report_page(const std::string& title, const std::string& sections, const std::string& guide,
                        std::string_view data) {
  const std::string escaped = escape_markup(title);
  return filled(report_page_file("report_page.html"), {{"title", escaped},
                                                       {"style", report_page_file("report_page.css")},
                                                       {"sections", sections},
                                                       {"guide", guide},
                                                       {"data", data},
                                                       {"script", report_page_file("report_page.js")}});
}

std::string measurements_as_page(std::span<const Measurement> measurements) {
  const Colours colours = colours_of(measurements);
  std::string sections;
  for (const Measurement& m : measurements) sections += section(m, colours);
  const std::string title =
      measurements.empty() ? "Sightline measurement" : "Sightline: " + subject(measurements[0]);
  return report_page(title, sections, kMeasurementGuide, script_json(page_data(measurements, colours)));
}

}  // namespace sightline::pipeline
