#include "pipeline/adaptive.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace sightline::pipeline {
namespace {

constexpr int kWindowFrames = 20;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFirstPause = 10 * kSecond;
constexpr std::int64_t kLongestPause = 120 * kSecond;
constexpr double kDrift = 1.3;    // a load that has changed by this is no longer as planned
constexpr int kDriftWindows = 2;  // in a row: one alone is a moment's disturbance
constexpr double kWorthwhile = 1.1;

double ratio_of(double observed, double reference) {
  return reference > 0 && observed > 0 ? observed / reference : 1;
}

bool drifted(double ratio) {
  return ratio > kDrift || ratio < 1 / kDrift;
}

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
      pause_(kFirstPause) {}

void Adaptive::begin(const TraceInfo& info) {
  switched_ = info.start;
  window_ = {};
}

void Adaptive::accept(const FrameTrace& trace) {
  if (trace.admitted < switched_ || trace.status != FrameStatus::ok) return;
  if (window_.frames++ == 0) window_.from = trace.delivered;
  for (const Span& span : trace.spans) {
    if (span.activity != Activity::run) continue;
    if (span.processor == 0) {
      window_.sums.cpu += 1e-9 * static_cast<double>(span.work) / costs_.front().threads;
    } else {
      window_.sums.device += 1e-9 * static_cast<double>(span.end - span.start);
    }
  }
  if (window_.frames >= kWindowFrames && trace.delivered - window_.from >= kSecond)
    close_window(trace.delivered);
}

void Adaptive::close_window(std::int64_t now) {
  const Loads loads{window_.sums.cpu / window_.frames, window_.sums.device / window_.frames};
  window_ = {};
  if (pipeline_.device_lost()) return;  // the plan is not what runs any more
  if (trying_) {
    trying_ = false;
    cpu_scale_ = device_scale_ = 1;  // what the reference of this schedule was taken at
    const double slower = home_.uses_device() ? ratio_of(loads.device, home_reference_->device)
                                              : ratio_of(loads.cpu, home_reference_->cpu);
    if (slower > kDrift) {
      spdlog::debug("auto: the plan still takes {:.2g} times as long", slower);
      pause_ = std::min(2 * pause_, kLongestPause);
      replan(now, loads, *home_reference_);
      return;
    }
    spdlog::info("auto: tried again, and as planned: {}", describe(home_, processor_));
    pause_ = kFirstPause;
    reference_ = home_reference_;
  }
  if (!reference_) {
    reference_ = loads;
    if (current_ == home_ && !home_reference_) home_reference_ = loads;
    return;
  }
  if (try_again_ > 0 && now >= try_again_) {
    try_again_ = 0;
    trying_ = true;
    switch_to(home_, now);
    return;
  }
  const double cpu_ratio = ratio_of(loads.cpu, reference_->cpu);
  const double device_ratio = ratio_of(loads.device, reference_->device);
  if (!drifted(cpu_ratio) && !drifted(device_ratio)) {
    drifted_windows_ = 0;
  } else if (++drifted_windows_ >= kDriftWindows) {
    drifted_windows_ = 0;
    replan(now, loads, *reference_);
  }
}

void Adaptive::replan(std::int64_t now, const Loads& loads, const Loads& reference) {
  cpu_scale_ *= ratio_of(loads.cpu, reference.cpu);
  device_scale_ *= ratio_of(loads.device, reference.device);
  if (!drifted(cpu_scale_) && !drifted(device_scale_)) {
    go_home(now);  // without weighing: the plan was tried, which tells more than predictions
    return;
  }
  const DeviceCosts costs = costs_seen();
  const std::vector<Alternative> alternatives = weigh(costs, processor_, devices_, goal_, in_flight_);
  const Alternative& best = alternatives.front();
  const double gain = goal_ == Goal::latency
                          ? latency_of(costs, current_) / std::max(best.predicted_latency, 1e-9)
                          : best.predicted_fps / std::max(predicted_fps(costs, current_), 1e-9);
  const std::string seen = fmt::format(
      "the CPU takes {:.2g} times and the device {:.2g} times what was planned", cpu_scale_, device_scale_);
  if (gain < kWorthwhile || best.schedule == current_) {
    spdlog::debug("auto: {}; no other mapping is better", seen);
    reference_ = loads;  // this is how it is now
    return;
  }
  spdlog::info("auto: {}: now {}, {} frame(s) in flight", seen, describe(best.schedule, processor_),
               best.schedule.in_flight);
  switch_to(best.schedule, now);
  try_again_ = current_ == home_ ? 0 : now + pause_;
}

// The costs as they are now. A processor that is slow is slow for all stages; one that is fast has less to do
// in the stages that it runs, and nothing is known of the others: grouping, say, is quick on an empty scene.
DeviceCosts Adaptive::costs_seen() const {
  DeviceCosts all = costs_;
  for (FrameCosts& costs : all) {
    for (std::size_t i = 0; i < costs.stages.size(); ++i) {
      StageCost& stage = costs.stages[i];
      const bool divided = current_.split > 0 && i < costs.partitionable;
      const double cpu = divided || !current_.on_device[i] ? cpu_scale_ : std::max(cpu_scale_, 1.0);
      const double device = divided || current_.on_device[i] ? device_scale_ : std::max(device_scale_, 1.0);
      stage.cpu *= cpu;
      stage.work *= cpu;
      stage.device *= device;
      stage.upload *= device;
      stage.download *= device;
    }
  }
  return all;
}

void Adaptive::go_home(std::int64_t now) {
  cpu_scale_ = device_scale_ = 1;
  pause_ = kFirstPause;
  try_again_ = 0;
  if (current_ != home_) {
    spdlog::info("auto: the processors are as planned again: {}", describe(home_, processor_));
    switch_to(home_, now);
  }
  reference_ = home_reference_;
}

void Adaptive::switch_to(const Schedule& schedule, std::int64_t now) {
  pipeline_.set_schedule(schedule);
  current_ = schedule;
  ++switches_;
  switched_ = now;
  reference_.reset();
  window_ = {};
  drifted_windows_ = 0;
}

}  // namespace sightline::pipeline
