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

/// Energy of each stage on each processor, as the meters count it. Processor 0 is the CPU; the devices follow
/// in their order.
struct StageEnergies {
  std::string meter;      ///< names of the meters
  double idle_watts = 0;  ///< idle power of all that they cover
  /// By processor: whether a meter covers it. The energy of the others is unknown and counts as 0.
  std::vector<bool> seen;
  /// [processor][stage]: joules per frame above idle, at least 0; none if the stage does not run there or was
  /// not measured.
  std::vector<std::vector<std::optional<double>>> joules;
  /// By processor: watts above idle during copies from and to the host; 0 for the CPU.
  std::vector<double> copy_watts;

  bool sees_all() const;
  friend bool operator==(const StageEnergies&, const StageEnergies&) = default;
};

/// Joules per frame under a schedule, as the meters will count them: stages, copies and decoding above idle,
/// and idle power for the time of a frame. Frames are dealt to devices by their speed. None if the energy of
/// a stage is unknown on a processor that a meter covers.
/// @param seconds  from one frame's end to the next one's
std::optional<double> predicted_joules(const StageEnergies& energies, const DeviceCosts& costs,
                                       const Schedule& schedule, double seconds);
/// Part of predicted_joules above idle.
std::optional<double> joules_above_idle(const StageEnergies& energies, const DeviceCosts& costs,
                                        const Schedule& schedule);

/// Conversion to and from the stored form. Throws nlohmann::json::exception for another form.
nlohmann::json energies_as_json(const StageEnergies& energies);
StageEnergies energies_from_json(const nlohmann::json& json);

/// Energy file in the user's cache folder; empty if there is none.
std::filesystem::path default_energy_file();
/// Energies stored under the key for these meters, stages and processors; none if the entry is missing or
/// unreadable.
std::optional<StageEnergies> stored_energies(const std::filesystem::path& file, const std::string& key,
                                             const std::string& meter, std::size_t stages,
                                             std::size_t processors);
/// Stores energies, unless the file name is empty. Throws Error (failed) if the file cannot be written.
void store_energies(const std::filesystem::path& file, const std::string& key, const StageEnergies& energies);

}  // namespace sightline::pipeline
