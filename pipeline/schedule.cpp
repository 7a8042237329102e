#include "pipeline/schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "base/error.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::array<std::string_view, 5> kNames{"cpu", "gpu", "specialized", "overlap", "split"};
constexpr double kDefaultSplit = 0.5;

std::size_t stage_named(std::string_view name, const FrameProcessor& processor) {
  const auto stages = processor.stages();
  std::string known;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + std::string(stages[i].name);
  }
  throw Error(ExitCode::usage, "there is no stage '" + std::string(name) + "'", "its stages are " + known);
}

StageSet suited_stages(const FrameProcessor& processor) {
  StageSet suited;
  const auto stages = processor.stages();
  for (std::size_t i = 0; i < stages.size(); ++i) suited[i] = stages[i].suits_device;
  return suited;
}

int tuned_value(const std::string& text, const Tunable& tunable) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > tunable.largest) {
    throw Error(ExitCode::usage, "'" + std::string(tunable.name) + "=" + text + "' is out of range",
                "give a number from 1 to " + std::to_string(tunable.largest));
  }
  return value;
}

// Applies "filter=gpu,classify=cpu".
void apply_map(const std::string& map, const FrameProcessor& processor, Schedule& schedule) {
  std::string separated = map;  // spaces as `describe` has them will do as well
  std::replace(separated.begin(), separated.end(), ' ', ',');
  std::istringstream items(separated);
  std::string item;
  while (std::getline(items, item, ',')) {
    if (item.empty()) continue;
    const std::size_t sign = item.find('=');
    const std::string where = sign == std::string::npos ? "" : item.substr(sign + 1);
    const Tunable* const tunable = processor.tunable();
    if (tunable && item.substr(0, sign) == tunable->name) {
      schedule.tuned = tuned_value(where, *tunable);
      continue;
    }
    if (where != "cpu" && where != "gpu" && where != "device") {
      throw Error(ExitCode::usage, "'" + item + "' is not a mapping of a stage",
                  "write STAGE=cpu or STAGE=gpu, separated by commas; gpu stands for the OpenCL device, "
                  "whatever it is");
    }
    schedule.on_device[stage_named(item.substr(0, sign), processor)] = where != "cpu";
  }
  schedule.split = 0;
  schedule.name = "custom";
}

}  // namespace

std::span<const std::string_view> schedule_names() {
  return kNames;
}

void read_schedule(const Config& config, ScheduleRequest& request) {
  const std::string section = "schedule";
  const std::string name = config.text(section, "name", "");
  const std::string map = config.text(section, "map", "");
  const auto in_flight = static_cast<int>(config.number(section, "in_flight", 0, 0, 64));
  const double split = config.number(section, "split", 0, 0, 0.99);
  const std::string goal = config.text(section, "goal", "");
  // What was asked for elsewhere replaces the section's mapping as a whole: a ratio for split frames, say,
  // would contradict another schedule.
  const bool own_mapping = request.name.empty() && request.map.empty() && request.split == 0;
  if (own_mapping) {
    request.name = name;
    request.map = map;
  }
  if (own_mapping || (request.name == "split" && request.map.empty() && request.split == 0))
    request.split = split;
  if (request.in_flight == 0) request.in_flight = in_flight;
  if (request.goal.empty()) request.goal = goal;
}

Schedule named_schedule(std::string_view name, const FrameProcessor& processor, const DeviceStages* device,
                        int threads) {
  Schedule schedule;
  schedule.name = name;
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    std::string known = "auto";
    for (const std::string_view one : kNames) known += ", " + std::string(one);
    throw Error(ExitCode::usage, "there is no schedule '" + std::string(name) + "'", "there are: " + known);
  }
  if (name != "cpu" && !device) {
    throw Error(ExitCode::usage, "schedule '" + schedule.name + "' needs an OpenCL device",
                "name one with --device (`sightline devices` lists them), or use --schedule cpu");
  }
  if (name == "gpu") schedule.on_device = device->supported();
  if (name == "specialized" || name == "overlap") {
    schedule.on_device = suited_stages(processor) & device->supported();
  }
  if (name == "specialized") schedule.in_flight = 1;
  if (name == "split") schedule.split = kDefaultSplit;
  if (schedule.in_flight == 0) schedule.in_flight = default_in_flight(schedule, threads);
  check_schedule(schedule, processor, device);
  return schedule;
}

