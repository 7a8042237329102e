#include "opencl/tuning.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/fingerprint.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"

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

std::string tuning_key(const DeviceInfo& device, const std::string& problem) {
  return device_key(device) + " | " + problem;
}

// The same word, or the first; the nearest number, the lower one of two.
std::size_t nearest_place(const std::vector<TuningValue>& choices, const TuningValue& value) {
  if (const auto same = std::ranges::find(choices, value); same != choices.end())
    return static_cast<std::size_t>(same - choices.begin());
  const int* const wanted = std::get_if<int>(&value);
  std::size_t best = 0;
  int distance = std::numeric_limits<int>::max();
  for (std::size_t i = 0; wanted && i < choices.size(); ++i) {
    const int* const number = std::get_if<int>(&choices[i]);
    if (!number || std::abs(*number - *wanted) >= distance) continue;
    distance = std::abs(*number - *wanted);
    best = i;
  }
  return best;
}

}  // namespace

std::string device_key(const DeviceInfo& device) {
  return device.platform + " | " + device.name + " | " + device.driver_version;
}

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

TuningValues start_values(const TuningTable& table, const DeviceInfo& device, const DeviceHints& hints) {
  const TuningValues usual = default_values(table, device);
  TuningValues values = usual;
  for (const TuningParameter& parameter : table.parameters) {
    std::optional<int> wanted;
    if (parameter.follows == Follows::work_group && hints.work_group > 0) wanted = hints.work_group;
    if (parameter.follows == Follows::vector_width && hints.vector_width > 0) wanted = hints.vector_width;
    if (parameter.follows == Follows::local_memory && hints.local_memory) wanted = *hints.local_memory;
    if (!wanted) continue;
    values[parameter.name] = parameter.values.empty()
                                 ? TuningValue(std::clamp(*wanted, parameter.lowest, parameter.highest))
                                 : parameter.values[nearest_place(parameter.values, *wanted)];
  }
  return is_possible(table, values) ? values : usual;
}

TuningVariant TuningGrid::at(const std::vector<std::size_t>& places, const TunedStage& stage,
                             const TuningValues& base) const {
  TuningVariant variant{"", base, exact};
  for (std::size_t i = 0; i < axes.size(); ++i) variant.values[axes[i].first] = axes[i].second[places[i]];
  variant.text = fill_in(stage.text, variant.values);
  return variant;
}

std::vector<std::size_t> TuningGrid::nearest(const TuningValues& values) const {
  std::vector<std::size_t> places;
  for (const auto& [name, choices] : axes) places.push_back(nearest_place(choices, values.at(name)));
  return places;
}

std::vector<TuningGrid> grids_of(const TunedStage& stage, const DeviceInfo& device) {
  std::vector<TuningGrid> grids;
  for (const TuningSweep& sweep : stage.sweeps) {
    if (!applies(sweep, device)) continue;
    TuningGrid& grid = grids.emplace_back(TuningGrid{sweep.values, sweep.exact});
    for (auto& [name, choices] : grid.axes) {
      for (TuningValue& choice : choices) choice = on_device(choice, device);
    }
  }
  return grids;
}

std::vector<TuningVariant> variants_of(const TunedStage& stage, const TuningValues& base,
                                       const DeviceInfo& device) {
  std::vector<TuningVariant> variants;
  for (const TuningGrid& grid : grids_of(stage, device)) {
    std::vector<std::size_t> places(grid.axes.size());
    std::size_t axis = 0;
    do {
      variants.push_back(grid.at(places, stage, base));
      // The next one: as a number is counted up, the last axis being its last digit.
      for (axis = places.size(); axis > 0 && ++places[axis - 1] == grid.axes[axis - 1].second.size(); --axis)
        places[axis - 1] = 0;
    } while (axis > 0);
  }
  return variants;
}

std::filesystem::path TuningDatabase::default_file() {
  return cache_file("tuning.json");
}

std::optional<TuningValues> TuningDatabase::find(const DeviceInfo& device, const std::string& problem,
                                                 const TuningTable& table) const {
  const nlohmann::json found = store_.find(tuning_key(device, problem));
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
  logger().warn("{}: the entry for '{}' is invalid; run `sightline tune`", file().string(), device.name);
  return std::nullopt;
}

void TuningDatabase::store(const DeviceInfo& device, const std::string& problem,
                           const TuningValues& values) const {
  nlohmann::json entry = nlohmann::json::object();
  for (const auto& [name, value] : values)
    std::visit([&, &key = name](const auto& plain) { entry[key] = plain; }, value);
  store_.store(tuning_key(device, problem), entry);
}

std::string tuning_state(const DeviceInfo& device) {
  const nlohmann::json stored = JsonStore(TuningDatabase::default_file()).find_all(tuning_key(device, ""));
  if (stored.empty()) return "by default";
  Fingerprint all;
  all.add_all(json_text(stored));
  return all.text();
}

TuningValues best_values(const DeviceInfo& device, const std::string& problem, const TuningTable& table) {
  const TuningDatabase database(TuningDatabase::default_file());
  const std::optional<TuningValues> stored = database.find(device, problem, table);
  return stored ? *stored : default_values(table, device);
}

}  // namespace sightline::opencl
