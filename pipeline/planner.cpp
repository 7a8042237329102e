#include "pipeline/planner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/json_store.hpp"
#include "base/median.hpp"
#include "pipeline/energy.hpp"
#include "pipeline/measure_stages.hpp"
#include "pipeline/plan_store.hpp"
#include "pipeline/plan_trial.hpp"
#include "pipeline/weigh.hpp"

namespace sightline::pipeline {
namespace {

// Of two alternatives, the one with fewer frames in flight is taken unless the other is faster by more than
// this.
constexpr double kWorthMoreFrames = 1.03;

struct Trial {
  double fps = 0;
  double latency = 0;
  std::optional<double> joules;
};

Trial try_out(Pipeline& pipeline, const Alternative& alternative, const std::vector<media::Frame>& frames,
              const PlanOptions& options, Energy* energy) {
  const Schedule& schedule = alternative.schedule;
  const double seconds = options.goal == Goal::energy ? options.energy_trial_seconds : options.trial_seconds;
  const auto warm_up = static_cast<std::size_t>(2 * schedule.in_flight);
  const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds * alternative.predicted_fps),
                                              8 + 4 * schedule.in_flight, 3000);
  Trial trial;
  constexpr int kRuns = 2;  // the better one counts: a disturbance only ever takes time
  for (int run = 0; run < kRuns; ++run) {
    if (energy) energy->start();
    const TraceStatistics statistics = run_for(pipeline, schedule, frames, count, warm_up, options.stop);
    if (energy) energy->stop();
    if (statistics.fps() <= trial.fps) continue;
    trial.fps = statistics.fps();
    trial.latency = median(statistics.latencies());
    if (energy) trial.joules = energy->joules() / static_cast<double>(count);
  }
  return trial;
}

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

std::vector<Alternative> tuned_to(const Tunable& tunable, const Schedule& mapping,
                                  const std::vector<Alternative>& alternatives) {
  const auto untuned = std::find_if(alternatives.begin(), alternatives.end(),
                                    [&](const Alternative& a) { return a.schedule == mapping; });
  std::vector<Alternative> tuned;
  for (const int choice : tunable.choices) {
    Alternative& other = tuned.emplace_back(*untuned);
    other.schedule.tuned = choice;
    other.achieved_fps = other.achieved_latency = 0;
    other.joules.reset();
  }
  return tuned;
}

}  // namespace

Goal parse_goal(const std::string& text) {
  if (text.empty() || text == "throughput") return Goal::throughput;
  if (text == "latency") return Goal::latency;
  if (text == "energy") return Goal::energy;
  throw Error(ExitCode::usage, "there is no goal '" + text + "'", "there are: throughput, latency, energy");
}

std::string machine_key(const FrameProcessor& processor, const Devices& devices, Size size, int threads) {
  std::string key = build_info().version + " | " + cpu_name() + " | " + instruction_set() + " | " +
                    std::to_string(threads) + " threads";
  for (const DeviceStages* device : devices) {
    const opencl::DeviceInfo& info = device->context().device();
    key += " | " + info.platform + " | " + info.name + " | " + info.driver_version;
  }
  return key + " | " + processor.info().cost_key + " | " + std::to_string(size.width) + "x" +
         std::to_string(size.height);
}

namespace {

// Stored ones, or measured now, and then stored; none where the run was stopped.
std::optional<StageEnergies> find_energies(Pipeline& pipeline, const FrameProcessor& processor,
                                           const Devices& devices, const media::Frame& frame,
                                           const PlanOptions& options, Energy& energy) {
  const std::string key = machine_key(processor, devices, frame.size(), pipeline.threads());
  auto stored =
      stored_energies(options.energy_file, key, energy.name(), processor.stages().size(), devices.size() + 1);
  if (stored || options.energy_seconds <= 0) return stored;
  try {
    const StageEnergies measured = measure_energies(processor, devices, frame, pipeline.threads(),
                                                    options.energy_seconds, energy, options.stop);
    store_energies(options.energy_file, key, measured);
    return measured;
  } catch (const Error& e) {
    if (!is_set(options.stop)) spdlog::warn("the stages' energy is not known: {}", e.what());
    return std::nullopt;
  }
}

}  // namespace

