#include "apps/measure/measured_schedules.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

// Every mapping of the stages: one letter a stage, g for the device and c for the CPU.
std::vector<std::string> every_mapping(const pipeline::Engine& engine) {
  constexpr std::size_t kMost = 12;
  const std::size_t count = engine.processor->stages().size();
  if (count > kMost) {
    throw Error(ExitCode::usage, fmt::format("{} stages have too many mappings to measure them all", count),
                "name schedules, or measure one detector");
  }
  const pipeline::Devices devices = engine.devices();
  const StageSet supported = devices.supported();
  std::vector<std::string> names;
  for (std::uint32_t bits = 0; bits < 1U << count; ++bits) {
    const StageSet mapping(bits);
    if ((mapping & ~supported).any()) continue;
    const auto refuses = [&](const DeviceStages* device) { return device->check(mapping).has_value(); };
    if (mapping.any() && std::ranges::any_of(devices, refuses)) continue;
    std::string name;
    for (std::size_t i = 0; i < count; ++i) name += mapping[i] ? 'g' : 'c';
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> named_mappings() {
  std::vector<std::string> names;
  for (const std::string_view name : pipeline::schedule_names()) {
    if (name != "split") names.emplace_back(name);
  }
  return names;
}

// Nobody has asked for each of them: those that the processor or its devices cannot run are named, and left
// out.
void leave_out_impossible(std::vector<std::string>& names, const pipeline::Engine& engine) {
  const int threads = engine.threads > 0 ? engine.threads : hardware_threads();
  std::erase_if(names, [&](const std::string& name) {
    if (name == "auto") return false;
    try {
      pipeline::schedule_or_mapping(name, *engine.processor, engine.devices(), threads);
      return false;
    } catch (const Error& e) {
      spdlog::info("schedule {} is left out: {}", name, e.what());
      return true;
    }
  });
}

}  // namespace

std::vector<std::string> measured_schedules(const std::string& text, const pipeline::Engine& engine,
                                            MeasuredOf measured) {
  if (text == "all" || text == "every") {
    if (engine.device_stages.empty()) return {"cpu"};
    std::vector<std::string> names = text == "all" ? named_mappings() : every_mapping(engine);
    if (measured == MeasuredOf::frames) names.insert(names.end(), {"split", "auto"});
    leave_out_impossible(names, engine);
    return names;
  }
  std::vector<std::string> names = split(text, ',');
  if (names.empty())
    throw Error(ExitCode::usage, "--schedules names no schedule", "write --schedules all, or names");
  return names;
}

}  // namespace sightline::apps
