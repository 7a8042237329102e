#include "pipeline/planning/plan_trial.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/median.hpp"
#include "pipeline/planning/weigh.hpp"
#include "pipeline/runtime/sources.hpp"

namespace sightline::pipeline {
namespace {

// That have something to do.
int processors_of(const Schedule& schedule, std::size_t stages, std::size_t devices) {
  const bool has_cpu = schedule.split > 0 ? schedule.split < 1 : schedule.on_device.count() < stages;
  const std::size_t others = schedule.uses_device() ? devices_of(schedule, devices).count() : 0;
  return static_cast<int>(others) + int{has_cpu};
}

}  // namespace

TraceStatistics run_for(Pipeline& pipeline, const Schedule& schedule, const std::vector<media::Frame>& frames,
                        std::int64_t count, std::size_t trim, const std::atomic<bool>* stop) {
  pipeline.set_schedule(schedule);
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
  const double rate = a.achieved_fps > 0 ? a.achieved_fps : a.predicted_fps;
  const auto warm_up = static_cast<std::size_t>(2 * a.schedule.in_flight);
  const auto count =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds * rate), 8 + 4 * a.schedule.in_flight, 3000);
  if (energy_) energy_->start();
  const TraceStatistics statistics = run_for(pipeline_, a.schedule, frames_, count, warm_up, options_.stop);
  if (energy_) energy_->stop();
  Seen seen{statistics.fps(), median(statistics.latencies()), {}};
  if (energy_) seen.joules = energy_->joules() / static_cast<double>(count);
  return seen;
}

void PlanTrials::try_one(Alternative& alternative) {
  if (are_spoilt()) return;
  const Alternative untried = alternative;
  Seen best;
  for (int i = 0; i < 2; ++i) {
    const Seen seen = run(untried, options_.trial_seconds);
    if (seen.fps > best.fps) best = seen;
  }
  alternative.achieved_fps = best.fps;
  alternative.achieved_latency = best.latency;
}

std::size_t PlanTrials::try_all(std::vector<Alternative>& some, const EliminationLimits& limits) {
  if (energy_) return try_energy(some, limits);
  std::size_t best = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (some[i].achieved_fps <= 0) try_one(some[i]);
    const bool is_tried = some[i].achieved_fps > 0;
    if (is_tried &&
        (some[best].achieved_fps <= 0 || merit(some[i], options_.goal) < merit(some[best], options_.goal)))
      best = i;
  }
  return best;
}

std::size_t PlanTrials::try_energy(std::vector<Alternative>& some, const EliminationLimits& limits) {
  std::vector<RaceCandidate> candidates;
  for (const Alternative& a : some)
    candidates.push_back({a.predicted_joules, processors_of(a.schedule, stages_, devices_)});
  const auto trial = [&](std::size_t i) -> std::optional<double> {
    if (are_spoilt()) return std::nullopt;
    const Seen seen = run(some[i], options_.energy_trial_seconds);
    if (are_spoilt()) return std::nullopt;
    if (seen.fps > some[i].achieved_fps) {
      some[i].achieved_fps = seen.fps;
      some[i].achieved_latency = seen.latency;
    }
    return seen.joules;
  };
  const EliminationResult result = eliminate_successively(candidates, limits, trial);
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (result.tried[i].seen.empty()) continue;
    some[i].joules = result.tried[i].mean;
    some[i].joules_error = result.tried[i].error;
  }
  if (result.tied.size() > 1 && result.best) {
    const bool by_prediction = std::isinf(limits.worth);
    spdlog::info("auto: {} {} cannot be told apart by their energy; of these, {}", result.tied.size(),
                 by_prediction ? "schedules" : "numbers of frames in flight",
                 by_prediction ? "auto takes the one with the lowest prediction"
                               : fmt::format("auto takes the fewest within {:.0f}% of the least",
                                             100 * (limits.worth - 1)));
  }
  return result.best.value_or(0);
}

}  // namespace sightline::pipeline
