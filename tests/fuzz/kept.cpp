#include <spdlog/spdlog.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "characterisation/record.hpp"
#include "image/box.hpp"
#include "memory_file.hpp"
#include "opencl/tuning.hpp"
#include "pipeline/planning/energy_model.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

// Keys as those who read have them.
constexpr const char* kKey = "machine";
constexpr const char* kMeter = "meter";
constexpr std::size_t kStages = 2;

opencl::DeviceInfo device() {
  opencl::DeviceInfo info;
  info.platform = "P";
  info.name = "N";
  info.driver_version = "1";
  info.type = opencl::DeviceType::gpu;
  return info;
}

opencl::TuningTable table() {
  opencl::TuningTable table;
  opencl::TuningParameter number, word;
  number.name = "group";
  number.cpu = number.gpu = 8;
  number.lowest = 1;
  number.highest = 64;
  word.name = "form";
  word.values = {"plain", "local"};
  word.cpu = word.gpu = "plain";
  table.parameters = {number, word};
  return table;
}

void read_energies(const std::filesystem::path& file) {
  const auto energies = pipeline::stored_energies(file, kKey, kMeter, kStages, 2);
  if (!energies) return;
  pipeline::FrameCosts costs;
  costs.stages = {{0.1, 0.1, 0.2, 0.01, 0.02}, {0.1, 0.1, 0.2, 0.01, 0.02}};
  costs.partitionable = 1;
  pipeline::Schedule schedule{"custom", {}, 1, 0};
  for (const bool split : {false, true}) {
    schedule.on_device = split ? 0 : 1;
    schedule.split = split ? 0.5 : 0;
    const auto joules = pipeline::predicted_joules(*energies, costs, schedule, 0.3);
    if (joules && (std::isnan(*joules) || *joules < 0)) std::abort();
  }
}

}  // namespace

void kept(Bytes bytes) {
  [[maybe_unused]] static const bool quiet = (spdlog::set_level(spdlog::level::off), true);
  const MemoryFile file(bytes);
  read_energies(file.path());
  characterisation::remembered(device(), file.path());
  if (const auto values = opencl::TuningDatabase(file.path()).find(device(), "p", table());
      values && !opencl::is_possible(table(), *values))
    std::abort();
}

}  // namespace sightline::fuzz