Schedule resolve(const ScheduleRequest& request, const FrameProcessor& processor, const DeviceStages* device,
                 int threads) {
  const std::string name = !request.name.empty() ? request.name : request.split > 0 ? "split" : "cpu";
  Schedule schedule = named_schedule(name, processor, device, threads);
  if (!request.map.empty()) {
    if (request.split > 0) {
      throw Error(ExitCode::usage, "--map and --split exclude each other",
                  "a split frame has its partitionable stages on both processors");
    }
    apply_map(request.map, processor, schedule);
    schedule.in_flight = default_in_flight(schedule, threads);
  }
  if (request.split > 0) {
    if (name != "split") {
      throw Error(ExitCode::usage, "--split is for --schedule split, not for '" + name + "'");
    }
    schedule.split = request.split;
  }
  if (request.in_flight > 0) schedule.in_flight = request.in_flight;
  check_schedule(schedule, processor, device);
  return schedule;
}

void check_schedule(const Schedule& schedule, const FrameProcessor& processor, const DeviceStages* device) {
  if (!(schedule.split >= 0 && schedule.split < 1)) {
    throw Error(ExitCode::usage,
                "a device cannot have " + std::to_string(schedule.split) + " of each frame's work",
                "give --split a number between 0 and 1");
  }
  const Tunable* const tunable = processor.tunable();
  if (schedule.tuned < 0 || schedule.tuned > (tunable ? tunable->largest : 0)) {
    throw Error(ExitCode::usage, "it cannot be tuned to " + std::to_string(schedule.tuned) + " by a schedule",
                "leave it out");
  }
  if (!schedule.uses_device()) return;
  if (!device) {
    throw Error(ExitCode::usage, "the mapping has stages on an OpenCL device, and there is none in use",
                "name one with --device; `sightline devices` lists them");
  }
  const auto stages = processor.stages();
  const StageSet supported = device->supported();
  const StageSet wanted = device_stages(schedule, processor);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (wanted[i] && !supported[i]) {
      throw Error(ExitCode::usage,
                  "stage '" + std::string(stages[i].name) + "' cannot run on an OpenCL device",
                  "leave it on the CPU: --map " + std::string(stages[i].name) + "=cpu");
    }
  }
  if (schedule.split > 0 && processor.partitionable_stages() == 0) {
    throw Error(ExitCode::usage, "this processor cannot split frames", "use another schedule");
  }
  device->check(wanted);
}

StageSet device_stages(const Schedule& schedule, const FrameProcessor& processor) {
  StageSet stages = schedule.on_device;
  for (std::size_t i = 0; schedule.split > 0 && i < processor.partitionable_stages(); ++i) stages.set(i);
  return stages;
}

int default_in_flight(const Schedule& schedule, int threads) {
  // One frame a thread keeps the threads busy where a stage has fewer bands than threads; one more covers
  // decoding. With a device, one frame is on it, one queued behind, one on the CPU, one on its way in or out.
  if (!schedule.uses_device()) return std::clamp(threads + 1, 2, 8);
  return schedule.split > 0 ? 2 : 4;
}

std::string describe(const Schedule& schedule, const FrameProcessor& processor) {
  const std::string tuned =
      schedule.tuned > 0 ? " " + std::string(processor.tunable()->name) + "=" + std::to_string(schedule.tuned)
                         : "";
  if (schedule.split > 0) {
    std::ostringstream text;
    text.precision(2);
    text << std::fixed << "split " << schedule.split << tuned;
    return text.str();
  }
  std::string text;
  const auto stages = processor.stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::string(stages[i].name) + (schedule.on_device[i] ? "=gpu" : "=cpu");
  }
  return text + tuned;
}

std::vector<Segment> segments_of(const Schedule& schedule, std::size_t stages) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < stages; ++i) {
    if (segments.empty() || segments.back().on_device != schedule.on_device[i]) {
      segments.push_back({schedule.on_device[i], i, i});
    }
    segments.back().last = i + 1;
  }
  return segments;
}

}  // namespace sightline::pipeline
