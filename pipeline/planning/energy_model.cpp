#include "pipeline/planning/energy_model.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_problem.hpp"
#include "base/json_store.hpp"
#include "base/log.hpp"

namespace sightline::pipeline {
namespace {

// Of one frame.
class FrameEnergy {
 public:
  FrameEnergy(const StageEnergies& energies, const DeviceCosts& costs) : energies_(energies), costs_(costs) {}

  void add(double joules) { sum_ += joules; }

  // A part of a stage. Unknown is nothing where no meter would see it.
  void add_stage(std::size_t processor, std::size_t stage, double part) {
    if (part <= 0 || !energies_.seen.at(processor)) return;
    const std::optional<double>& joules = energies_.joules.at(processor).at(stage);
    if (!joules) is_known_ = false;
    sum_ += joules.value_or(0) * part;
  }
  void add_copies(std::size_t device, double seconds) {
    if (energies_.seen.at(device + 1)) sum_ += energies_.copy_watts.at(device + 1) * std::max(seconds, 0.0);
  }

  // A device's stages of a frame, and the copies for them; of so many of the frames.
  void add_device(std::size_t device, const StageSet& on_device, double part) {
    const FrameCosts& costs = costs_[device];
    const std::size_t count = costs.stages.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!on_device[i]) continue;
      add_stage(device + 1, i, part);
      if (i == 0 || !on_device[i - 1]) add_copies(device, part * costs.stages[i].upload);
      if (i + 1 == count || !on_device[i + 1]) add_copies(device, part * costs.stages[i].download);
    }
  }

  std::optional<double> sum() const { return is_known_ ? std::optional(sum_) : std::nullopt; }

 private:
  const StageEnergies& energies_;
  const DeviceCosts& costs_;
  double sum_ = 0;
  bool is_known_ = true;
};

// By device: how many of the frames it is dealt, 0 to 1.
std::vector<double> shares_of_frames(const DeviceCosts& costs, const Schedule& schedule) {
  const DeviceSet dealt = dealt_devices(schedule, costs.size());
  std::vector<double> shares(costs.size(), 0);
  double all = 0;
  for (std::size_t device = 0; device < costs.size(); ++device) {
    if (!dealt[device]) continue;
    double seconds = 0;
    for (std::size_t i = 0; i < costs[device].stages.size(); ++i)
      seconds += schedule.on_device[i] ? std::max(costs[device].stages[i].device, 0.0) : 0;
    shares[device] = 1 / std::max(seconds, 1e-9);
    all += shares[device];
  }
  for (double& share : shares) share /= std::max(all, 1e-12);
  return shares;
}

void add_split(FrameEnergy& energy, const DeviceCosts& costs, const Schedule& schedule) {
  const std::vector<Partition> partitions = device_partitions(schedule, costs.size());
  const FrameCosts& machine = costs.front();
  for (std::size_t i = 0; i < machine.stages.size(); ++i)
    energy.add_stage(0, i, i < machine.partitionable ? 1 - schedule.split : 1);
  for (std::size_t device = 0; device < costs.size(); ++device) {
    const double part = partitions[device].end - partitions[device].begin;
    if (part <= 0) continue;
    for (std::size_t i = 0; i < machine.partitionable; ++i) energy.add_stage(device + 1, i, part);
    energy.add_copies(device, costs[device].stages.front().upload);
    if (machine.partitionable > 0)
      energy.add_copies(device, costs[device].stages[machine.partitionable - 1].download);
  }
}

bool fits(const StageEnergies& energies, std::size_t stages, std::size_t processors) {
  const auto sensible = [](double value) { return std::isfinite(value) && value >= 0; };
  const auto row_fits = [&](const auto& row) {
    return row.size() == stages &&
           std::ranges::all_of(row, [&](const auto& joules) { return !joules || sensible(*joules); });
  };
  return energies.seen.size() == processors && energies.copy_watts.size() == processors &&
         energies.joules.size() == processors && sensible(energies.idle_watts) &&
         std::ranges::all_of(energies.copy_watts, sensible) && std::ranges::all_of(energies.joules, row_fits);
}

