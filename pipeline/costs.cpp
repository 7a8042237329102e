#include "pipeline/costs.hpp"

#include <algorithm>

namespace sightline::pipeline {
namespace {

// Seconds of one frame by resource.
struct Sums {
  double cpu = 0;   // from start to end, one stage after the other
  double work = 0;  // core-seconds
  double device = 0;
  double upload = 0;
  double download = 0;
  int turns = 0;  // how often the frame goes to the device and back
};

// Unknown is not negative.
StageCost at_least_nothing(StageCost stage) {
  for (double* cost : {&stage.cpu, &stage.work, &stage.device, &stage.upload, &stage.download})
    *cost = std::max(*cost, 0.0);
  return stage;
}

Sums sums_of(const FrameCosts& costs, const Schedule& schedule) {
  Sums sums;
  const std::size_t count = costs.stages.size();
  if (schedule.split > 0) {
    const double device = schedule.split;
    sums.turns = 1;
    for (std::size_t i = 0; i < count; ++i) {
      const StageCost stage = at_least_nothing(costs.stages[i]);
      const bool divided = i < costs.partitionable;
      sums.cpu += stage.cpu * (divided ? 1 - device : 1);
      sums.work += stage.work * (divided ? 1 - device : 1);
      if (divided) sums.device += stage.device * device;
    }
    sums.upload = costs.stages.front().upload;
    if (costs.partitionable > 0) sums.download = costs.stages[costs.partitionable - 1].download;
    return sums;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const StageCost stage = at_least_nothing(costs.stages[i]);
    if (!schedule.on_device[i]) {
      sums.cpu += stage.cpu;
      sums.work += stage.work;
      continue;
    }
    sums.device += stage.device;
    if (i == 0 || !schedule.on_device[i - 1]) {
      sums.upload += stage.upload;
      ++sums.turns;
    }
    if (i + 1 == count || !schedule.on_device[i + 1]) sums.download += stage.download;
  }
  return sums;
}

}  // namespace

bool is_known(const FrameCosts& costs, const Schedule& schedule) {
  for (std::size_t i = 0; i < costs.stages.size(); ++i) {
    const bool divided = schedule.split > 0 && i < costs.partitionable;
    const bool on_device = divided || schedule.on_device[i];
    const bool on_cpu = divided || !schedule.on_device[i];
    if (on_device && costs.stages[i].device < 0) return false;
    if (on_cpu && (costs.stages[i].cpu < 0 || costs.stages[i].work < 0)) return false;
  }
  return true;
}

std::vector<Load> loads_of(const FrameCosts& costs, const Schedule& schedule) {
  const Sums sums = sums_of(costs, schedule);
  std::vector<Load> loads;
  const auto add = [&](const char* name, double seconds) {
    if (seconds > 0) loads.push_back({name, seconds});
  };
  add("CPU", sums.work / costs.threads);
  add("device", sums.device);
  add("upload", sums.upload);
  add("download", sums.download);
  add("decoder", costs.decode);
  if (costs.shared_cores > 0 && sums.device > 0)
    add("shared cores", (sums.work + sums.device * costs.shared_cores) / costs.cores);
  return loads;
}

Bound bound_of(const FrameCosts& costs, const Schedule& schedule) {
  const std::vector<Load> loads = loads_of(costs, schedule);
  const auto slowest = std::max_element(loads.begin(), loads.end(),
                                        [](const Load& a, const Load& b) { return a.seconds < b.seconds; });
  if (slowest == loads.end()) return {};
  return {1 / slowest->seconds, slowest->processor};
}

double latency_of(const FrameCosts& costs, const Schedule& schedule) {
  const Sums sums = sums_of(costs, schedule);
  const double device = sums.device + sums.upload + sums.download + sums.turns * costs.turnaround;
  if (schedule.split <= 0) return costs.decode + sums.cpu + device;
  double after = 0;  // what follows the partitions, on the CPU
  for (std::size_t i = costs.partitionable; i < costs.stages.size(); ++i)
    after += std::max(costs.stages[i].cpu, 0.0);
  return costs.decode + std::max(sums.cpu - after, device) + after;
}

double predicted_fps(const FrameCosts& costs, const Schedule& schedule) {
  const double latency = latency_of(costs, schedule);
  const double bound = bound_of(costs, schedule).fps;
  return latency > 0 ? std::min(bound, schedule.in_flight / latency) : bound;
}

}  // namespace sightline::pipeline
