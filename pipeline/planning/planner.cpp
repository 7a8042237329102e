#include "pipeline/planning/planner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/json_store.hpp"
#include "base/median.hpp"
#include "pipeline/planning/plan_store.hpp"
#include "pipeline/planning/plan_trial.hpp"
#include "pipeline/planning/weigh.hpp"

namespace sightline::pipeline {
namespace {

// Each schedule is tried so often for the goal energy in any case.
constexpr int kFirstTrials = 2;
// Of two alternatives, the one with fewer frames in flight is taken unless the other is faster, or more
// frugal, by more than this.
constexpr double kWorthMoreFrames = 1.03;

// What the processor lets a schedule tune is tried for the best mapping, and for the best one in which stages
// on both processors share a frame.
std::vector<Schedule> worth_tuning(const std::vector<Alternative>& ranked) {
  std::vector<Schedule> mappings;
  if (!ranked.empty()) mappings.push_back(ranked.front().schedule);
  const auto mixed = std::find_if(ranked.begin(), ranked.end(),
                                  [](const Alternative& a) { return a.schedule.name == "custom"; });
  if (mixed != ranked.end() && !(mixed->schedule == mappings.front())) mappings.push_back(mixed->schedule);
  return mappings;
}

Alternative untried(Alternative a) {
  a.achieved_fps = a.achieved_latency = 0;
  a.joules.reset();
  a.joules_error.reset();
  return a;
}

std::vector<Alternative> tuned_to(const Tunable& tunable, const Schedule& mapping,
                                  const std::vector<Alternative>& alternatives) {
  const auto untuned = std::find_if(alternatives.begin(), alternatives.end(),
                                    [&](const Alternative& a) { return a.schedule == mapping; });
  std::vector<Alternative> tuned;
  for (const int choice : tunable.choices) {
    Alternative& other = tuned.emplace_back(untried(*untuned));
    other.schedule.tuned = choice;
  }
  return tuned;
}

}  // namespace

Goal parse_goal(const std::string& text) {
  if (text.empty() || text == "throughput") return Goal::throughput;
  if (text == "latency") return Goal::latency;
  if (text == "energy") return Goal::energy;
  throw Error(ExitCode::usage, "unknown goal '" + text + "'", "use throughput, latency or energy");
}

std::string machine_key(const FrameProcessor& processor, const Devices& devices, Size size, int threads) {
  std::string key = build_info().version + " | " + cpu_name() + " | " + instruction_set() + " | " +
                    std::to_string(threads) + " threads";
  for (const DeviceStages* device : devices) {
    const DeviceInfo& info = device->device().info();
    key += " | " + info.platform + " | " + info.name + " | " + info.driver_version + " | " +
           device->device().configuration();
  }
  return key + " | " + processor.info().cost_key + " | " + std::to_string(size.width) + "x" +
         std::to_string(size.height);
}

namespace {

// In their place where they are among them, else as further ones; then all in order, that one first.
void take_over(std::vector<Alternative>& alternatives, const std::vector<Alternative>& tried,
               const Schedule& best, Goal goal) {
  for (const Alternative& one : tried) {
    const auto known = std::ranges::find(alternatives, one.schedule, &Alternative::schedule);
    if (known != alternatives.end()) {
      *known = one;
    } else if (one.achieved_fps > 0) {
      alternatives.push_back(one);
    }
  }
  rank(alternatives, goal);
  const auto at = std::ranges::find(alternatives, best, &Alternative::schedule);
  if (at != alternatives.end()) std::rotate(alternatives.begin(), at, at + 1);
}

// Those in which one processor has all of a frame that it can have: what copies cost need not be known for
// them.
void leave_unshared(std::vector<Alternative>& alternatives, const Devices& devices) {
  std::erase_if(alternatives, [&](const Alternative& a) {
    const StageSet on_device = a.schedule.on_device;
    return a.schedule.split > 0 ||
           (on_device.any() && on_device != devices.supported(devices_of(a.schedule, devices.size())));
  });
}

void try_best(std::vector<Alternative>& alternatives, PlanTrials& trials, const PlanOptions& options) {
  const auto count = std::min(static_cast<std::size_t>(options.trials), alternatives.size());
  std::vector<Alternative> some(alternatives.begin(),
                                alternatives.begin() + static_cast<std::ptrdiff_t>(count));
  if (some.empty()) return;
  const std::size_t best = trials.try_all(some, {kFirstTrials, options.energy_trials});
  take_over(alternatives, some, some[best].schedule, options.goal);
}

void try_tuned(std::vector<Alternative>& alternatives, const Tunable& tunable, PlanTrials& trials,
               const PlanOptions& options) {
  std::vector<Alternative> some{alternatives.front()};
  for (const Schedule& mapping : worth_tuning(alternatives))
    for (Alternative& tuned : tuned_to(tunable, mapping, alternatives)) some.push_back(std::move(tuned));
  const std::size_t best = trials.try_all(some, {kFirstTrials, options.energy_further_trials});
  take_over(alternatives, some, some[best].schedule, options.goal);
}

// The frames in flight: as few as give the rate, or the energy. Nothing is predicted of how these differ, and
// few trials leave most of them tied: what was measured counts all the same.
void try_in_flight(std::vector<Alternative>& alternatives, const Devices& devices, PlanTrials& trials,
                   const PlanOptions& options) {
  const Alternative& front = alternatives.front();
  const int many =
      static_cast<int>(std::max<std::size_t>(dealt_devices(front.schedule, devices.size()).count(), 1));
  std::vector<Alternative> some{front};
  for (const int per_device : {2, 3, 6, 8, 12}) {
    Alternative other = untried(front);
    other.schedule.in_flight = std::min(per_device * many, 64);
    if (std::ranges::find(some, other.schedule, &Alternative::schedule) == some.end()) some.push_back(other);
  }
  if (options.goal == Goal::energy) {  // of those that are as good, the first is taken
    std::ranges::stable_sort(some, {}, [](const Alternative& a) { return a.schedule.in_flight; });
    const std::size_t best =
        trials.try_all(some, {kFirstTrials, options.energy_further_trials, kWorthMoreFrames});
    // What was cut short tells nothing: it stays as it is.
    const Schedule taken = trials.are_spoilt() ? front.schedule : some[best].schedule;
    take_over(alternatives, some, taken, options.goal);
    return;
  }
  Alternative best = front;
  for (Alternative& other : some) {
    if (other.schedule == front.schedule) continue;
    trials.try_one(other);
    const bool fewer = other.schedule.in_flight < best.schedule.in_flight;
    const double better = merit(other, options.goal) / merit(best, options.goal);  // both below 0
    if (fewer ? better * kWorthMoreFrames > 1 : better > kWorthMoreFrames) best = other;
  }
  take_over(alternatives, some, best.schedule, options.goal);
}

// Stored ones, or measured now, and then stored; none where the run was stopped.
std::optional<StageEnergies> find_energies(Pipeline& pipeline, const FrameProcessor& processor,
                                           const Devices& devices, const media::Frame& frame,
                                           const PlanOptions& options) {
  const std::string key = machine_key(processor, devices, frame.size(), pipeline.threads());
  auto stored = stored_energies(options.energy_file, key, options.energy->name(), processor.stages().size(),
                                devices.size() + 1);
  if (stored || !options.measure_energies) return stored;
  spdlog::info(
      "auto: measuring the energy of each stage on each processor, {:g} s each; the results are stored",
      options.energy_seconds);
  try {
    stored = options.measure_energies(frame, options.energy_seconds);
  } catch (const Error& e) {
    if (!is_set(options.stop)) spdlog::warn("cannot measure the stages' energy: {}", e.what());
    return std::nullopt;
  }
  try {
    store_energies(options.energy_file, key, *stored);
  } catch (const Error& e) {
    spdlog::debug("{}", e.what());
  }
  return stored;
}

}  // namespace

std::optional<Planned> recall_schedule(Pipeline& pipeline, const FrameProcessor& processor,
                                       const Devices& devices, const media::Frame& frame,
                                       const PlanOptions& options) {
  const std::string key = plan_key(processor, devices, frame, pipeline.threads(), options);
  std::optional<Planned> known =
      remembered_plan(JsonStore(options.file), key, processor, devices, options.frames_to_come);
  if (known) pipeline.set_schedule(known->schedule);
  return known;
}

void check_goal(Goal goal, const EnergyCounter* energy) {
  if (goal != Goal::energy || (energy && energy->is_quick())) return;
  throw Error(ExitCode::usage, "--goal energy needs an energy meter, and none can be read",
              "run as root (RAPL), or use --goal throughput or latency");
}

Planned plan_schedule(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<media::Frame>& frames, const PlanOptions& options) {
  EnergyCounter* const energy = options.goal == Goal::energy ? options.energy.get() : nullptr;
  check_goal(options.goal, energy);
  const JsonStore store(options.file);
  const std::string key = plan_key(processor, devices, frames.front(), pipeline.threads(), options);
  Planned planned;
  if (energy) planned.energies = find_energies(pipeline, processor, devices, frames.front(), options);
  if (auto known = remembered_plan(store, key, processor, devices, options.frames_to_come)) {
    // Energies that were measured since, and better, deserve a new look.
    if (!energy || known->energies == planned.energies) {
      pipeline.set_schedule(known->schedule);
      return *known;
    }
  }

  const StageEnergies* const energies = planned.energies ? &*planned.energies : nullptr;
  const auto start = std::chrono::steady_clock::now();
  spdlog::info("auto: measuring stages and schedules");
  std::optional<CalibrationLimit> limit;
  if (options.frames_to_come && !energy) limit = CalibrationLimit{*options.frames_to_come};
  planned.costs = calibrate(pipeline, processor, devices, frames, options.stop,
                            options.transfers ? options.transfers() : std::vector<TransferModel>(),
                            limit ? &*limit : nullptr);
  planned.alternatives = weigh(planned.costs, processor, devices, options.goal, options.in_flight, energies);
  const bool is_calibrated = !limit || !limit->is_reached;
  if (!is_calibrated) leave_unshared(planned.alternatives, devices);
  if (energy) {
    spdlog::info(
        "auto: comparing the energy of the best schedules by turns, for at most {:.0f} s, then variants of "
        "the best",
        options.energy_trials * options.energy_trial_seconds);
  }
  PlanTrials trials(pipeline, processor, devices, frames, options, energy);
  // Whether the run to come is worth so many more trials, of two runs each.
  const auto is_worth = [&](int trial_count) {
    if (energy || !options.frames_to_come) return true;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const double run = static_cast<double>(*options.frames_to_come) /
                       std::max(planned.alternatives.front().predicted_fps, 1e-3);
    return spent.count() + 2 * options.trial_seconds * trial_count < 0.1 * run;
  };
  const bool is_long = is_calibrated && is_worth(options.trials);
  if (is_long) {
    try_best(planned.alternatives, trials, options);
    if (const Tunable* const tunable = processor.tunable(); tunable && is_worth(options.trials))
      try_tuned(planned.alternatives, *tunable, trials, options);
    if (options.in_flight == 0 && options.goal != Goal::latency && is_worth(options.trials))
      try_in_flight(planned.alternatives, devices, trials, options);
  }
  if (!is_long || !is_worth(0)) planned.limited_to = options.frames_to_come;
  const bool is_sound = !trials.are_spoilt();
  if (pipeline.device_lost())
    planned.alternatives =
        weigh(planned.costs, processor, nullptr, options.goal, options.in_flight, energies);
  planned.alternatives.front().chosen = true;
  planned.schedule = planned.alternatives.front().schedule;
  pipeline.set_schedule(planned.schedule);
  if (is_sound) remember_plan(store, key, planned);
  return planned;
}

}  // namespace sightline::pipeline
