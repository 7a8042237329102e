#pragma once
/// What processors were found to do, as files keep it.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "characterisation/characteristics.hpp"
#include "opencl/device.hpp"

namespace sightline::characterisation {

/// Of the form of the files; another one is refused.
inline constexpr int kRecordVersion = 1;

nlohmann::json to_json(const Characteristics& processor);
/// Reads what to_json gives. Throws Error (input) that says what is wrong.
Characteristics from_json(const nlohmann::json& json);

/// A document: `{"version": 1, "processors": [...]}`, a curve or figure a line.
std::string record_text(const std::vector<Characteristics>& processors);
/// Throws Error (input) that names `name` and what is wrong: a version, a key, a number that is none, points
/// that are not in order.
std::vector<Characteristics> parse_record(const std::string& text, const std::string& name);
/// Throws Error (input), also where the file cannot be read.
std::vector<Characteristics> load_record(const std::filesystem::path& file);

/// Where `remember` keeps it: in the user's cache folder; empty where there is none.
std::filesystem::path default_characteristics_file();
/// Keeps it for the device with its driver. Throws Error (failed) where the file cannot be written.
void remember(const opencl::DeviceInfo& device, const Characteristics& processor,
              const std::filesystem::path& file = default_characteristics_file());
/// What was kept for the device with its present driver; none, with a warning, where that is not understood.
std::optional<Characteristics> remembered(const opencl::DeviceInfo& device,
                                          const std::filesystem::path& file = default_characteristics_file());

}  // namespace sightline::characterisation