Planned plan_schedule(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<media::Frame>& frames, const PlanOptions& options) {
  std::optional<Energy> energy;
  if (options.goal == Goal::energy) energy.emplace(options.meters);
  if (energy && !energy->is_quick()) {
    throw Error(ExitCode::usage, "--goal energy needs a meter, and there is none that can be read",
                "RAPL usually needs root; choose --goal throughput or latency");
  }
  const JsonStore store(options.file);
  const std::string key = plan_key(processor, devices, frames.front().size(), pipeline.threads(), options);
  Planned planned;
  if (energy)
    planned.energies = find_energies(pipeline, processor, devices, frames.front(), options, *energy);
  if (auto known = remembered_plan(store, key, processor, devices)) {
    // Energies that were measured since, and better, deserve a new look.
    if (!energy || known->energies == planned.energies) {
      pipeline.set_schedule(known->schedule);
      return *known;
    }
  }

  const StageEnergies* const energies = planned.energies ? &*planned.energies : nullptr;
  planned.costs = calibrate(pipeline, processor, devices, frames, options.stop,
                            options.transfers ? options.transfers() : std::vector<TransferModel>());
  planned.alternatives = weigh(planned.costs, processor, devices, options.goal, options.in_flight, energies);
  const auto tried =
      std::min<std::size_t>(static_cast<std::size_t>(options.trials), planned.alternatives.size());
  // What a stopped run or a lost device shows is not what the schedules do.
  const auto spoilt = [&] { return is_set(options.stop) || pipeline.device_lost(); };
  const auto try_one = [&](Alternative& a) {
    if (spoilt()) return;
    const Trial trial = try_out(pipeline, a, frames, options, energy ? &*energy : nullptr);
    a.achieved_fps = trial.fps;
    a.achieved_latency = trial.latency;
    a.joules = trial.joules;
  };
  for (std::size_t i = 0; i < tried; ++i) try_one(planned.alternatives[i]);
  rank(planned.alternatives, options.goal);

  if (const Tunable* const tunable = processor.tunable()) {
    for (const Schedule& mapping : worth_tuning(planned.alternatives)) {
      for (Alternative& tuned : tuned_to(*tunable, mapping, planned.alternatives)) {
        try_one(tuned);
        if (tuned.achieved_fps > 0) planned.alternatives.push_back(tuned);
      }
    }
    rank(planned.alternatives, options.goal);
  }

  // Then the frames in flight: as few as give the rate.
  if (options.in_flight == 0 && options.goal != Goal::latency) {
    Alternative best = planned.alternatives.front();
    const int many =
        static_cast<int>(std::max<std::size_t>(dealt_devices(best.schedule, devices.size()).count(), 1));
    for (const int per_device : {2, 3, 6, 8, 12}) {
      const int in_flight = std::min(per_device * many, 64);
      Alternative other = planned.alternatives.front();
      if (other.schedule.in_flight == in_flight) continue;
      other.schedule.in_flight = in_flight;
      try_one(other);
      planned.alternatives.push_back(other);
      const bool fewer = in_flight < best.schedule.in_flight;
      const double gain = merit(best, options.goal) / merit(other, options.goal);  // both of one sign
      const double better = options.goal == Goal::energy ? gain : 1 / gain;
      if (fewer ? better * kWorthMoreFrames > 1 : better > kWorthMoreFrames) best = other;
    }
    rank(planned.alternatives, options.goal);
    const auto at = std::find_if(planned.alternatives.begin(), planned.alternatives.end(),
                                 [&](const Alternative& a) { return a.schedule == best.schedule; });
    std::rotate(planned.alternatives.begin(), at, at + 1);
  }
  const bool complete = !spoilt();
  if (pipeline.device_lost())
    planned.alternatives =
        weigh(planned.costs, processor, nullptr, options.goal, options.in_flight, energies);
  planned.alternatives.front().chosen = true;
  planned.schedule = planned.alternatives.front().schedule;
  pipeline.set_schedule(planned.schedule);
  if (complete) remember_plan(store, key, planned);
  return planned;
}

}  // namespace sightline::pipeline
