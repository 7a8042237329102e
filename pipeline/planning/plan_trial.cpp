#include "pipeline/planning/plan_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/median.hpp"
#include "pipeline/planning/successive_elimination.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::pipeline {
namespace {

constexpr int kFirstTrials = 2;    // of each schedule in any case
constexpr int kFewestBatches = 8;  // of a trial, or frames without batches

// Number of busy processors.
int processors_of(const Schedule& schedule, std::size_t stages, std::size_t devices) {
  const bool has_cpu = schedule.split > 0 ? schedule.split < 1 : schedule.on_device.count() < stages;
  const std::size_t others = schedule.uses_device() ? devices_of(schedule, devices).count() : 0;
  return static_cast<int>(others) + int{has_cpu};
}

// Disturbances only ever take time.
void keep_faster(Alternative& alternative, const PlanTrials::Seen& seen) {
  if (seen.fps <= alternative.achieved_fps) return;
  alternative.achieved_fps = seen.fps;
  alternative.achieved_latency = seen.latency;
  alternative.with_decoding = seen.with_decoding;
}

}  // namespace

TraceStatistics run_for(Pipeline& pipeline, const Schedule& schedule, const std::vector<Frame>& frames,
                        std::int64_t count, std::size_t trim, const std::atomic<bool>* stop) {
  pipeline.set_schedule(schedule);
  pipeline.wait_until_ready();
  MemorySource source(frames, count);
  TraceStatistics statistics;
  RunOptions options;
  options.traces = {&statistics};
  options.stop = stop;
  const RunReport report = pipeline.run({&source, "calibration", {}, {}}, options);
  if (report.failed > 0) throw Error(ExitCode::failed, report.first_failure);
  statistics.trim(trim);
  return statistics;
}

PlanTrials::Seen PlanTrials::run(const Alternative& a, double seconds) {
  const double rate = a.achieved_fps > 0 ? a.achieved_fps : a.predicted_in_memory.value_or(a.predicted_fps);
  const int batch = a.schedule.batch;
  const int warm_up = (batch > 1 ? 1 : 2) * a.schedule.in_flight;
  const auto count = std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds * rate),
                                              2 * warm_up + kFewestBatches * batch, 3000);
  EnergyCounter* const energy = objective_.uses_energy() ? options_.energy.get() : nullptr;
  if (energy) energy->start();
  const TraceStatistics statistics =
      run_for(pipeline_, a.schedule, frames_, count, static_cast<std::size_t>(warm_up), options_.stop);
  if (energy) energy->stop();
  Seen seen{
      batch > 1 ? statistics.fps_of_bursts() : statistics.fps(), median(statistics.latencies()), {}, {}};
  if (energy) seen.joules = energy->joules() / static_cast<double>(count);
  if (a.predicted_in_memory && seen.fps > 0) {
    seen.with_decoding = fps_with_decoding(costs_, a.schedule, seen.fps);
    const double longer = 1 / *seen.with_decoding - 1 / seen.fps;
    const double idle_watts = objective_.energies ? objective_.energies->idle_watts : 0;
    if (seen.joules) *seen.joules += idle_watts * longer + decoding_joules(costs_, a.schedule);
  }
  return seen;
}

std::size_t PlanTrials::try_all(std::vector<Alternative>& some, const TrialRule& rule) {
  if (objective_.uses_energy()) return race(some, rule);
  double lowest = std::numeric_limits<double>::infinity();
  for (Alternative& a : some) {
    const Alternative untried = a;
    for (int i = 0; i < kFirstTrials && untried.achieved_fps <= 0 && !are_spoilt(); ++i)
      keep_faster(a, run(untried, options_.trial_seconds));
    if (a.achieved_fps > 0) lowest = std::min(lowest, objective_.cost(a));
  }
  const auto best = std::ranges::find_if(some, [&](const Alternative& a) {
    return a.achieved_fps > 0 && objective_.cost(a) <= rule.tolerance * lowest;
  });
  return best == some.end() ? 0 : static_cast<std::size_t>(best - some.begin());
}

std::size_t PlanTrials::race(std::vector<Alternative>& some, const TrialRule& rule) {
  std::vector<RaceCandidate> candidates;
  for (const Alternative& a : some)
    candidates.push_back({a.predicted_joules, processors_of(a.schedule, stages_, devices_)});
  const auto trial = [&](std::size_t i) -> std::optional<double> {
    if (are_spoilt()) return std::nullopt;
    const Seen seen = run(some[i], options_.energy_trial_seconds);
    if (are_spoilt()) return std::nullopt;
    keep_faster(some[i], seen);
    return seen.joules;
  };
  const bool by_prediction = rule.tolerance <= 1;
  EliminationLimits limits{kFirstTrials, rule.trials};
  if (!by_prediction) limits.worth = rule.tolerance;
  const EliminationResult result = eliminate_successively(candidates, limits, trial);
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (result.tried[i].seen.empty()) continue;
    some[i].joules = result.tried[i].mean;
    some[i].joules_error = result.tried[i].error;
  }
  if (result.tied.size() > 1 && result.best) {
    logger().info("auto: {} {} do not differ significantly in energy; auto takes {}", result.tied.size(),
                  by_prediction ? "schedules" : "numbers of frames",
                  by_prediction ? "the one with the lowest prediction"
                                : fmt::format("the fewest within {:.0f}% of the lowest energy",
                                              100 * (rule.tolerance - 1)));
  }
  return result.best.value_or(0);
}

}  // namespace sightline::pipeline
