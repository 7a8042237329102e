#include "pipeline/planning/costs.hpp"

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

// Of a frame whose stages on devices all run on one of them.
Sums sums_of(const FrameCosts& costs, const Schedule& schedule) {
  Sums sums;
  const std::size_t count = costs.stages.size();
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

// Of one device's part of a split frame.
Sums partition_of(const FrameCosts& costs, double part) {
  Sums sums;
  sums.turns = 1;
  for (std::size_t i = 0; i < costs.partitionable; ++i)
    sums.device += at_least_nothing(costs.stages[i]).device * part;
  sums.upload = costs.stages.front().upload;
  if (costs.partitionable > 0) sums.download = costs.stages[costs.partitionable - 1].download;
  return sums;
}

// Of the CPU's part of it, and of what follows the partitions.
Sums rest_of(const FrameCosts& costs, const Schedule& schedule) {
  Sums sums;
  for (std::size_t i = 0; i < costs.stages.size(); ++i) {
    const StageCost stage = at_least_nothing(costs.stages[i]);
    const double part = i < costs.partitionable ? 1 - schedule.split : 1;
    sums.cpu += stage.cpu * part;
    sums.work += stage.work * part;
  }
  return sums;
}

// What each device does of one frame: of those that are dealt out, by its share of them.
struct DeviceSums {
  std::size_t device = 0;
  Sums sums;
};
std::vector<DeviceSums> device_sums(const DeviceCosts& costs, const Schedule& schedule) {
  std::vector<DeviceSums> all;
  if (schedule.split > 0) {
    const std::vector<Partition> partitions = device_partitions(schedule, costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const double part = partitions[i].end - partitions[i].begin;
      if (part > 0) all.push_back({i, partition_of(costs[i], part)});
    }
    return all;
  }
  const DeviceSet used = devices_of(schedule, costs.size());
  const DeviceSet dealt = dealt_devices(schedule, costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!used[i]) continue;
    Schedule own = schedule;  // what this one does of a frame that is dealt to it
    for (std::size_t stage = 0; stage < costs[i].stages.size(); ++stage) {
      const bool here = schedule.pinned[stage] == 0 ? dealt[i] : schedule.pinned[stage] == i + 1;
      own.on_device[stage] = schedule.on_device[stage] && here;
    }
    all.push_back({i, sums_of(costs[i], own)});
  }
  return all;
}

// Frames are dealt out so that all are busy: the faster, the more.
void deal_out(std::vector<DeviceSums>& all, const DeviceSet& dealt) {
  double rate = 0;
  const auto seconds = [](const Sums& sums) {
    return std::max({sums.device, sums.upload, sums.download, 1e-12});
  };
  for (const DeviceSums& one : all) rate += dealt[one.device] ? 1 / seconds(one.sums) : 0;
  for (DeviceSums& one : all) {
    if (!dealt[one.device]) continue;
    const double share = 1 / seconds(one.sums) / rate;
    for (double* load : {&one.sums.device, &one.sums.upload, &one.sums.download}) *load *= share;
  }
}

// Cost of decoding a frame.
struct Decoding {
  double busy = 0;     // of the busiest decoders
  double seconds = 0;  // from start to end
  double work = 0;     // core-seconds
  double joules = 0;   // above idle
};

// @param work  core-seconds of the frame's stages
Decoding decoding_of(const FrameCosts& machine, double work) {
  Decoding all;
  if (machine.decode.empty()) return all;
  const auto busy = [](const DecoderCost& decoder) { return decoder.seconds / std::max(decoder.count, 1); };
  const DecoderCost& first = machine.decode.front();
  const DecoderCost& last = machine.decode.back();
  double share = 1;  // of the first
  if (machine.decode.size() > 1) {
    // The more frames the device decodes, the less is left to the other decoders and to the CPU.
    const double cores = std::max(machine.cores, machine.threads);
    const double device = std::max(busy(first), 1e-12);
    const double as_decoders = busy(last) / (device + busy(last));
    const double as_cpu =
        (work + last.work) / cores / (device + std::max(last.work - first.work, 0.0) / cores);
    share = std::min(std::max(as_decoders, as_cpu), 1.0);
  }
  const auto add = [&](const DecoderCost& decoder, double part) {
    all.busy = std::max(all.busy, busy(decoder) * part);
    all.seconds += decoder.seconds * part;
    all.work += decoder.work * part;
    all.joules += std::max(decoder.joules, 0.0) * part;
  };
  add(first, share);
  add(last, 1 - share);
  return all;
}

