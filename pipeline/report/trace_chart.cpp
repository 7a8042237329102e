#include "pipeline/report/trace_chart.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "evaluation/report.hpp"
#include "pipeline/report/chart.hpp"
#include "pipeline/report/chrome_trace.hpp"
#include "pipeline/report/report_parts.hpp"

namespace sightline::pipeline {

void TraceChart::accept(const FrameTrace& trace) {
  if (frames_.empty() || frames_.back() == frames_per_point_) {
    if (frames_.size() == kMostPoints) merge_points();
    frames_.push_back(0);
  }
  std::map<Key, int> seen;
  for (const Span& span : trace.spans) {
    if (span.activity == Activity::wait) continue;
    Key key{span.processor, has_stage(span.activity) ? span.stage : -1, span.activity, 0};
    std::get<3>(key) = seen[key]++;
    std::vector<double>& step = steps_[key];
    step.resize(frames_.size());
    step.back() += 1e-6 * static_cast<double>(span.share());
  }
  if (trace.ends_frame) ++frames_.back();
}

// Two points become one; all are full, and there is an even number of them.
void TraceChart::merge_points() {
  frames_per_point_ *= 2;
  const std::size_t left = frames_.size() / 2;
  frames_.assign(left, frames_per_point_);
  for (auto& [key, step] : steps_) {
    step.resize(2 * left);
    for (std::size_t i = 0; i < left; ++i) step[i] = step[2 * i] + step[2 * i + 1];
    step.resize(left);
  }
}

std::string TraceChart::name_of(const Key& key) const {
  const auto [processor, stage, activity, number] = key;
  const auto named = [](const std::vector<std::string>& names, int i, const char* kind) {
    return static_cast<std::size_t>(i) < names.size() ? names[static_cast<std::size_t>(i)]
                                                      : kind + (' ' + std::to_string(i));
  };
  std::string name = activity == Activity::run ? "" : to_string(activity);
  if (stage >= 0) name += (name.empty() ? "" : " ") + named(info_.stages, stage, "stage");
  if (steps_.contains({processor, stage, activity, 1})) name += ' ' + std::to_string(number + 1);
  return processor == 0 ? name : name + ", " + named(info_.processors, processor, "processor");
}

void TraceChart::finish() {
  if (path_.empty()) return;
  report::Chart chart{.label = "Time of each step along the frames"};
  chart.x.label = frames_per_point_ == 1 ? "frame" : "frame, means of " + counted(frames_per_point_, "frame");
  chart.y = {.label = "ms a frame", .is_logarithmic = true};
  for (const auto& [key, step] : steps_) {
    report::Line& line = chart.lines.emplace_back(name_of(key), std::vector<report::PlotPoint>{},
                                                  report::Line::Form::plain, 1.5);
    for (std::size_t i = 0; i < step.size(); ++i)
      line.points.push_back({static_cast<double>(i) * frames_per_point_, step[i] / std::max(frames_[i], 1)});
  }
  const std::string svg = report::to_svg({chart});
  write_report(path_, svg.empty() ? report_parts::picture(chart.width, 40, chart.label, "") : svg);
  path_.clear();
}

std::unique_ptr<TraceFile> open_trace_file(const std::filesystem::path& path) {
  if (lower_case(path.extension().string()) == ".svg") return std::make_unique<TraceChart>(path);
  return std::make_unique<ChromeTraceWriter>(path);
}

}  // namespace sightline::pipeline