std::string key_with(const std::string& key, const std::string& meter) {
  return key + " | energy by " + meter;
}

}  // namespace

bool StageEnergies::sees_all() const {
  return std::ranges::all_of(seen, [](bool one) { return one; });
}

std::optional<double> joules_above_idle(const StageEnergies& energies, const DeviceCosts& costs,
                                        const Schedule& schedule) {
  FrameEnergy energy(energies, costs);
  energy.add(decoding_joules(costs, schedule));
  if (schedule.split > 0) {
    add_split(energy, costs, schedule);
    return energy.sum();
  }
  for (std::size_t i = 0; i < costs.front().stages.size(); ++i) {
    if (!schedule.on_device[i]) energy.add_stage(0, i, 1);
  }
  const std::vector<double> shares = shares_of_frames(costs, schedule);
  for (std::size_t device = 0; device < costs.size(); ++device) {
    StageSet dealt, pinned;
    for (std::size_t i = 0; i < costs[device].stages.size(); ++i) {
      dealt[i] = schedule.on_device[i] && schedule.pinned[i] == 0;
      pinned[i] = schedule.on_device[i] && schedule.pinned[i] == device + 1;
    }
    if (shares[device] > 0) energy.add_device(device, dealt, shares[device]);
    if (pinned.any()) energy.add_device(device, pinned, 1);
  }
  return energy.sum();
}

std::optional<double> predicted_joules(const StageEnergies& energies, const DeviceCosts& costs,
                                       const Schedule& schedule, double seconds) {
  const std::optional<double> above = joules_above_idle(energies, costs, schedule);
  if (!above || !std::isfinite(seconds)) return std::nullopt;
  return *above + energies.idle_watts * seconds;
}

nlohmann::json energies_as_json(const StageEnergies& energies) {
  nlohmann::json json{{"meter", energies.meter},
                      {"idle_watts", energies.idle_watts},
                      {"seen", energies.seen},
                      {"copy_watts", energies.copy_watts},
                      {"joules", nlohmann::json::array()}};
  for (const auto& processor : energies.joules) {
    nlohmann::json row = nlohmann::json::array();
    for (const auto& joules : processor) row.push_back(joules ? nlohmann::json(*joules) : nlohmann::json());
    json["joules"].push_back(row);
  }
  return json;
}

StageEnergies energies_from_json(const nlohmann::json& json) {
  StageEnergies energies;
  energies.meter = json.at("meter").get<std::string>();
  energies.idle_watts = json.at("idle_watts").get<double>();
  energies.seen = json.at("seen").get<std::vector<bool>>();
  energies.copy_watts = json.at("copy_watts").get<std::vector<double>>();
  for (const nlohmann::json& row : json.at("joules")) {
    auto& processor = energies.joules.emplace_back();
    for (const nlohmann::json& joules : row)
      processor.push_back(joules.is_null() ? std::nullopt : std::optional(joules.get<double>()));
  }
  return energies;
}

std::filesystem::path default_energy_file() {
  return cache_file("stage_energies.json");
}

std::optional<StageEnergies> stored_energies(const std::filesystem::path& file, const std::string& key,
                                             const std::string& meter, std::size_t stages,
                                             std::size_t processors) {
  const nlohmann::json json = JsonStore(file).find(key_with(key, meter));
  if (json.is_null()) return std::nullopt;
  try {
    StageEnergies energies = energies_from_json(json);
    if (fits(energies, stages, processors)) return energies;
    logger().warn("{}: an entry does not match the stages; measuring their energy again", file.string());
  } catch (const nlohmann::json::exception& e) {
    logger().warn("{}: cannot read an entry ({}); measuring the stages' energy again", file.string(),
                  json_problem(e));
  }
  return std::nullopt;
}

void store_energies(const std::filesystem::path& file, const std::string& key,
                    const StageEnergies& energies) {
  JsonStore(file).store(key_with(key, energies.meter), energies_as_json(energies));
}

}  // namespace sightline::pipeline
