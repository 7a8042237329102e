#include "pipeline/planning/adaptive.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "pipeline/runtime/now.hpp"

namespace sightline::pipeline {
namespace {

constexpr int kDriftWindowsOfRate = 2;

// Of what DriftDetector is shown.
constexpr std::size_t kCpu = 0, kDevice = 1;

}  // namespace

Adaptive::Adaptive(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                   const Planned& planned, Goal goal, int in_flight)
    : pipeline_(pipeline),
      processor_(processor),
      devices_(devices),
      costs_(planned.costs),
      goal_(goal),
      in_flight_(in_flight),
      home_(planned.schedule),
      current_(planned.schedule),
      watch_(2, 2, kDriftWindowsOfRate) {}

void Adaptive::begin(const TraceInfo& info) {
  switched_ = info.start;
  window_ = {};
}

void Adaptive::accept(const FrameTrace& trace) {
  if (trace.admitted < switched_ || trace.status != FrameStatus::ok) return;
  if (trace.setting != setting_) {
    if (setting_ >= 0) watch_.setting_changed();
    setting_ = trace.setting;
    window_ = {};
  }
  if (window_.frames++ == 0) window_.from = trace.delivered;
  window_.sums.add(trace, costs_.front().threads);
  if (window_.frames >= kWindowFrames && trace.delivered - window_.from >= kSecond)
    close_window(trace.delivered);
}

void Adaptive::close_window(std::int64_t now) {
  const double cpu = window_.sums.cpu / window_.frames, device = window_.sums.device / window_.frames;
  window_ = {};
  if (pipeline_.device_lost()) return;  // the plan is not what runs any more
  switch (watch_.observe(now, {cpu, device}, home_.uses_device() ? kDevice : kCpu)) {
    case DriftDetector::Advice::keep:
      return;
    case DriftDetector::Advice::plan_is_back:
      spdlog::info("auto: the plan is back to its predicted speed: {}", describe(home_, processor_));
      return;
    case DriftDetector::Advice::try_plan:
      switch_to(home_, now);
      return;
    case DriftDetector::Advice::plan_holds:
      go_home(now);
      return;
    case DriftDetector::Advice::weigh:
      replan(now);
      return;
  }
}

void Adaptive::replan(std::int64_t now) {
  const double cpu = watch_.scales()[kCpu], device = watch_.scales()[kDevice];
  const DeviceCosts costs = costs_seen(costs_, current_, cpu, device);
  const std::vector<Alternative> alternatives =
      weigh(costs, processor_, devices_, {goal_, in_flight_});
  const Alternative& best = alternatives.front();
  const double gain = goal_ == Goal::latency
                          ? latency_of(costs, current_) / std::max(best.predicted_latency, 1e-9)
                          : best.predicted_fps / std::max(predicted_fps(costs, current_), 1e-9);
  const std::string seen =
      fmt::format("the CPU takes {:.2g} times and the device {:.2g} times as long as planned", cpu, device);
  if (gain < kWorthwhile || best.schedule == current_) {
    spdlog::debug("auto: {}; no other mapping is better", seen);
    watch_.accept();
    return;
  }
  spdlog::info("auto: {}: now {}, {} in flight", seen, describe(best.schedule, processor_),
               counted(best.schedule.in_flight, "frame"));
  switch_to(best.schedule, now);
}

void Adaptive::go_home(std::int64_t now) {
  if (current_ != home_) {
    spdlog::info("auto: the processors are back to their planned speed: {}", describe(home_, processor_));
    switch_to(home_, now);
  }
  watch_.returned();
}

void Adaptive::switch_to(const Schedule& schedule, std::int64_t now) {
  pipeline_.set_schedule(schedule);
  current_ = schedule;
  ++switches_;
  switched_ = now;
  window_ = {};
  watch_.switched(now, schedule == home_);
}

}  // namespace sightline::pipeline
