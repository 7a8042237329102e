#pragma once
/// Prediction of a frame's energy under a schedule, from the energies of its isolated stages.

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/planning/costs.hpp"

namespace sightline::pipeline {

/// The energy of each stage on each processor, as some meters see it. Processor 0 is the CPU, the others are
/// the devices in their order.
struct StageEnergies {
  std::string meter;      ///< the meters' names
  double idle_watts = 0;  ///< of all that they see
  /// By processor: whether a meter sees it. What the others take is not known, and counts as nothing.
  std::vector<bool> seen;
  /// [processor][stage]: joules a frame above idle, at least 0; none where the stage does not run there, or
  /// was not measured.
  std::vector<std::vector<std::optional<double>>> joules;
  /// By processor: watts above idle while it copies from and to the host; 0 of the CPU.
  std::vector<double> copy_watts;

  bool sees_all() const;
  friend bool operator==(const StageEnergies&, const StageEnergies&) = default;
};

/// Joules a frame of a schedule, as the meters will see them: what its stages take above idle, its copies,
/// and the idle power for as long as a frame lasts. Of frames that are dealt out to devices, each has as many
/// as its speed allows. None where a stage's energy is not known on a processor that a meter sees.
/// @param seconds  from one frame's end to the next one's
std::optional<double> predicted_joules(const StageEnergies& energies, const DeviceCosts& costs,
                                       const Schedule& schedule, double seconds);
/// The part of it above idle.
std::optional<double> joules_above_idle(const StageEnergies& energies, const DeviceCosts& costs,
                                        const Schedule& schedule);

/// As they are stored, and back. Throws nlohmann::json::exception where it is something else.
nlohmann::json energies_as_json(const StageEnergies& energies);
StageEnergies energies_from_json(const nlohmann::json& json);

/// In the user's cache folder; empty where there is none.
std::filesystem::path default_energy_file();
/// Energies that are stored under the key for these meters, stages and processors; none where the entry is
/// missing or cannot be read.
std::optional<StageEnergies> stored_energies(const std::filesystem::path& file, const std::string& key,
                                             const std::string& meter, std::size_t stages,
                                             std::size_t processors);
/// Throws Error (failed) where the file cannot be written. An empty name stores nothing.
void store_energies(const std::filesystem::path& file, const std::string& key, const StageEnergies& energies);

}  // namespace sightline::pipeline
