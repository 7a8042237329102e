#include "support/made_up_measurement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace sightline::pipeline::test {
namespace {

std::string name_of(const Span& span, const TraceInfo& info) {
  switch (span.activity) {
    case Activity::decode:
      return "decode";
    case Activity::upload:
      return "upload";
    case Activity::download:
      return "download";
    case Activity::output:
      return "output";
    default:
      return info.stages[span.stage];
  }
}

// Share of the time from `start` to `end` in which both sets of spans were at work.
double both_at_work(const std::vector<Span>& a, const std::vector<Span>& b, std::int64_t start,
                    std::int64_t end) {
  std::map<std::int64_t, std::pair<int, int>> changes;
  for (const Span& span : a) ++changes[span.start].first, --changes[span.end].first;
  for (const Span& span : b) ++changes[span.start].second, --changes[span.end].second;
  std::int64_t together = 0, before = start;
  int in_a = 0, in_b = 0;
  for (const auto& [time, change] : changes) {
    if (in_a > 0 && in_b > 0) together += time - before;
    in_a += change.first;
    in_b += change.second;
    before = time;
  }
  return static_cast<double>(together) / static_cast<double>(end - start);
}

}  // namespace

ScheduleResult made_up_result(const Plan& plan, const TraceInfo& info) {
  const std::vector<MadeUpFrame> frames = simulate(plan, 120, info.start);
  ScheduleResult result;
  result.schedule = plan.name;
  result.in_flight = plan.slots;
  result.frames = 120;
  result.split = plan.device.empty() ? 0 : 0.55;
  for (const Step& step : plan.steps) {
    if (step.activity == Activity::run)
      result.mapping +=
          (result.mapping.empty() ? "" : " ") + info.stages[step.stage] + (step.processor ? "=gpu" : "=cpu");
  }
  const std::int64_t start = frames.front().trace.admitted, end = frames.back().trace.delivered;
  const double wall = static_cast<double>(end - start) / 1e9;
  result.fps_median = 120 / wall;
  result.fps = {result.fps_median * 0.985, result.fps_median, result.fps_median * 1.008};
  result.fps_lowest = result.fps[0];
  result.fps_highest = result.fps[2];
  std::vector<double> latencies;
  std::vector<std::pair<std::string, std::vector<Span>>> stages;
  std::vector<double> busy(2, 0.0), alone(2, 0.0);
  for (const MadeUpFrame& frame : frames) {
    latencies.push_back(static_cast<double>(frame.trace.delivered - frame.trace.admitted) / 1e9);
    for (const Span& span : frame.spans) {
      if (span.activity == Activity::wait) continue;
      const std::string name = name_of(span, info);
      auto stage = std::find_if(stages.begin(), stages.end(), [&](const auto& other) {
        return other.first == name && other.second[0].processor == span.processor;
      });
      if (stage == stages.end()) stage = stages.insert(stage, {name, {}});
      stage->second.push_back(span);
      if (span.activity == Activity::upload || span.activity == Activity::download) continue;
      busy[span.processor] += static_cast<double>(span.end - span.start) / 1e9 * (span.processor ? 1 : 0.5);
    }
  }
  std::sort(latencies.begin(), latencies.end());
  result.latency_p50 = latencies[60];
  result.latency_p95 = latencies[114];
  result.latency_p99 = latencies[118];
  for (const auto& [name, spans] : stages) {
    const double sum = std::accumulate(spans.begin(), spans.end(), 0.0, [](double s, const Span& span) {
      return s + static_cast<double>(span.end - span.start) / 1e9;
    });
    result.stages.push_back({name, info.processors[spans[0].processor], sum / 120, sum / 120 * 0.93});
    if (name != "upload" && name != "download")
      alone[spans[0].processor] += sum / 120 * 0.93 * (spans[0].processor ? 1 : 0.5);
    result.overlap_factor += sum / wall;
    result.overlap.emplace_back();
    for (const auto& other : stages)
      result.overlap.back().push_back(both_at_work(spans, other.second, start, end));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (alone[i] <= 0) continue;
    result.processors.push_back({info.processors[i], busy[i] / wall, 1 / alone[i]});
    if (result.bound_fps == 0 || 1 / alone[i] < result.bound_fps) {
      result.bound_fps = 1 / alone[i];
      result.bound_by = info.processors[i];
    }
  }
  result.bound_share = result.fps_median / result.bound_fps;
  result.peak_memory_bytes = 180'000'000 + plan.slots * 47'000'000;
  for (std::size_t i = 40; i < 80; ++i)
    result.timeline.push_back({frames[i].trace.frame, frames[i].trace.slot, frames[i].spans});
  return result;
}

Measurement made_up_measurement(double work, int filters) {
  Measurement m;
  m.input = "clip.mp4";
  m.frame_size = {768, 576};
  m.decoding = true;
  m.model = "filter bank: people 64x128, " + std::to_string(filters) + " filters of 16x16";
  m.variant = std::to_string(filters) + " filters";
  m.program = "sightline 0.1.0, AVX2";
  m.machine = "Made-up CPU, 2 threads; Made-up GPU, driver 1.2";
  m.meter_note = "this machine has no counter that can be read";
  m.accuracy = "log-average miss rate 31% on a made-up set";
  m.trace_info = made_up_info(4);
  for (const Plan& plan : made_up_plans(work)) m.schedules.push_back(made_up_result(plan, m.trace_info));
  return m;
}

}  // namespace sightline::pipeline::test
