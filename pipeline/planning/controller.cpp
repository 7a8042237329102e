#include "pipeline/planning/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "pipeline/session/now.hpp"

namespace sightline::pipeline {
namespace {

constexpr WindowRule kQualityWindow{kSecond / 2, 8, 2};
constexpr WindowRule kTimeWindow{kSecond, 20, 20};
constexpr WindowRule kEnergyWindow{2 * kSecond, 20, 20};  // meters are slow
constexpr double kWorthwhile = 1.1;                       // gain of a switch
constexpr double kSlowSource = 1.2;                       // over the predicted time of a frame
constexpr std::int64_t kBatteryPause = 10 * kSecond;
constexpr double kHeld = 1.05;      // load that counts as kept
constexpr double kFullBatch = 0.9;  // mean share of a batch that counts as full
constexpr double kIdle = 0.25;      // share of the time from which on the processors are not the limit

}  // namespace

std::optional<BetterSchedule> better_schedule(const ScheduleObjective& planned, const DeviceCosts& costs,
                                              const Schedule& running, const RunWindow& window,
                                              const FrameProcessor& processor, const Devices& devices) {
  ScheduleObjective objective = planned;
  if (objective.uses_energy()) {
    if (!objective.energies || window.seconds <= 0) return std::nullopt;
    const std::optional<double> above = joules_above_idle(*objective.energies, costs, running);
    if (!above) return std::nullopt;
    objective.energies->idle_watts = std::max(window.joules - *above, 0.0) / window.seconds;
    if (window.seconds > kSlowSource / std::max(predicted_fps(costs, running), 1e-9))
      objective.frame_seconds = window.seconds;
  }
  const Alternative best = weigh(costs, processor, devices, objective).front();
  const BetterSchedule better{best.schedule, objective.cost(best),
                              objective.cost(objective.predict(running, costs, devices.size()))};
  if (better.schedule == running || better.running_cost < kWorthwhile * better.cost) return std::nullopt;
  return better;
}

Controller::KeptPlan::KeptPlan(Planned plan)
    : planned(std::move(plan)),
      running(planned.schedule),
      drift(planned.objective.uses_energy() ? DriftDetector(3, 1, 3) : DriftDetector(2, 2, 2)) {}

Controller::Controller(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                       ControllerOptions options)
    : pipeline_(pipeline),
      processor_(processor),
      devices_(devices),
      options_(std::move(options)),
      quality_(settings(), pipeline.setting()),
      battery_(settings(), pipeline.setting()) {
  using enum QualityObjective::Kind;
  const QualityObjective::Kind kind = options_.quality.kind;
  if (kind == power || kind == energy) {
    sensor_ = std::make_unique<EnergySensor>(options_.quality_energy, options_.energy_interval);
    logger().info("the setting keeps '{}', measured by {}", describe(options_.quality), sensor_->name());
  }
  if (kind == battery && !(options_.battery && options_.battery()))
    throw Error(ExitCode::device, "there is no battery",
                "use --hold or --budget instead of --battery"_message);
}

void Controller::follow_plan(std::optional<Planned> planned) {
  const std::lock_guard lock(mutex_);
  plan_ = planned ? std::make_unique<KeptPlan>(std::move(*planned)) : nullptr;
  if (!plan_) return;
  const ScheduleObjective& objective = plan_->planned.objective;
  plan_->is_watched = !objective.uses_energy() ||
                      (objective.energies && options_.plan_energy && options_.plan_energy->is_quick());
}

bool Controller::follows_plan() const {
  const std::lock_guard lock(mutex_);
  return plan_ != nullptr;
}

bool Controller::is_active() const {
  const std::lock_guard lock(mutex_);
  return options_.quality.kind != QualityObjective::Kind::none || (plan_ && plan_->is_watched);
}

int Controller::switches() const {
  const std::lock_guard lock(mutex_);
  return switches_;
}

void Controller::begin(const TraceInfo& info) {
  const std::lock_guard lock(mutex_);
  in_flight_ = std::max(info.slots, 1);
  restart_quality();
  if (!plan_ || !plan_->is_watched) return;
  plan_->switched = info.start;
  plan_->window.restart();
  if (!plan_->planned.objective.uses_energy()) return;
  try {
    options_.plan_energy->start();
  } catch (const Error& e) {
    plan_->is_watched = false;
    logger().warn("auto: the energy meter failed; the plan is not watched: {}", e.what());
  }
}

void Controller::accept(const FrameTrace& trace) {
  const std::lock_guard lock(mutex_);
  if (sensor_ && trace.ends_frame) sensor_->count_frame();
  if (trace.status != FrameStatus::ok) return;
  try {
    if (!by_hand_ && !failed_) control_quality(trace);
  } catch (const std::exception& e) {
    failed_ = true;
    logger().warn("the setting remains {}: {}", name(pipeline_.setting()), e.what());
  }
  try {
    if (plan_ && plan_->is_watched) control_schedule(trace);
  } catch (const Error& e) {
    plan_->is_watched = false;
    logger().warn("auto: the energy meter failed; the plan is no longer watched: {}", e.what());
  }
}

void Controller::control_schedule(const FrameTrace& trace) {
  KeptPlan& plan = *plan_;
  if (trace.admitted < plan.switched) return;
  const auto on_device = [](const Span& span) { return span.processor > 0; };
  const bool compiles = plan.running.uses_device() && std::ranges::none_of(trace.spans, on_device);
  if (compiles && !pipeline_.device_lost()) return;
  if (trace.setting != plan.setting) {
    if (plan.setting >= 0) plan.drift.setting_changed();
    plan.setting = trace.setting;
    plan.window.restart();
  }
  const bool energy = plan.planned.objective.uses_energy();
  if (energy && !plan.window.has_started()) plan.joules = options_.plan_energy->joules();
  plan.window.add(trace);
  std::optional<RunWindow> window = plan.window.take(energy ? kEnergyWindow : kTimeWindow);
  if (!window) return;
  if (energy) window->joules = (options_.plan_energy->joules() - plan.joules) / window->frames;
  plan.window.restart();
  if (pipeline_.device_lost()) return;  // the plan does not run any more
  // A source that is too slow for full batches says nothing about the speed of the device.
  if (window->batch > 0 && window->batch < kFullBatch * plan.running.batch) return;
  judge_plan(trace.delivered, *window);
}

void Controller::judge_plan(std::int64_t now, const RunWindow& window) {
  using enum DriftDetector::Advice;
  KeptPlan& plan = *plan_;
  const Schedule& home = plan.planned.schedule;
  const bool energy = plan.planned.objective.uses_energy();
  std::vector<double> quantities{window.cpu, window.device};
  if (energy) quantities.insert(quantities.begin(), window.joules);
  const char* const what = energy ? "energy" : "speed";
  switch (plan.drift.observe(now, quantities, !energy && home.uses_device() ? 1 : 0)) {
    case keep:
      return;
    case plan_is_back:
      logger().info("auto: the plan is back to its predicted {}: {}", what, describe(home, processor_));
      return;
    case try_plan:
      return switch_to(home, now);
    case plan_holds:
      if (plan.running != home) {
        logger().info("auto: the processors are back to their planned {}: {}", what,
                      describe(home, processor_));
        switch_to(home, now);
      }
      return plan.drift.returned();
    case weigh:
      return weigh_again(now, window);
  }
}

void Controller::weigh_again(std::int64_t now, const RunWindow& window) {
  KeptPlan& plan = *plan_;
  const bool energy = plan.planned.objective.uses_energy();
  const std::vector<double>& scales = plan.drift.scales();
  const double cpu = scales.end()[-2], device = scales.back();
  const DeviceCosts costs = costs_seen(plan.planned.costs, plan.running, cpu, device);
  const auto better =
      better_schedule(plan.planned.objective, costs, plan.running, window, processor_, devices_);
  const std::string seen =
      energy ? fmt::format("a frame takes {:.3g} mJ, {:.2g} times as much as planned", 1e3 * window.joules,
                           scales.front())
             : fmt::format("the CPU takes {:.2g} times and the device {:.2g} times as long as planned", cpu,
                           device);
  if (!better) {
    logger().debug("auto: {}; no other mapping is 10% better", seen);
    return plan.drift.accept();
  }
  logger().info("auto: the schedule is now {}, {} in flight, because {}{}",
                describe(better->schedule, processor_), counted(better->schedule.in_flight, "frame"), seen,
                energy ? fmt::format("; predicted: {:.3g} mJ per frame instead of {:.3g}", 1e3 * better->cost,
                                     1e3 * better->running_cost)
                       : "");
  switch_to(better->schedule, now);
}

void Controller::switch_to(const Schedule& schedule, std::int64_t now) {
  pipeline_.set_schedule(schedule);
  plan_->running = schedule;
  plan_->switched = now;
  plan_->drift.switched(now, schedule == plan_->planned.schedule);
  ++switches_;
}

void Controller::control_quality(const FrameTrace& trace) {
  using enum QualityObjective::Kind;
  switch (options_.quality.kind) {
    case none:
      return;
    case hold:
      if (static_cast<std::size_t>(trace.setting) != pipeline_.setting()) return;
      window_.add(trace);
      if (const auto window = window_.take(kQualityWindow)) judge_rate(trace.delivered, *window);
      return;
    case power:
    case energy:
      return judge_energy(trace.delivered);
    case battery:
      return judge_battery(trace.delivered);
  }
}

void Controller::judge_rate(std::int64_t now, const RunWindow& window) {
  if (window.possible_fps <= 0) return;
  const double delivered = 1 / (window.seconds * window.tiles);
  const double possible = window.possible_fps / window.tiles;
  double wanted = options_.quality.limit;
  if (const double given = options_.source_rate ? options_.source_rate() : 0; given > 0)
    wanted = std::min(wanted, given);
  if (window.idle_share > kIdle && delivered < wanted) {
    wanted = delivered;
    ++idle_checks_;
    limited_by_ =
        fmt::format("{} {:.1f} frames/s",
                    window.limited_by_outputs ? "the outputs accept" : "the source delivers", delivered);
    if (!std::exchange(told_idle_, true) && !options_.source_rate) {
      logger().info(
          "{}, and the detector is idle {:.0f}% of the time; a faster setting would not raise the "
          "rate",
          limited_by_, 100 * window.idle_share);
    }
  }
  judge(now, wanted / possible, fmt::format("{:.1f} frames/s are possible", possible));
}

void Controller::judge_energy(std::int64_t now) {
  if (const std::string failure = sensor_->failure(); !failure.empty())
    throw Error(ExitCode::failed, failure);
  const auto reading = sensor_->take();
  if (!reading || reading->seconds <= 0) return;
  const bool per_frame = options_.quality.kind == QualityObjective::Kind::energy;
  if (per_frame && reading->frames == 0) return;
  const double used = reading->joules / (per_frame ? static_cast<double>(reading->frames) : reading->seconds);
  judge(now, used / options_.quality.limit, fmt::format("{:.3g} {}", used, per_frame ? "J per frame" : "W"));
}

void Controller::judge_battery(std::int64_t now) {
  if (now < next_battery_) return;
  next_battery_ = now + kBatteryPause;
  const std::optional<BatteryLevel> level = options_.battery();
  if (!level) throw Error(ExitCode::failed, "the battery is gone");
  const std::size_t setting = battery_.observe(level->level, level->charging);
  last_seen_ = fmt::format("the battery is at {:.0f}%{}", 100 * level->level,
                           level->charging ? " and is not discharging" : "");
  if (setting != pipeline_.setting()) change_to(setting, last_seen_);
}

void Controller::judge(std::int64_t now, double load, const std::string& seen) {
  ++checks_;
  kept_ += load <= kHeld;
  last_seen_ = seen;
  if (const auto setting = quality_.observe(1e-9 * static_cast<double>(now), load)) {
    change_to(*setting, seen);
  } else if (load > kHeld && quality_.setting() + 1 == settings() && !std::exchange(told_too_slow_, true)) {
    logger().warn("the fastest setting does not keep '{}': {}", describe(options_.quality), seen);
  }
}

void Controller::change_to(std::size_t setting, const std::string& why) {
  logger().info("the setting is now {} ({}): {}", name(setting), describe(options_.quality), why);
  pipeline_.set_setting(setting);
  ++changes_;
  restart_quality();
}

// Frames in flight still show the change.
void Controller::restart_quality() {
  window_.restart(in_flight_);
  if (sensor_) sensor_->restart();
}

std::string Controller::change_operating_point(int by) {
  const std::lock_guard lock(mutex_);
  if (settings() < 2) return "there is only one setting";
  const auto count = static_cast<std::ptrdiff_t>(settings());
  const auto now = static_cast<std::ptrdiff_t>(pipeline_.setting());
  const auto to = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(now + by, 0, count - 1));
  by_hand_ = true;
  if (to == pipeline_.setting())
    return fmt::format("{}: the {} setting", name(to), by > 0 ? "fastest" : "most accurate");
  pipeline_.set_setting(to);
  ++changes_;
  return fmt::format("setting: {} ({} of {})", name(to), to + 1, count);
}

