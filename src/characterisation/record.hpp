#pragma once
/// File format of processor characteristics.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "characterisation/characteristics.hpp"
#include "opencl/device.hpp"

namespace sightline::characterisation {

/// Version of the file format; files of other versions are refused.
inline constexpr int kRecordVersion = 1;

nlohmann::json to_json(const Characteristics& processor);
/// Parses the output of to_json. Throws Error (input).
Characteristics from_json(const nlohmann::json& json);

/// A document: `{"version": 1, "processors": [...]}`, a curve or figure a line.
std::string record_text(const std::vector<Characteristics>& processors);
/// Throws Error (input) with `name` and the cause: version, key, invalid number, or points out of order.
std::vector<Characteristics> parse_record(const std::string& text, const std::string& name);
/// Throws Error (input), also where the file cannot be read.
std::vector<Characteristics> load_record(const std::filesystem::path& file);

/// Default file of `remember`, in the user's cache folder; empty if there is no such folder.
std::filesystem::path default_characteristics_file();
/// Keeps it for the device with its driver. Throws Error (failed) if the file cannot be written.
void remember(const opencl::DeviceInfo& device, const Characteristics& processor,
              const std::filesystem::path& file = default_characteristics_file());
/// Stored characteristics of the device with its present driver; none, with a warning, if the file is not
/// understood.
std::optional<Characteristics> remembered(const opencl::DeviceInfo& device,
                                          const std::filesystem::path& file = default_characteristics_file());

}  // namespace sightline::characterisation
