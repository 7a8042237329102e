#include "apps/detect/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/common/quality_options.hpp"
#include "base/duration_text.hpp"
#include "base/text.hpp"
#include "pipeline/report/document.hpp"

namespace sightline::apps {
namespace {

using namespace report;
using History = pipeline::RunHistory::Summary;

const NamedTexts kRunGuide{{"Rate", "Delivered frames per second. A camera's rate is the limit."},
                           {"Setting",
                            "Operating point that searched the frames: the most accurate one is at the top, "
                            "the fastest at the bottom. "
                            "A frame's result depends on the frame and the operating point alone."},
                           {"Missed",
                            "Share of objects missed at 1e-5 false positives per window, from the evaluation "
                            "stored in the model. It "
                            "compares sizes of a model, not scale steps."}};

Chart over_time(const std::string& label, double seconds) {
  Chart chart{.label = label};
  chart.x = {
      .low = 0, .high = std::max(seconds, 1e-3), .text = [](double at) { return fmt::format("{:g} s", at); }};
  chart.height = 220;
  return chart;
}

// Omits the last interval if it is too short for a rate.
Chart rate_chart(const History& history, const pipeline::QualityObjective& objective) {
  Chart chart = over_time("Frames per second over time", history.seconds);
  chart.y.label = "frames/s";
  Line rates{"frames/s", {}, Line::Form::stairs};
  double most = 0;
  for (std::size_t i = 0; i < history.frames.size(); ++i) {
    const double begin = history.interval * static_cast<double>(i);
    const double length = std::min(history.interval, history.seconds - begin);
    if (length < history.interval / 2 && i > 0) break;
    const double rate = static_cast<double>(history.frames[i]) / std::max(length, 1e-3);
    most = std::max(most, rate);
    rates.points.push_back({begin, rate});
  }
  if (rates.points.empty()) return chart;
  rates.points.push_back(
      {history.interval * static_cast<double>(rates.points.size()), rates.points.back().y});
  chart.lines = {rates};
  if (objective.kind == pipeline::QualityObjective::Kind::hold && objective.limit <= 4 * most)
    chart.lines.push_back(
        {describe(objective), {{0, objective.limit}, {chart.x.high, objective.limit}}, Line::Form::plain});
  return chart;
}

Chart setting_chart(const History& history) {
  Chart chart = over_time("The setting over time", history.seconds);
  if (history.settings.size() < 2 || history.turns.empty()) return chart;
  for (const OperatingPoint& one : history.settings) chart.y.names.push_back(one.name);
  Line settings{"", {}, Line::Form::stairs, 3};
  for (const auto& turn : history.turns)
    settings.points.push_back({turn.seconds, static_cast<double>(turn.setting)});
  settings.points.push_back({history.seconds, settings.points.back().y});
  chart.lines = {settings};
  chart.height = 30 * static_cast<double>(history.settings.size());
  return chart;
}

Table settings_table(const pipeline::RunReport& report) {
  using Use = pipeline::OperatingPointUse;
  double frames = 0;
  for (const Use& use : report.settings) frames += static_cast<double>(use.frames);
  if (frames == 0) return {};
  return table_of<Use>(report.settings,
                       {{"setting", [](auto& use) { return use.setting.name; }},
                        {"frames", &Use::frames},
                        {"share",
                         [frames](auto& use) {
                           return fmt::format("{:.1f}%", 100 * static_cast<double>(use.frames) / frames);
                         }},
                        {"missed", [](auto& use) {
                           return use.setting.missed ? fmt::format("{:.2f}%", 100 * *use.setting.missed)
                                                     : "-";
                         }}});
}

Table stages_table(const pipeline::RunReport& report) {
  using Stage = pipeline::StageTime;
  const double frames = static_cast<double>(std::max<std::int64_t>(report.frames, 1));
  return table_of<Stage>(
      report.stages,
      {{"stage", &Stage::name},
       {"ms per frame",
        [frames](auto& stage) { return fmt::format("{:.2f}", 1000 * stage.seconds / frames); }},
       {"where", &Stage::processor}});
}

}  // namespace

std::string run_page(const std::string& input, const Engine& engine, const pipeline::Controller& controller,
                     const pipeline::RunReport& report, const pipeline::RunHistory& run) {
  const History history = run.summary();
  const double rate = static_cast<double>(report.frames) / std::max(history.seconds, 1e-9);
  const Chart settings = setting_chart(history);
  const Table by_setting = settings_table(report);
  return to_html(
      {"Sightline: " + input,
       {{fmt::format("{} frames at {:.1f} per second", report.frames, rate),
         fmt::format("{}. {}. {} in {}", input, engine.detector->info().model,
                     counted(report.objects, "object"), duration_text(history.seconds)),
         {{"Rate over time", {{rate_chart(history, objective_of(engine.quality))}}},
          {"Setting over time", {{settings}, {Note{settings.lines.empty() ? "" : controller.summary()}}}},
          {"Frames by setting", {{by_setting}, {Note{by_setting.rows.empty() ? "" : accuracy_text(report)}}}},
          {"Stages", {{stages_table(report)}}}}}},
       kRunGuide});
}

}  // namespace sightline::apps
