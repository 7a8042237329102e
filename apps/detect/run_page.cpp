#include "apps/detect/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/cli/html_table.hpp"
#include "apps/common/quality_options.hpp"
#include "base/duration_text.hpp"
#include "base/markup.hpp"
#include "base/text.hpp"
#include "pipeline/report/report_page.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::apps {
namespace {

using report_parts::kColours;

constexpr double kTimePlotWidth = 1080, kTimePlotRight = 1060, kTimePlotTop = 16;
constexpr double kLetter = 7.2, kLeastLeft = 90, kMostLeft = 420;  // of what stands left of the plots
constexpr double kRateHeight = 220, kRow = 30;
constexpr const char* kGridColour = "#dfe3e9";

constexpr const char* kRunGuide =
    R"(<dt>Rate</dt><dd>Frames whose result was delivered, a second; of a camera, no more than it gives.</dd>
<dt>Setting</dt><dd>Which of the detector's settings searched the frames: the most accurate one is at the top,
the fastest at the bottom. What a frame gives depends on the frame and the setting alone.</dd>
<dt>Missed</dt><dd>By the evaluation that is stored in the model: share of the objects that are missed at 1e-5 false
positives a window. It tells sizes of a model apart, and no scale steps.</dd>
)";

// Seconds from left to right, beside names.
class TimeAxis {
 public:
  explicit TimeAxis(const pipeline::RunHistory::Summary& history)
      : seconds_(std::max(history.seconds, 1e-3)) {
    std::size_t longest = 0;
    for (const ProcessorSetting& one : history.settings) longest = std::max(longest, one.name.size());
    left_ = std::clamp(kLetter * static_cast<double>(longest) + 20, kLeastLeft, kMostLeft);
  }

  double left() const { return left_; }
  double place(double at) const {
    return left_ + std::clamp(at / seconds_, 0.0, 1.0) * (kTimePlotRight - left_);
  }
  // Round times below `bottom`, with lines up to the top.
  std::string marks(double bottom) const {
    const double step = report_parts::round_step(seconds_, 8);
    std::string svg;
    for (double at = 0; at <= seconds_ * 1.0001; at += step) {
      svg += report_parts::line(place(at), kTimePlotTop, place(at), bottom, kGridColour);
      svg += report_parts::text(place(at), bottom + 20, "middle", fmt::format("{:g} s", at));
    }
    return svg;
  }

 private:
  double seconds_;
  double left_;
};

// The last interval is not over: what there is of it says little where it is short.
std::string rate_plot(const RunOnPage& run, const TimeAxis& time) {
  const auto& history = run.history;
  std::vector<double> rates;
  for (std::size_t i = 0; i < history.frames.size(); ++i) {
    const double begin = history.interval * static_cast<double>(i);
    const double length = std::min(history.interval, history.seconds - begin);
    if (length < history.interval / 2 && i > 0) break;
    rates.push_back(static_cast<double>(history.frames[i]) / std::max(length, 1e-3));
  }
  if (rates.empty()) return "";
  const bool holds = run.objective.kind == pipeline::QualityObjective::Kind::hold;
  double most = *std::ranges::max_element(rates);
  if (holds) most = std::max(most, std::min(run.objective.limit, 4 * most));
  most = std::max(1.1 * most, 1e-3);
  const double bottom = kTimePlotTop + kRateHeight;
  const auto y = [&](double rate) { return bottom - std::min(rate / most, 1.0) * kRateHeight; };
  std::string svg = time.marks(bottom);
  const double step = report_parts::round_step(most, 8);
  for (double rate = 0; rate <= most; rate += step) {
    svg += report_parts::line(time.left(), y(rate), kTimePlotRight, y(rate), kGridColour);
    svg += report_parts::text(time.left() - 8, y(rate) + 4, "end", fmt::format("{:g}", rate));
  }
  svg += report_parts::text(8, kTimePlotTop + 12, "start", "frames/s");
  std::string points;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    for (const double end : {0.0, 1.0}) {
      points += report_parts::at(time.place(history.interval * (static_cast<double>(i) + end))) + ',' +
                report_parts::at(y(rates[i])) + ' ';
    }
  }
  svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points,
                     kColours[0]);
  if (holds && run.objective.limit <= most) {
    svg += fmt::format(
        "<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"{3}\" stroke-width=\"2\" "
        "stroke-dasharray=\"6 4\"/>\n",
        time.left(), y(run.objective.limit), kTimePlotRight, kColours[1]);
    svg += report_parts::text(kTimePlotRight - 4, y(run.objective.limit) - 6, "end",
                              escape_markup(describe(run.objective)));
  }
  return report_parts::picture(kTimePlotWidth, bottom + 34, "Frames per second over time", svg);
}

