#include "pipeline/planning/plan_store.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_problem.hpp"
#include "base/json_store.hpp"
#include "base/log.hpp"

namespace sightline::pipeline {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageCost, cpu, work, device, upload, download)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DecoderCost, processor, seconds, work, joules, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FrameCosts, stages, partitionable, threads, shared_cores, cores, decode,
                                   turnaround)

namespace {

nlohmann::json to_json(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json to_json(const Alternative& a) {
  return {{"name", a.schedule.name},
          {"on_device", a.schedule.on_device.to_ulong()},
          {"in_flight", a.schedule.in_flight},
          {"split", a.schedule.split},
          {"tuned", a.schedule.tuned},
          {"batch", a.schedule.batch},
          {"devices", a.schedule.devices.to_ulong()},
          {"shares", a.schedule.shares},
          {"predicted_fps", a.predicted_fps},
          {"predicted_in_memory", to_json(a.predicted_in_memory)},
          {"predicted_latency", a.predicted_latency},
          {"bound_by", a.bound_by},
          {"predicted_joules", to_json(a.predicted_joules)},
          {"achieved_fps", a.achieved_fps},
          {"achieved_latency", a.achieved_latency},
          {"with_decoding", to_json(a.with_decoding)},
          {"joules", to_json(a.joules)},
          {"joules_error", to_json(a.joules_error)}};
}

Alternative alternative_from(const nlohmann::json& json, std::size_t stages) {
  Alternative a;
  a.schedule.name = json.at("name").get<std::string>();
  a.schedule.in_flight = std::clamp(json.at("in_flight").get<int>(), 1, kMostInFlight);
  a.schedule.split = std::clamp(json.at("split").get<double>(), 0.0, 1.0);
  a.schedule.tuned = json.value("tuned", 0);
  a.schedule.batch = std::clamp(json.value("batch", 1), 1, kMostInBatch);
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
  a.joules_error = number("joules_error");
  a.predicted_joules = number("predicted_joules");
  a.predicted_in_memory = number("predicted_in_memory");
  a.with_decoding = number("with_decoding");
  return a;
}

}  // namespace

std::filesystem::path default_plan_file() {
  return cache_file("schedules.json");
}

std::optional<Planned> remembered_plan(const std::string& key, const FrameProcessor& processor,
                                       const Devices& devices, const PlanOptions& options) {
  const JsonStore store(options.file);
  const nlohmann::json json = store.find(key);
  if (json.is_null()) return std::nullopt;
  try {
    Planned planned;
    planned.remembered = true;
    planned.objective = {options.goal, options.in_flight};
    if (json.contains("limited_to")) planned.limited_to = json.at("limited_to").get<std::int64_t>();
    const std::optional<std::int64_t>& frames = options.frames_to_come;
    if (planned.limited_to && (!frames || *frames / kLongerRun > *planned.limited_to)) return std::nullopt;
    planned.costs = DeviceCosts(json.at("costs").get<std::vector<FrameCosts>>());
    for (const nlohmann::json& one : json.at("alternatives"))
      planned.alternatives.push_back(alternative_from(one, processor.stages().size()));
    if (json.contains("energies")) planned.objective.energies = energies_from_json(json.at("energies"));
    const auto fits = [&](const FrameCosts& costs) {
      return costs.stages.size() == processor.stages().size() &&
             costs.partitionable == processor.partitionable_stages();
    };
    if (planned.alternatives.empty() || planned.costs.size() != std::max<std::size_t>(devices.size(), 1) ||
        !std::ranges::all_of(planned.costs.all(), fits))
      return std::nullopt;
    planned.alternatives.front().chosen = true;
    planned.schedule = planned.alternatives.front().schedule;
    planned.objective.batch = planned.schedule.batch;
    check_schedule(planned.schedule, processor, devices);
    return planned;
  } catch (const std::exception& e) {
    logger().warn("{}: cannot read an entry ({}); measuring the stages again", store.file().string(),
                  json_problem(e));
    return std::nullopt;
  }
}

void remember_plan(const std::filesystem::path& file, const std::string& key, const Planned& planned) {
  nlohmann::json json = {{"costs", planned.costs.all()}, {"alternatives", nlohmann::json::array()}};
  for (const Alternative& a : planned.alternatives) json["alternatives"].push_back(to_json(a));
  if (planned.limited_to) json["limited_to"] = *planned.limited_to;
  if (planned.objective.energies) json["energies"] = energies_as_json(*planned.objective.energies);
  try {
    JsonStore(file).store(key, json);
  } catch (const Error& e) {
    logger().debug("{}", e.what());
  }
}

}  // namespace sightline::pipeline
