#include "pipeline/planning/planner.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/log.hpp"
#include "pipeline/planning/plan_store.hpp"
#include "pipeline/planning/plan_trial.hpp"
#include "pipeline/planning/weigh.hpp"

namespace sightline::pipeline {
namespace {

// The fewest frames in flight, and the smallest batch, are taken whose cost is within this factor of the
// lowest.
constexpr double kWorthMoreFrames = 1.03;
// Batches that are tried: powers of two.
constexpr int kSmallestTried = 4;
constexpr int kLargestTried = 32;

Alternative untried(Alternative a) {
  a.achieved_fps = a.achieved_latency = 0;
  a.joules.reset();
  a.joules_error.reset();
  a.with_decoding.reset();
  return a;
}

}  // namespace

Goal parse_goal(const std::string& text) {
  if (text.empty() || text == "throughput") return Goal::throughput;
  if (text == "latency") return Goal::latency;
  if (text == "energy") return Goal::energy;
  throw Error(ExitCode::usage, "unknown goal '" + text + "'", "use throughput, latency or energy");
}

std::string plan_key(const FrameProcessor& processor, const Devices& devices, const Frame& frame,
                     int threads) {
  std::string key = build_info().version + " | " + cpu_name() + " | " + instruction_set() + " | " +
                    std::to_string(threads) + " threads";
  for (const DeviceStages* device : devices) {
    const DeviceInfo& info = device->device().info();
    key += " | " + info.platform + " | " + info.name + " | " + info.driver_version + " | " +
           device->device().configuration();
  }
  // Colour has more to copy than luma, and is converted by the stages.
  const PictureView view = frame.view();
  return key + " | " + processor.info().plan_key + " | " + std::to_string(frame.size().width) + "x" +
         std::to_string(frame.size().height) + " " +
         (view.is_gray() ? "luma" : std::to_string(static_cast<int>(view.colour().format)) + " colour");
}

namespace {

std::string key_of(const FrameProcessor& processor, const Devices& devices, const Frame& frame, int threads,
                   const PlanOptions& options) {
  return plan_key(processor, devices, frame, threads) + " | goal " +
         std::to_string(static_cast<int>(options.goal)) + " | in flight " +
         std::to_string(options.in_flight) + " | batch " + std::to_string(options.batch) +
         (options.decoding.measure ? " | decode " + options.decoding.key : "");
}

constexpr std::int64_t kDecodedFrames = 100;  // that show what decoding costs; a second group often begins
constexpr std::int64_t kFewestDecoded = 4;
constexpr double kDecodingSeconds = 0.15;   // of the decoders of each processor
constexpr std::int64_t kShareDecoded = 50;  // of a short run, one frame in so many

// Tries some schedules, replaces or adds them among the alternatives, ranks these, and puts the best tried
// one first.
void try_some(std::vector<Alternative>& alternatives, std::vector<Alternative> some, PlanTrials& trials,
              const TrialRule& rule, const ScheduleObjective& objective) {
  if (some.empty()) return;
  const std::size_t found = trials.try_all(some, rule);
  // An interrupted comparison of tolerances tells nothing.
  const Schedule best =
      trials.are_spoilt() && rule.tolerance > 1 ? alternatives.front().schedule : some[found].schedule;
  for (const Alternative& one : some) {
    const auto known = std::ranges::find(alternatives, one.schedule, &Alternative::schedule);
    if (known != alternatives.end()) {
      *known = one;
    } else if (one.achieved_fps > 0) {
      alternatives.push_back(one);
    }
  }
  rank(alternatives, objective);
  const auto at = std::ranges::find(alternatives, best, &Alternative::schedule);
  if (at != alternatives.end()) std::rotate(alternatives.begin(), at, at + 1);
}

// Leaves the schedules without copies between stages, whose costs are unknown.
void leave_unshared(std::vector<Alternative>& alternatives, const Devices& devices) {
  std::erase_if(alternatives, [&](const Alternative& a) {
    const StageSet on_device = a.schedule.on_device;
    return a.schedule.split > 0 ||
           (on_device.any() && on_device != devices.supported(devices_of(a.schedule, devices.size())));
  });
}

// The best schedule; and with each choice of the tunable, the best mapping and the best one that shares
// frames between processors.
std::vector<Alternative> with_tunable(const std::vector<Alternative>& ranked, const Tunable& tunable) {
  std::vector<Alternative> some{ranked.front()};
  const auto shared =
      std::ranges::find_if(ranked, [](const Alternative& a) { return a.schedule.name == "custom"; });
  for (auto mapping = ranked.begin(); mapping != ranked.end(); ++mapping) {
    if (mapping != ranked.begin() && mapping != shared) continue;
    for (const int choice : tunable.choices) some.emplace_back(untried(*mapping)).schedule.tuned = choice;
  }
  return some;
}

// The best schedule; and with several batches, the best mapping of whole frames to devices and the one that
// leaves the CPU the fewest stages, which alone may be slower.
std::vector<Alternative> with_batches(const std::vector<Alternative>& ranked, const Devices& devices,
                                      const ScheduleObjective& objective, int threads) {
  std::vector<Alternative> some{ranked.front()};
  const auto has_batches = [&](const Alternative& a) {
    return usable_batch(kMostInBatch, a.schedule, devices) > 1;
  };
  const auto best = std::ranges::find_if(ranked, has_batches);
  if (best == ranked.end()) return some;
  const auto fullest = std::ranges::max_element(
      ranked, {}, [&](const Alternative& a) { return has_batches(a) ? a.schedule.on_device.count() : 0; });
  std::vector<Alternative> mappings{untried(*best)};
  if (fullest != best) mappings.push_back(untried(*fullest));
  for (const Alternative& mapping : mappings) {
    const int largest = usable_batch(kLargestTried, mapping.schedule, devices);
    for (int batch = kSmallestTried; batch <= largest; batch *= 2) {
      if (objective.in_flight > 0 && batch > objective.in_flight) break;
      Schedule& schedule = some.emplace_back(mapping).schedule;
      schedule.batch = batch;
      if (objective.in_flight == 0) schedule.in_flight = default_in_flight(schedule, threads, devices.size());
    }
  }
  return some;
}

// The best schedule with several numbers of frames in flight, fewest first.
std::vector<Alternative> with_frames_in_flight(const Alternative& front, const Devices& devices) {
  const int many =
      static_cast<int>(std::max<std::size_t>(dealt_devices(front.schedule, devices.size()).count(), 1));
  std::vector<Alternative> some{front};
  const bool is_batched = front.schedule.batch > 1;
  const std::vector<int> per_device = is_batched ? std::vector{1, 3, 4} : std::vector{2, 3, 6, 8, 12};
  for (const int count : per_device) {
    Alternative other = untried(front);
    other.schedule.in_flight = std::min(count * front.schedule.batch * many, kMostInFlight);
    if (std::ranges::find(some, other.schedule, &Alternative::schedule) == some.end()) some.push_back(other);
  }
  std::ranges::stable_sort(some, {}, [](const Alternative& a) { return a.schedule.in_flight; });
  return some;
}

// Stored energies, or measured now and stored; none if the run was stopped.
std::optional<StageEnergies> find_energies(Pipeline& pipeline, const FrameProcessor& processor,
                                           const Devices& devices, const Frame& frame,
                                           const PlanOptions& options) {
  const std::string key = plan_key(processor, devices, frame, pipeline.threads());
  auto stored = stored_energies(options.energy_file, key, options.energy->name(), processor.stages().size(),
                                devices.size() + 1);
  if (stored || !options.measure_energies) return stored;
  logger().info(
      "auto: measuring the energy of each stage on each processor, {:g} s each; the results are stored",
      options.energy_seconds);
  try {
    stored = options.measure_energies(frame, options.energy_seconds);
  } catch (const Error& e) {
    if (!is_set(options.stop)) logger().warn("cannot measure the stages' energy: {}", e.what());
    return std::nullopt;
  }
  try {
    store_energies(options.energy_file, key, *stored);
  } catch (const Error& e) {
    logger().debug("{}", e.what());
  }
  return stored;
}

}  // namespace

std::vector<DecoderCost> measure_decoders(const PlanOptions& options,
                                          const std::optional<StageEnergies>& energies) {
  if (!options.decoding.measure) return {};
  std::int64_t frames = kDecodedFrames;
  if (options.frames_to_come)
    frames =
        std::clamp<std::int64_t>(*options.frames_to_come / kShareDecoded, kFewestDecoded, kDecodedFrames);
  EnergyCounter* const energy = energies && options.energy->is_quick() ? options.energy.get() : nullptr;
  try {
    std::vector<DecoderCost> decoders = options.decoding.measure(frames, kDecodingSeconds, energy);
    std::erase_if(decoders, [](const DecoderCost& decoder) { return decoder.fps() <= 0; });
    for (DecoderCost& decoder : decoders) {
      if (energy) decoder.joules = std::max(decoder.joules - energies->idle_watts * decoder.seconds, 0.0);
    }
    return decoders;
  } catch (const Error& e) {
    logger().debug("auto: decoding cannot be measured: {}", e.what());
    return {};
  }
}

std::optional<Planned> recall_schedule(Pipeline& pipeline, const FrameProcessor& processor,
                                       const Devices& devices, const Frame& frame,
                                       const PlanOptions& options) {
  const std::string key = key_of(processor, devices, frame, pipeline.threads(), options);
  std::optional<Planned> known = remembered_plan(key, processor, devices, options);
  if (known) pipeline.set_schedule(known->schedule);
  return known;
}

void check_goal(Goal goal, const EnergyCounter* energy) {
  if (goal != Goal::energy || (energy && energy->is_quick())) return;
  throw Error(ExitCode::usage, "--goal=energy needs an energy meter, and none can be read"_message,
              "run as root (RAPL), or use --goal=throughput or latency"_message);
}

Planned plan_schedule(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<Frame>& frames, const PlanOptions& options) {
  check_goal(options.goal, options.energy.get());
  const std::string key = key_of(processor, devices, frames.front(), pipeline.threads(), options);
  Planned planned;
  planned.objective = {options.goal, options.in_flight};
  ScheduleObjective& objective = planned.objective;
  objective.batch = options.batch;
  const bool energy = objective.uses_energy();
  if (energy) objective.energies = find_energies(pipeline, processor, devices, frames.front(), options);
  // Stage energies that were measured since, and better, require a new plan.
  if (auto known = remembered_plan(key, processor, devices, options);
      known && (!energy || known->objective.energies == objective.energies)) {
    pipeline.set_schedule(known->schedule);
    return *known;
  }

  const auto start = std::chrono::steady_clock::now();
  logger().info("auto: measuring stages and schedules");
  std::optional<CalibrationLimit> limit;
  if (options.frames_to_come && !energy) limit = CalibrationLimit{*options.frames_to_come};
  planned.costs = calibrate(pipeline, processor, devices, frames, options.stop,
                            options.transfers ? options.transfers() : std::vector<TransferModel>(),
                            limit ? &*limit : nullptr);
  const std::vector<DecoderCost> decoders = measure_decoders(options, objective.energies);
  for (FrameCosts& costs : planned.costs) costs.decode = decoders;
  std::vector<Alternative>& all = planned.alternatives;
  all = weigh(planned.costs, processor, devices, objective);
  const bool is_calibrated = !limit || !limit->is_reached;
  if (!is_calibrated) leave_unshared(all, devices);
  if (energy) {
    logger().info(
        "auto: comparing the energy of the best schedules by turns, for at most {:.0f} s, then variants of "
        "the best",
        options.energy_trials * options.energy_trial_seconds);
  }
  PlanTrials trials(pipeline, processor, devices, frames, options, objective, planned.costs);
  // Whether the run to come is worth so many more trials, of two runs each.
  const auto is_worth = [&](int trial_count) {
    if (energy || !options.frames_to_come) return true;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const double run =
        static_cast<double>(*options.frames_to_come) / std::max(all.front().predicted_fps, 1e-3);
    return spent.count() + 2 * options.trial_seconds * trial_count < 0.1 * run;
  };
  const bool is_long = is_calibrated && is_worth(options.trials);
  if (is_long) {
    const auto count = std::min<std::ptrdiff_t>(options.trials, std::ssize(all));
    try_some(all, {all.begin(), all.begin() + count}, trials, {options.energy_trials}, objective);
    if (const Tunable* const tunable = processor.tunable(); tunable && is_worth(options.trials))
      try_some(all, with_tunable(all, *tunable), trials, {options.energy_further_trials}, objective);
    if (options.batch == 0 && options.goal != Goal::latency && is_worth(options.trials)) {
      auto some = with_batches(all, devices, objective, pipeline.threads());
      if (some.size() > 1)
        try_some(all, std::move(some), trials, {options.energy_further_trials, kWorthMoreFrames}, objective);
    }
    if (options.in_flight == 0 && options.goal != Goal::latency && is_worth(options.trials))
      try_some(all, with_frames_in_flight(all.front(), devices), trials,
               {options.energy_further_trials, kWorthMoreFrames}, objective);
  }
  if (!is_long || !is_worth(0)) planned.limited_to = options.frames_to_come;
  const bool is_sound = !trials.are_spoilt();
  if (pipeline.device_lost()) all = weigh(planned.costs, processor, nullptr, objective);
  all.front().chosen = true;
  planned.schedule = all.front().schedule;
  objective.batch = planned.schedule.batch;
  pipeline.set_schedule(planned.schedule);
  if (is_sound) remember_plan(options.file, key, planned);
  return planned;
}

}  // namespace sightline::pipeline