// Sums over the stages on the CPU.
Sums cpu_sums(const FrameCosts& machine, const Schedule& schedule) {
  return schedule.split > 0 ? rest_of(machine, schedule) : sums_of(machine, schedule);
}

Decoding decoding_of(const FrameCosts& machine, const Schedule& schedule) {
  return decoding_of(machine, cpu_sums(machine, schedule).work);
}

double load_of(const std::vector<Load>& loads, const std::string& processor) {
  const auto found = std::ranges::find(loads, processor, &Load::processor);
  return found == loads.end() ? 0 : found->seconds;
}

}  // namespace

bool is_known(const DeviceCosts& costs, const Schedule& schedule) {
  const DeviceSet used = devices_of(schedule, costs.size());
  for (std::size_t device = 0; device < costs.size(); ++device) {
    for (std::size_t i = 0; i < costs[device].stages.size(); ++i) {
      const StageCost& stage = costs[device].stages[i];
      const bool divided = schedule.split > 0 && i < costs[device].partitionable;
      const bool on_device = used[device] && (divided || schedule.on_device[i]);
      const bool on_cpu = divided || !schedule.on_device[i];
      if (on_device && stage.device < 0) return false;
      if (on_cpu && (stage.cpu < 0 || stage.work < 0)) return false;
    }
  }
  return true;
}

std::vector<Load> loads_of(const DeviceCosts& costs, const Schedule& schedule) {
  const FrameCosts& machine = costs.front();
  const Sums cpu = cpu_sums(machine, schedule);
  const Decoding decoding = decoding_of(machine, cpu.work);
  std::vector<DeviceSums> devices = device_sums(costs, schedule);
  if (schedule.split == 0) deal_out(devices, dealt_devices(schedule, costs.size()));
  Sums slowest;  // of the devices, one by one
  double shared = cpu.work + decoding.work;
  bool shares = false;
  for (const auto& [device, sums] : devices) {
    slowest.device = std::max(slowest.device, sums.device);
    slowest.upload = std::max(slowest.upload, sums.upload);
    slowest.download = std::max(slowest.download, sums.download);
    shares = shares || (costs[device].shared_cores > 0 && sums.device > 0);
    shared += sums.device * costs[device].shared_cores;
  }
  std::vector<Load> loads;
  const auto add = [&](const char* name, double seconds) {
    if (seconds > 0) loads.push_back({name, seconds});
  };
  add("decoder", decoding.busy);
  add("CPU", std::max(cpu.work / machine.threads,
                      (cpu.work + decoding.work) / std::max(machine.cores, machine.threads)));
  add("device", slowest.device);
  add("upload", slowest.upload);
  add("download", slowest.download);
  if (shares) add("shared cores", shared / machine.cores);
  return loads;
}

Bound bound_of(const DeviceCosts& costs, const Schedule& schedule) {
  const std::vector<Load> loads = loads_of(costs, schedule);
  const auto slowest = std::max_element(loads.begin(), loads.end(),
                                        [](const Load& a, const Load& b) { return a.seconds < b.seconds; });
  if (slowest == loads.end()) return {};
  return {1 / slowest->seconds, slowest->processor};
}

double latency_of(const DeviceCosts& costs, const Schedule& schedule) {
  const FrameCosts& machine = costs.front();
  const auto seconds = [&](const DeviceSums& one) {
    return one.sums.device + one.sums.upload + one.sums.download +
           one.sums.turns * costs[one.device].turnaround;
  };
  const double decode = decoding_of(machine, schedule).seconds;
  const std::vector<DeviceSums> devices = device_sums(costs, schedule);
  if (schedule.split <= 0) {
    // The fastest of those that a frame may be dealt to, and all that stages are pinned to.
    const DeviceSet dealt = dealt_devices(schedule, costs.size());
    double sum = 0;
    double fastest = -1;
    for (const DeviceSums& one : devices) {
      if (!dealt[one.device]) sum += seconds(one);
      if (dealt[one.device] && (fastest < 0 || seconds(one) < fastest)) fastest = seconds(one);
    }
    return decode + sums_of(machine, schedule).cpu + sum + std::max(fastest, 0.0);
  }
  double after = 0;  // what follows the partitions, on the CPU
  for (std::size_t i = machine.partitionable; i < machine.stages.size(); ++i)
    after += std::max(machine.stages[i].cpu, 0.0);
  double partitions = rest_of(machine, schedule).cpu - after;
  for (const DeviceSums& one : devices) partitions = std::max(partitions, seconds(one));
  return decode + partitions + after;
}

