#include "pipeline/planning/energy_watch.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kWindowTime = 2'000'000'000;  // meters are slow
constexpr int kDriftWindowsOfEnergy = 3;
// How much slower than predicted a run may be before it is the source that it waits for.
constexpr double kWaitsForSource = 1.2;

// Of what DriftDetector is shown; only the joules decide.
constexpr std::size_t kJoules = 0, kCpuTime = 1, kDeviceTime = 2, kQuantities = 3;

}  // namespace

std::optional<Schedule> more_frugal(const EnergySeen& seen, const DeviceCosts& costs, const Planned& planned,
                                    const Schedule& running, const FrameProcessor& processor,
                                    const Devices& devices, int in_flight, double* running_joules,
                                    double* joules) {
  if (!planned.objective.energies || seen.seconds <= 0) return std::nullopt;
  StageEnergies energies = *planned.objective.energies;
  const std::optional<double> above = joules_above_idle(energies, costs, running);
  if (!above) return std::nullopt;
  energies.idle_watts = std::max(seen.joules - *above, 0.0) / seen.seconds;
  const double alone = 1 / std::max(predicted_fps(costs, running), 1e-9);
  const double source = seen.seconds > kWaitsForSource * alone ? seen.seconds : 0;
  const auto joules_of = [&](const Schedule& schedule, double fps) {
    return predicted_joules(energies, costs, schedule, std::max(1 / std::max(fps, 1e-9), source));
  };
  *running_joules = *above + energies.idle_watts * std::max(alone, source);
  std::optional<Schedule> best;
  *joules = *running_joules / kWorthwhile;
  for (const Alternative& a : weigh(costs, processor, devices, {Goal::energy, in_flight, energies})) {
    const std::optional<double> one = joules_of(a.schedule, a.predicted_fps);
    if (!one || *one >= *joules || a.schedule == running) continue;
    best = a.schedule;
    *joules = *one;
  }
  return best;
}

EnergyWatch::EnergyWatch(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                         const Planned& planned, std::shared_ptr<EnergyCounter> energy, int in_flight)
    : pipeline_(pipeline),
      processor_(processor),
      devices_(devices),
      planned_(planned),
      in_flight_(in_flight),
      energy_(std::move(energy)),
      current_(planned.schedule),
      watch_(kQuantities, 1, kDriftWindowsOfEnergy) {}

void EnergyWatch::begin(const TraceInfo& info) {
  switched_ = info.start;
  window_ = {};
  works_ = planned_.objective.energies.has_value() && energy_ && energy_->is_quick();
  if (!works_) return;
  try {
    energy_->start();
  } catch (const Error& e) {
    spdlog::warn("cannot watch the energy of the plan: {}", e.what());
    works_ = false;
  }
}

void EnergyWatch::accept(const FrameTrace& trace) {
  if (!works_ || trace.admitted < switched_ || trace.status != FrameStatus::ok) return;
  if (trace.setting != setting_) {
    if (setting_ >= 0) watch_.setting_changed();
    setting_ = trace.setting;
    window_ = {};
  }
  try {
    if (window_.frames++ == 0) {  // from here on, frames and joules are counted
      window_.from = trace.delivered;
      window_.joules = energy_->joules();
      return;
    }
    window_.sums.add(trace, planned_.costs.front().threads);
    if (window_.frames > kWindowFrames && trace.delivered - window_.from >= kWindowTime)
      close_window(trace.delivered);
  } catch (const Error& e) {
    spdlog::warn("cannot watch the energy of the plan any longer: {}", e.what());
    works_ = false;
  }
}

void EnergyWatch::close_window(std::int64_t now) {
  const double frames = window_.frames - 1;
  const double joules = energy_->joules();
  const EnergySeen seen{(joules - window_.joules) / frames,
                        1e-9 * static_cast<double>(now - window_.from) / frames, window_.sums.cpu / frames,
                        window_.sums.device / frames};
  window_ = {};
  if (pipeline_.device_lost()) return;  // the plan is not what runs any more
  const auto advice = watch_.observe(now, {seen.joules, seen.cpu, seen.device}, kJoules);
  if (advice == DriftDetector::Advice::weigh) {
    replan(now, seen);
  } else if (advice == DriftDetector::Advice::plan_holds) {
    go_home(now);
  } else if (advice == DriftDetector::Advice::try_plan) {
    switch_to(planned_.schedule, now);
  } else if (advice == DriftDetector::Advice::plan_is_back) {
    spdlog::info("auto: the plan is back to its predicted energy: {}", describe(current_, processor_));
  }
}

void EnergyWatch::replan(std::int64_t now, const EnergySeen& seen) {
  const DeviceCosts costs =
      costs_seen(planned_.costs, current_, watch_.scales()[kCpuTime], watch_.scales()[kDeviceTime]);
  double running = 0, best_joules = 0;
  const auto best =
      more_frugal(seen, costs, planned_, current_, processor_, devices_, in_flight_, &running, &best_joules);
  const std::string what = fmt::format("a frame takes {:.3g} mJ, {:.2g} times as much as planned",
                                       1e3 * seen.joules, watch_.scales()[kJoules]);
  if (!best) {
    spdlog::debug("auto: {}; no other mapping takes 10% less", what);
    watch_.accept();
    return;
  }
  spdlog::info("auto: {}: now {}, {} in flight; predicted: {:.3g} mJ per frame instead of {:.3g}", what,
               describe(*best, processor_), counted(best->in_flight, "frame"), 1e3 * best_joules,
               1e3 * running);
  switch_to(*best, now);
}

void EnergyWatch::go_home(std::int64_t now) {
  if (current_ != planned_.schedule) {
    spdlog::info("auto: a frame takes the planned energy again: {}", describe(planned_.schedule, processor_));
    switch_to(planned_.schedule, now);
  }
  watch_.returned();
}

void EnergyWatch::switch_to(const Schedule& schedule, std::int64_t now) {
  pipeline_.set_schedule(schedule);
  current_ = schedule;
  ++switches_;
  switched_ = now;
  window_ = {};
  watch_.switched(now, schedule == planned_.schedule);
}

}  // namespace sightline::pipeline