std::string Controller::follow_objective() {
  const std::lock_guard lock(mutex_);
  if (settings() < 2) return "there is only one setting";
  if (options_.quality.kind == QualityObjective::Kind::none)
    return ("no objective: see --hold, --budget and --battery"_message).text(Words::command_line);
  if (failed_) return "the objective has ended: its sensor failed";
  by_hand_ = false;
  quality_.start_at(pipeline_.setting());
  restart_quality();
  next_battery_ = 0;
  return "setting: " + describe(options_.quality);
}

std::string Controller::operating_point_text() const {
  return processor_.operating_points().empty() ? std::string() : name(pipeline_.setting());
}

std::string Controller::chosen_by() const {
  const std::lock_guard lock(mutex_);
  if (settings() < 2) return "";
  if (by_hand_) return "by hand";
  if (options_.quality.kind == QualityObjective::Kind::none) return "as configured";
  return failed_ ? "objective ended" : describe(options_.quality);
}

std::string Controller::summary() const {
  const std::lock_guard lock(mutex_);
  if (options_.quality.kind == QualityObjective::Kind::none || last_seen_.empty()) return "";
  const std::string objective = describe(options_.quality);
  if (checks_ == 0)
    return fmt::format("{}: {} of the setting; {}\n", objective, counted(changes_, "change"), last_seen_);
  const std::string limited = idle_checks_ > 0 && !options_.source_rate
                                  ? fmt::format("; in {}, the search had time left, and {}",
                                                counted(idle_checks_, "check"), limited_by_)
                                  : "";
  return fmt::format("{}: kept within 5% at {} of {}, with {} of the setting{}; last check: {}\n", objective,
                     kept_, counted(checks_, "check"), counted(changes_, "change"), limited, last_seen_);
}

}  // namespace sightline::pipeline
