#include "pipeline/planner.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/json_store.hpp"
#include "base/median.hpp"
#include "opencl/program_cache.hpp"
#include "pipeline/energy.hpp"
#include "pipeline/measure_stages.hpp"
#include "pipeline/sources.hpp"
#include "pipeline/trace_statistics.hpp"

namespace sightline::pipeline {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageCost, cpu, work, device, upload, download)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FrameCosts, stages, partitionable, threads, shared_cores, cores, decode,
                                   turnaround)

namespace {

// Of two alternatives, the one with fewer frames in flight is taken unless the other is faster by more than
// this.
constexpr double kWorthMoreFrames = 1.03;

constexpr std::int64_t kCalibrationFrames = 7;

struct Trial {
  double fps = 0;
  double latency = 0;
  std::optional<double> joules;
};

bool is_set(const std::atomic<bool>* stop) {
  return stop && stop->load();
}

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

// Smaller is better.
double merit(const Alternative& a, Goal goal) {
  const bool tried = a.achieved_fps > 0;
  switch (goal) {
    case Goal::latency:
      return tried ? a.achieved_latency : a.predicted_latency;
    case Goal::energy:
      if (a.joules) return *a.joules;
      return a.predicted_joules.value_or(1e9 / (tried ? a.achieved_fps : a.predicted_fps));
    default:
      return -(tried ? a.achieved_fps : a.predicted_fps);
  }
}

void rank(std::vector<Alternative>& alternatives, Goal goal) {
  std::stable_sort(alternatives.begin(), alternatives.end(), [&](const Alternative& a, const Alternative& b) {
    const bool a_tried = a.achieved_fps > 0;
    const bool b_tried = b.achieved_fps > 0;
    if (a_tried != b_tried) return a_tried;
    return merit(a, goal) < merit(b, goal);
  });
}

std::string key_of(const FrameProcessor& processor, const Devices& devices, Size size, int threads,
                   const PlanOptions& options) {
  return machine_key(processor, devices, size, threads) + " | goal " +
         std::to_string(static_cast<int>(options.goal)) + " | in flight " + std::to_string(options.in_flight);
}

nlohmann::json to_json(const Alternative& a) {
  return {{"name", a.schedule.name},
          {"on_device", a.schedule.on_device.to_ulong()},
          {"in_flight", a.schedule.in_flight},
          {"split", a.schedule.split},
          {"tuned", a.schedule.tuned},
          {"devices", a.schedule.devices.to_ulong()},
          {"shares", a.schedule.shares},
          {"predicted_fps", a.predicted_fps},
          {"predicted_latency", a.predicted_latency},
          {"bound_by", a.bound_by},
          {"predicted_joules",
           a.predicted_joules ? nlohmann::json(*a.predicted_joules) : nlohmann::json(nullptr)},
          {"achieved_fps", a.achieved_fps},
          {"achieved_latency", a.achieved_latency},
          {"joules", a.joules ? nlohmann::json(*a.joules) : nlohmann::json(nullptr)}};
}

Alternative alternative_from(const nlohmann::json& json, std::size_t stages) {
  Alternative a;
  a.schedule.name = json.at("name").get<std::string>();
  a.schedule.in_flight = std::clamp(json.at("in_flight").get<int>(), 1, 64);
  a.schedule.split = std::clamp(json.at("split").get<double>(), 0.0, 1.0);
  a.schedule.tuned = json.value("tuned", 0);
  const auto devices = json.value("devices", 0UL);
  if (devices >> kMostDevices != 0) throw std::runtime_error("no set of devices");
  a.schedule.devices = DeviceSet(devices);
  a.schedule.shares = json.value("shares", std::vector<double>());
  const auto on_device = json.at("on_device").get<unsigned long>();
  if (on_device >> stages != 0 || (on_device != 0 && a.schedule.split > 0))
    throw std::runtime_error("no mapping of the processor's stages");
  a.schedule.on_device = StageSet(on_device);
  a.predicted_fps = json.at("predicted_fps").get<double>();
  a.predicted_latency = json.at("predicted_latency").get<double>();
  a.bound_by = json.at("bound_by").get<std::string>();
  a.achieved_fps = json.at("achieved_fps").get<double>();
  a.achieved_latency = json.at("achieved_latency").get<double>();
  const auto number = [&](const char* name) {
    const auto value = json.find(name);
    return value != json.end() && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
  };
  a.joules = number("joules");
  a.predicted_joules = number("predicted_joules");
  return a;
}

std::optional<Planned> remembered(const JsonStore& store, const std::string& key,
                                  const FrameProcessor& processor, const Devices& devices) {
  const nlohmann::json json = store.find(key);
  if (json.is_null()) return std::nullopt;
  try {
    Planned planned;
    planned.remembered = true;
    planned.costs = DeviceCosts(json.at("costs").get<std::vector<FrameCosts>>());
    for (const nlohmann::json& one : json.at("alternatives"))
      planned.alternatives.push_back(alternative_from(one, processor.stages().size()));
    if (json.contains("energies")) planned.energies = energies_from_json(json.at("energies"));
    const auto fits = [&](const FrameCosts& costs) {
      return costs.stages.size() == processor.stages().size();
    };
    if (planned.alternatives.empty() || planned.costs.size() != std::max<std::size_t>(devices.size(), 1) ||
        !std::ranges::all_of(planned.costs.all(), fits))
      return std::nullopt;
    planned.alternatives.front().chosen = true;
    planned.schedule = planned.alternatives.front().schedule;
    check_schedule(planned.schedule, processor, devices);
    return planned;
  } catch (const std::exception& e) {
    spdlog::warn("{}: an entry is not understood ({}); the stages are measured anew", store.file().string(),
                 e.what());
    return std::nullopt;
  }
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

std::filesystem::path default_plan_file() {
  return opencl::ProgramCache::file_beside("schedules.json");
}

namespace {

// What one device shows; the CPU's costs are known.
// @param transfers  how long copies take: half as many mappings show the rest. Empty: not known
void calibrate_device(std::size_t device, FrameCosts& costs, Pipeline& pipeline,
                      const FrameProcessor& processor, const Devices& devices,
                      const std::vector<media::Frame>& frames, const TransferModel& transfers,
                      const std::atomic<bool>* stop) {
  const std::size_t count = processor.stages().size();
  const opencl::DeviceInfo& info = devices[device].context().device();
  if (info.type == opencl::DeviceType::cpu && pipeline.threads() + info.compute_units > costs.cores)
    costs.shared_cores = info.compute_units;

  // All on the device; then the device first and the CPU after, and the other way round, at every stage: each
  // shows another copy. What the CPU hands to the device at a stage is as large as what it gets there.
  const StageSet supported = devices[device].supported();
  std::vector<StageSet> mappings{supported};
  for (std::size_t cut = 1; cut < count; ++cut) {
    StageSet head;
    for (std::size_t i = 0; i < cut; ++i) head[i] = supported[i];
    mappings.push_back(head);
    if (transfers.empty()) mappings.push_back(supported & ~head);
  }
  Schedule schedule{"calibration", {}, 1, 0};
  schedule.devices.set(device);
  for (std::size_t i = mappings.size(); i-- > 0;) {
    schedule.on_device = mappings[i];
    if (schedule.on_device.none()) continue;
    try {
      check_schedule(schedule, processor, devices);
    } catch (const Error&) {
      continue;  // a combination that this processor does not have
    }
    const TraceStatistics run = run_for(pipeline, schedule, frames, kCalibrationFrames, 2, stop);
    if (pipeline.device_lost() || is_set(stop)) return;
    run.add_to(costs);
    if (i > 0) continue;
    const std::vector<double> rows = run.row_seconds();
    costs.turnaround =
        std::max(0.0, median(run.latencies()) - std::accumulate(rows.begin(), rows.end(), 0.0));
  }
  for (std::size_t i = 1; i < count && !transfers.empty(); ++i) {
    if (supported[i - 1] && costs.stages[i - 1].download > 0)
      costs.stages[i].upload = transfers.upload_of_download(costs.stages[i - 1].download);
  }
}

}  // namespace

DeviceCosts calibrate(Pipeline& pipeline, const FrameProcessor& processor, const Devices& devices,
                      const std::vector<media::Frame>& frames, const std::atomic<bool>* stop,
                      const std::vector<TransferModel>& transfers) {
  FrameCosts costs;
  costs.stages.resize(processor.stages().size());
  costs.partitionable = processor.partitionable_stages();
  costs.threads = pipeline.threads();
  costs.cores = hardware_threads();
  run_for(pipeline, {"calibration", {}, 1, 0}, frames, kCalibrationFrames, 2, stop).add_to(costs);
  DeviceCosts all(std::vector<FrameCosts>(std::max<std::size_t>(devices.size(), 1), costs));
  for (std::size_t device = 0; device < devices.size(); ++device)
    calibrate_device(device, all[device], pipeline, processor, devices, frames,
                     device < transfers.size() ? transfers[device] : TransferModel(), stop);
  return all;
}

namespace {

// All sets of stages that a device can have; of very many stages, those that one cut makes.
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
                               const Devices& devices, Goal goal, int in_flight,
                               const StageEnergies* energies) {
  std::vector<Alternative> alternatives;
  const auto add = [&](Schedule schedule) {
    if (schedule.uses_device() && !is_known(costs, schedule)) return;
    try {
      check_schedule(schedule, processor, devices);
    } catch (const Error&) {
      return;
    }
    schedule.in_flight = in_flight > 0 ? in_flight
                         : goal == Goal::latency
                             ? 1
                             : default_in_flight(schedule, costs.front().threads, devices.size());
    Alternative a;
    a.schedule = std::move(schedule);
    const Bound bound = bound_of(costs, a.schedule);
    a.predicted_fps = predicted_fps(costs, a.schedule);
    a.predicted_latency = latency_of(costs, a.schedule);
    a.bound_by = bound.processor;
    if (energies)
      a.predicted_joules =
          predicted_joules(*energies, costs, a.schedule, 1 / std::max(a.predicted_fps, 1e-9));
    alternatives.push_back(std::move(a));
  };
  add({"cpu", {}, 0, 0});
  const auto add_for = [&](const DeviceSet& some) {
    // With all devices, a schedule says nothing of them.
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
  rank(alternatives, goal);
  return alternatives;
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
  const std::string key = key_of(processor, devices, frames.front().size(), pipeline.threads(), options);
  Planned planned;
  if (energy)
    planned.energies = find_energies(pipeline, processor, devices, frames.front(), options, *energy);
  if (auto known = remembered(store, key, processor, devices)) {
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
  if (!complete) return planned;

  nlohmann::json json = {{"costs", planned.costs.all()}, {"alternatives", nlohmann::json::array()}};
  for (const Alternative& a : planned.alternatives) json["alternatives"].push_back(to_json(a));
  if (planned.energies) json["energies"] = energies_as_json(*planned.energies);
  try {
    store.store(key, json);
  } catch (const Error& e) {
    spdlog::debug("{}", e.what());
  }
  return planned;
}

}  // namespace sightline::pipeline
