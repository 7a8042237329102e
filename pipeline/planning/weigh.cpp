#include "pipeline/planning/weigh.hpp"

#include <algorithm>
#include <tuple>

#include "base/error.hpp"

namespace sightline::pipeline {

Alternative ScheduleObjective::predict(Schedule schedule, const DeviceCosts& costs,
                                       std::size_t devices) const {
  if (schedule.in_flight == 0) {
    schedule.in_flight = in_flight > 0 ? in_flight
                         : goal == Goal::latency
                             ? 1
                             : default_in_flight(schedule, costs.front().threads, devices);
  }
  Alternative a;
  a.schedule = std::move(schedule);
  a.predicted_fps = predicted_fps(costs, a.schedule);
  if (!costs.front().decode.empty())
    a.predicted_in_memory = pipeline::predicted_fps(without_decoding(costs), a.schedule);
  a.predicted_latency = latency_of(costs, a.schedule);
  a.bound_by = bound_of(costs, a.schedule).processor;
  if (energies) {
    const double seconds = std::max(1 / std::max(a.predicted_fps, 1e-9), frame_seconds);
    a.predicted_joules = predicted_joules(*energies, costs, a.schedule, seconds);
  }
  return a;
}

double ScheduleObjective::cost(const Alternative& a) const {
  const bool tried = a.achieved_fps > 0;
  const double fps = tried ? a.with_decoding.value_or(a.achieved_fps) : a.predicted_fps;
  const double seconds = 1 / std::max(fps, 1e-9);
  switch (goal) {
    case Goal::latency:
      return tried ? a.achieved_latency : a.predicted_latency;
    case Goal::energy:
      return a.joules ? *a.joules : a.predicted_joules.value_or(1e9 * seconds);
    default:
      return seconds;
  }
}

void rank(std::vector<Alternative>& alternatives, const ScheduleObjective& objective) {
  // If decoding limits several schedules to the same rate, the one that is fastest without it is best.
  const auto in_memory = [](const Alternative& a) {
    return a.predicted_in_memory && a.achieved_fps > 0 ? a.achieved_fps : a.predicted_in_memory.value_or(0);
  };
  std::ranges::stable_sort(alternatives, {}, [&](const Alternative& a) {
    return std::tuple(a.achieved_fps <= 0, objective.cost(a), -in_memory(a));
  });
}

namespace {

// All sets of stages that a device supports; for many stages, only those of one cut.
std::vector<StageSet> mappings_of(std::size_t stages, const StageSet& supported) {
  constexpr std::size_t kAllOf = 12;
  std::vector<StageSet> mappings;
  if (stages <= kAllOf) {
    for (std::uint32_t bits = 1; bits < 1U << stages; ++bits) {
      const StageSet mapping(bits);
      if ((mapping & ~supported).none()) mappings.push_back(mapping);
    }
    return mappings;
  }
  mappings.push_back(supported);
  for (std::size_t cut = 1; cut < stages; ++cut) {
    const StageSet head((1UL << cut) - 1);
    for (const StageSet& part : {supported & head, supported & ~head}) {
      if (part.any() && std::ranges::find(mappings, part) == mappings.end()) mappings.push_back(part);
    }
  }
  return mappings;
}

}  // namespace

std::vector<Alternative> weigh(const DeviceCosts& costs, const FrameProcessor& processor,
                               const Devices& devices, const ScheduleObjective& objective) {
  std::vector<Alternative> alternatives;
  const auto add = [&](Schedule schedule) {
    if (schedule.uses_device() && !is_known(costs, schedule)) return;
    try {
      check_schedule(schedule, processor, devices);
    } catch (const Error&) {
      return;
    }
    schedule.in_flight = 0;
    schedule.batch = usable_batch(objective.batch, schedule, devices);
    alternatives.push_back(objective.predict(std::move(schedule), costs, devices.size()));
  };
  add({"cpu", {}, 0, 0});
  const auto add_for = [&](const DeviceSet& some) {
    // An empty set stands for all devices.
    const DeviceSet said = some == devices.all() ? DeviceSet() : some;
    const StageSet supported = devices.supported(some);
    for (const StageSet& mapping : mappings_of(processor.stages().size(), supported)) {
      Schedule schedule{mapping == supported ? "gpu" : "custom", mapping, 0, 0};
      schedule.devices = said;
      add(std::move(schedule));
    }
    for (int tenth = 1; tenth <= 9; ++tenth) {
      Schedule schedule{"split", {}, 0, 0.1 * tenth};
      schedule.devices = said;
      if (some.count() == 1) add(std::move(schedule));
    }
    if (some.count() > 1) {
      Schedule schedule = even_split(costs, some);
      schedule.devices = said;
      add(schedule);
      schedule.split = 1;
      add(std::move(schedule));
    }
  };
  for (std::size_t device = 0; devices.size() > 1 && device < devices.size(); ++device)
    add_for(DeviceSet(1UL << device));
  if (!devices.empty()) add_for(devices.all());
  rank(alternatives, objective);
  return alternatives;
}

}  // namespace sightline::pipeline