std::string setting_plot(const RunOnPage& run, const TimeAxis& time) {
  const auto& history = run.history;
  if (history.settings.size() < 2 || history.turns.empty()) return "";
  const double bottom = kTimePlotTop + kRow * static_cast<double>(history.settings.size());
  const auto y = [](int setting) { return kTimePlotTop + kRow * (static_cast<double>(setting) + 0.5); };
  std::string svg = time.marks(bottom);
  for (std::size_t i = 0; i < history.settings.size(); ++i) {
    const double row = y(static_cast<int>(i));
    svg += report_parts::line(time.left(), row, kTimePlotRight, row, kGridColour);
    svg += report_parts::text(time.left() - 8, row + 4, "end", escape_markup(history.settings[i].name));
  }
  std::string points;
  for (std::size_t i = 0; i < history.turns.size(); ++i) {
    const auto& turn = history.turns[i];
    const double end = i + 1 < history.turns.size() ? history.turns[i + 1].seconds : history.seconds;
    for (const double at : {turn.seconds, end})
      points += report_parts::at(time.place(at)) + ',' + report_parts::at(y(turn.setting)) + ' ';
  }
  svg += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\"/>\n",
      points, kColours[2]);
  return report_parts::picture(kTimePlotWidth, bottom + 34, "The setting over time", svg);
}

std::string settings_table(const pipeline::RunReport& report) {
  std::int64_t frames = 0;
  for (const pipeline::SettingUse& use : report.settings) frames += use.frames;
  if (report.settings.empty() || frames == 0) return "";
  std::vector<std::vector<std::string>> rows;
  for (const pipeline::SettingUse& use : report.settings) {
    const double share = static_cast<double>(use.frames) / static_cast<double>(frames);
    rows.push_back({use.setting.name, std::to_string(use.frames), fmt::format("{:.1f}%", 100 * share),
                    use.setting.missed ? fmt::format("{:.2f}%", 100 * *use.setting.missed) : "-"});
  }
  return html_table({"setting", "frames", "share", "missed"}, rows);
}

std::string note_below(const std::string& text) {
  return text.empty() ? "" : "<p class=\"note\">" + escape_markup(text) + "</p>\n";
}

std::string stages_table(const pipeline::RunReport& report) {
  const double frames = static_cast<double>(std::max<std::int64_t>(report.frames, 1));
  std::vector<std::vector<std::string>> rows;
  for (const pipeline::StageTime& stage : report.stages)
    rows.push_back({stage.name, fmt::format("{:.2f}", 1000 * stage.seconds / frames), stage.processor});
  return html_table({"stage", "ms per frame", "where"}, rows);
}

}  // namespace

RunOnPage page_of(const std::string& input, const Engine& engine, const pipeline::Controller& controller,
                  const pipeline::RunReport& report, const pipeline::RunHistory& history) {
  return {input,
          engine.detector->info().model,
          controller.summary(),
          objective_of(engine.quality),
          report,
          history.summary()};
}

std::string run_page(const RunOnPage& run) {
  const TimeAxis time(run.history);
  const double rate = static_cast<double>(run.report.frames) / std::max(run.history.seconds, 1e-9);
  const std::string title = fmt::format("{} frames at {:.1f} per second", run.report.frames, rate);
  const std::string found =
      fmt::format("{} in {}", counted(run.report.objects, "object"), duration_text(run.history.seconds));
  std::string sections = "<article class=\"measurement\">\n<p class=\"subject\">" +
                         escape_markup(run.input + ". " + run.model) + "</p>\n<h1>" + escape_markup(title) +
                         "</h1>\n<p class=\"subject\">" + escape_markup(found) + "</p>\n";
  sections += pipeline::report_card("Rate over time", rate_plot(run, time));
  const std::string turned = setting_plot(run, time);
  sections +=
      pipeline::report_card("Setting over time", turned.empty() ? "" : turned + note_below(run.control));
  const std::string by_setting = settings_table(run.report);
  sections += pipeline::report_card(
      "Frames by setting", by_setting.empty() ? "" : by_setting + note_below(accuracy_text(run.report)));
  sections += pipeline::report_card("Stages", stages_table(run.report));
  return pipeline::report_page("Sightline: " + run.input, sections + "</article>\n", kRunGuide);
}

}  // namespace sightline::apps
