#include "opencl/tuning.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "opencl/program_cache.hpp"

namespace sightline::opencl {
namespace {

bool is_cpu(const DeviceInfo& device) {
  return device.type == DeviceType::cpu;
}

TuningValue on_device(const TuningValue& value, const DeviceInfo& device) {
  const int* const number = std::get_if<int>(&value);
  if (!number || *number != kNativeWidth) return value;
  return std::clamp(device.native_float_width, 4, 16);
}

bool allows(const TuningParameter& parameter, const TuningValue& value) {
  if (value.index() != parameter.gpu.index()) return false;
  if (!parameter.values.empty()) return std::ranges::find(parameter.values, value) != parameter.values.end();
  const int* const number = std::get_if<int>(&value);
  return number && *number >= parameter.lowest && *number <= parameter.highest;
}

bool applies(const TuningSweep& sweep, const DeviceInfo& device) {
  using Devices = TuningSweep::Devices;
  if (sweep.devices != Devices::all && (sweep.devices == Devices::cpu) != is_cpu(device)) return false;
  return !sweep.needs || sweep.needs(device);
}

// "{width} pixels" becomes "4 pixels".
std::string fill_in(std::string text, const TuningValues& values) {
  for (const auto& [name, value] : values) {
    const std::string place = "{" + name + "}";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place))
      text.replace(at, place.size(), to_string(value));
  }
  return text;
}

std::string key_of(const DeviceInfo& device, const std::string& problem) {
  return device.platform + " | " + device.name + " | " + device.driver_version + " | " + problem;
}

}  // namespace

std::string to_string(const TuningValue& value) {
  const int* const number = std::get_if<int>(&value);
  return number ? std::to_string(*number) : std::get<std::string>(value);
}

TuningValues default_values(const TuningTable& table, const DeviceInfo& device) {
  TuningValues values;
  for (const TuningParameter& parameter : table.parameters)
    values[parameter.name] = on_device(is_cpu(device) ? parameter.cpu : parameter.gpu, device);
  return values;
}

bool is_possible(const TuningTable& table, const TuningValues& values) {
  if (values.size() != table.parameters.size()) return false;
  for (const TuningParameter& parameter : table.parameters) {
    const auto found = values.find(parameter.name);
    if (found == values.end() || !allows(parameter, found->second)) return false;
  }
  return !table.fit_together || table.fit_together(values);
}

std::vector<TuningVariant> variants_of(const TunedStage& stage, const TuningValues& base,
                                       const DeviceInfo& device) {
  std::vector<TuningVariant> variants;
  for (const TuningSweep& sweep : stage.sweeps) {
    if (!applies(sweep, device)) continue;
    std::vector<TuningValues> combinations{base};
    for (const auto& [name, choices] : sweep.values) {
      std::vector<TuningValues> more;
      for (const TuningValues& combination : combinations) {
        for (const TuningValue& choice : choices) {
          more.push_back(combination);
          more.back()[name] = on_device(choice, device);
        }
      }
      combinations = std::move(more);
    }
    for (TuningValues& values : combinations)
      variants.push_back({fill_in(stage.text, values), std::move(values), sweep.exact});
  }
  return variants;
}

std::filesystem::path TuningDatabase::default_file() {
  const std::filesystem::path kernels = ProgramCache::default_folder();
  return kernels.empty() ? std::filesystem::path() : kernels.parent_path() / "tuning.json";
}

std::optional<TuningValues> TuningDatabase::find(const DeviceInfo& device, const std::string& problem,
                                                 const TuningTable& table) const {
  const nlohmann::json found = store_.find(key_of(device, problem));
  if (found.is_null()) return std::nullopt;
  TuningValues values;
  for (const auto& [name, value] : found.items()) {
    if (value.is_string()) {
      values[name] = value.get<std::string>();
    } else if (value.is_number_integer()) {
      values[name] = value.get<int>();
    }
  }
  if (is_possible(table, values)) return values;
  spdlog::warn("{}: entry for '{}' is not understood; run `sightline tune`", file().string(), device.name);
  return std::nullopt;
}

void TuningDatabase::store(const DeviceInfo& device, const std::string& problem,
                           const TuningValues& values) const {
  nlohmann::json entry = nlohmann::json::object();
  for (const auto& [name, value] : values)
    std::visit([&, &key = name](const auto& plain) { entry[key] = plain; }, value);
  store_.store(key_of(device, problem), entry);
}

TuningValues best_values(const DeviceInfo& device, const std::string& problem, const TuningTable& table) {
  const TuningDatabase database(TuningDatabase::default_file());
  const std::optional<TuningValues> stored = database.find(device, problem, table);
  return stored ? *stored : default_values(table, device);
}

}  // namespace sightline::opencl