double predicted_fps(const DeviceCosts& costs, const Schedule& schedule) {
  const double latency = latency_of(costs, schedule);
  const double bound = bound_of(costs, schedule).fps;
  int decoders = 0;
  for (const DecoderCost& one : costs.front().decode) decoders += one.count;
  const int in_flight = decoders > 1 ? std::max(schedule.in_flight, 2 * decoders) : schedule.in_flight;
  return latency > 0 ? std::min(bound, in_flight / latency) : bound;
}

double fps_with_decoding(const DeviceCosts& costs, const Schedule& schedule, double fps) {
  const FrameCosts& machine = costs.front();
  if (machine.decode.empty() || fps <= 0) return fps;
  const Decoding decoding = decoding_of(machine, schedule);
  const std::vector<Load> loads = loads_of(without_decoding(costs), schedule);
  const double cpu = std::max(load_of(loads, "CPU"), load_of(loads, "shared cores"));
  double busiest = 0;
  for (const Load& load : loads) busiest = std::max(busiest, load.seconds);
  // The CPU has time for decoding while the frame waits for other processors.
  const double cpu_share = busiest > 0 ? cpu / busiest : 0;
  const double with_work = cpu_share / fps + decoding.work / std::max(machine.cores, machine.threads);
  return 1 / std::max({1 / fps, with_work, decoding.busy});
}

double decoding_joules(const DeviceCosts& costs, const Schedule& schedule) {
  return decoding_of(costs.front(), schedule).joules;
}

DeviceCosts without_decoding(DeviceCosts costs) {
  for (FrameCosts& one : costs) one.decode.clear();
  return costs;
}

DeviceCosts costs_seen(const DeviceCosts& planned, const Schedule& running, double cpu, double device) {
  DeviceCosts all = planned;
  for (FrameCosts& costs : all) {
    for (std::size_t i = 0; i < costs.stages.size(); ++i) {
      StageCost& stage = costs.stages[i];
      const bool divided = running.split > 0 && i < costs.partitionable;
      const double on_cpu = divided || !running.on_device[i] ? cpu : std::max(cpu, 1.0);
      const double on_device = divided || running.on_device[i] ? device : std::max(device, 1.0);
      stage.cpu *= on_cpu;
      stage.work *= on_cpu;
      stage.device *= on_device;
      stage.upload *= on_device;
      stage.download *= on_device;
    }
  }
  return all;
}

Schedule even_split(const DeviceCosts& costs, const DeviceSet& devices) {
  // A small part costs the CPU more than its share of the work: threads have to be woken for it.
  constexpr double kWorthStarting = 0.15;
  Schedule schedule{"split", {}, 0, 0};
  schedule.devices = devices;
  schedule.shares.assign(costs.size(), 0.0);
  double cpu = 0;
  for (std::size_t i = 0; i < costs.front().partitionable; ++i)
    cpu += std::max(costs.front().stages[i].work, 0.0) / costs.front().threads;
  double all = 0;
  for (std::size_t device = 0; device < costs.size(); ++device) {
    if (!devices[device]) continue;
    double seconds = 0;
    for (std::size_t i = 0; i < costs[device].partitionable; ++i)
      seconds += std::max(costs[device].stages[i].device, 0.0);
    schedule.shares[device] = 1 / std::max(seconds, 1e-9);
    all += schedule.shares[device];
  }
  for (double& share : schedule.shares) share /= std::max(all, 1e-12);
  const double rest = 1 / std::max(cpu, 1e-9);
  schedule.split = all / (all + rest);
  if (devices.count() == 1) {
    schedule.split = std::clamp(schedule.split, 0.05, 0.95);  // else it is no split
  } else if (schedule.split > 1 - kWorthStarting) {
    schedule.split = 1;
  }
  return schedule;
}

}  // namespace sightline::pipeline
