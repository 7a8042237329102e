#include "pipeline/session/schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "pipeline/session/keys.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::array<std::string_view, 5> kNames{"cpu", "gpu", "specialized", "overlap", "split"};
constexpr double kDefaultSplit = 0.5;
constexpr std::string_view kBatch = "batch";  // in a mapping

std::size_t stage_named(std::string_view name, const FrameProcessor& processor) {
  const auto stages = processor.stages();
  std::string known;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + std::string(stages[i].name);
  }
  throw Error(ExitCode::usage, "there is no stage '" + std::string(name) + "'", "the stages are " + known);
}

StageSet suited_stages(const FrameProcessor& processor) {
  StageSet suited;
  const auto stages = processor.stages();
  for (std::size_t i = 0; i < stages.size(); ++i) suited[i] = stages[i].suits_device;
  return suited;
}

// Value of "NAME=TEXT", from 1 to `largest`.
int number_of(std::string_view name, const std::string& text, int largest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > largest) {
    throw Error(ExitCode::usage,
                "'" + std::string(name) + "=" + text + "' in " + option("map") + " has no valid number",
                "use a whole number from 1 to " + std::to_string(largest));
  }
  return value;
}

// Number in "gpu1"; -1 if there is none.
int device_number(const std::string& where, std::size_t devices) {
  int number = -1;
  const char* const end = where.data() + where.size();
  const auto [stop, error] = std::from_chars(where.data() + 3, end, number);
  if (error != std::errc() || stop != end || number < 0) return -1;
  if (static_cast<std::size_t>(number) >= devices) {
    throw Error(ExitCode::usage, "there is no device '" + where + "': " + std::to_string(devices) + " in use",
                "name devices with --device, for example --device=0,1; gpu0 is the first of them"_message);
  }
  return number;
}

// Applies "filter=gpu,classify=cpu".
void apply_map(const std::string& map, const FrameProcessor& processor, std::size_t devices,
               Schedule& schedule) {
  std::string separated = map;  // spaces as `describe` has them will do as well
  std::replace(separated.begin(), separated.end(), ' ', ',');
  for (const std::string& item : split(separated, ',')) {
    if (item.empty()) continue;
    const std::size_t sign = item.find('=');
    const std::string where = sign == std::string::npos ? "" : item.substr(sign + 1);
    const Tunable* const tunable = processor.tunable();
    if (tunable && item.substr(0, sign) == tunable->name) {
      schedule.tuned = number_of(tunable->name, where, tunable->largest);
      continue;
    }
    if (item.substr(0, sign) == kBatch) {
      schedule.batch = number_of(kBatch, where, kMostInBatch);
      continue;
    }
    const int number = where.starts_with("gpu") && where.size() > 3 ? device_number(where, devices) : -1;
    if (where != "cpu" && where != "gpu" && where != "device" && number < 0) {
      throw Error(ExitCode::usage, "'" + item + "' is not a mapping of a stage",
                  "write STAGE=cpu or STAGE=gpu, separated by commas; gpu is the OpenCL device, and gpu0, "
                  "gpu1, ... are the first, the second, ... of --device"_message);
    }
    const std::size_t stage = stage_named(item.substr(0, sign), processor);
    schedule.on_device[stage] = where != "cpu";
    schedule.pinned[stage] = static_cast<std::uint8_t>(number + 1);
  }
  schedule.split = 0;
  schedule.name = "custom";
}

Error conflict_error(const MappingConflict& conflict, std::span<const StageInfo> stages) {
  using Kind = MappingConflict::Kind;
  const std::string name(stages[conflict.stage].name), other(stages[conflict.other].name);
  const std::string on_device = "stage '" + name + "' runs on the device only ";
  const std::string not_on_device = "stage '" + name + "' cannot run on the device ";
  switch (conflict.kind) {
    case Kind::input:
      return {
          ExitCode::usage, on_device + "after '" + other + "' has run there",
          "use " + option("map", other + "=gpu," + name + "=gpu") + " or " + option("map", name + "=cpu")};
    case Kind::output:
      return {ExitCode::usage, on_device + "where '" + other + "' does so too",
              "use --schedule=gpu or cpu"_message};
    case Kind::host:
      return {ExitCode::usage,
              not_on_device + "right after '" + other + "', whose objects pass through host memory",
              "use " + option("map", name + "=cpu")};
    case Kind::apart:
      break;
  }
  return {ExitCode::usage, not_on_device + "with '" + other + "' while a stage between them runs on the CPU",
          "use " + option("map", other + "=cpu," + name + "=cpu") +
              ", or run all stages between them on the device"};
}

}  // namespace

std::span<const std::string_view> schedule_names() {
  return kNames;
}

void read_schedule(const Config& config, ScheduleRequest& request) {
  const std::string name = keys::kName.read(config, "");
  const std::string map = keys::kMap.read(config, "");
  const auto in_flight = static_cast<int>(keys::kInFlight.read(config, 0));
  const int batch = keys::kBatch.read(config, 0);
  const double split = keys::kSplit.read(config, 0);
  const std::string goal = keys::kGoal.read(config, "");
  if (request.devices.empty()) request.devices = keys::kDevices.read(config, "");
  if (request.buffers.empty()) request.buffers = keys::kBuffers.read(config, "");
  // A request replaces the section's mapping as a whole, since its ratio for split frames or its goal would
  // contradict another schedule.
  const bool own_mapping = request.name.empty() && request.map.empty() && request.split == 0;
  if (own_mapping) {
    request.name = name;
    request.map = map;
  }
  if (own_mapping || (request.name == "split" && request.map.empty() && request.split == 0))
    request.split = split;
  if (request.in_flight == 0) request.in_flight = in_flight;
  if (request.batch == 0 && own_mapping) request.batch = batch;
  if (request.goal.empty() && (own_mapping || request.name == "auto")) request.goal = goal;
}

Schedule named_schedule(std::string_view name, const FrameProcessor& processor, const Devices& devices,
                        int threads) {
  Schedule schedule;
  schedule.name = name;
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    std::string known = "auto";
    for (const std::string_view one : kNames) known += ", " + std::string(one);
    throw Error(ExitCode::usage, "there is no schedule '" + std::string(name) + "'", "there are: " + known);
  }
  if (name != "cpu" && devices.empty()) {
    throw Error(ExitCode::usage, "schedule '" + schedule.name + "' needs an OpenCL device",
                "name one with --device (`sightline devices` lists them), or use --schedule=cpu"_message);
  }
  if (name == "gpu") schedule.on_device = devices.supported();
  if (name == "specialized" || name == "overlap") {
    schedule.on_device = suited_stages(processor) & devices.supported();
  }
  if (name == "specialized") schedule.in_flight = 1;
  if (name == "split") schedule.split = devices.size() > 1 ? 1 : kDefaultSplit;
  if (schedule.in_flight == 0) schedule.in_flight = default_in_flight(schedule, threads, devices.size());
  check_schedule(schedule, processor, devices);
  return schedule;
}

Schedule schedule_or_mapping(const std::string& name, const FrameProcessor& processor, const Devices& devices,
                             int threads) {
  const bool letters =
      name.size() == processor.stages().size() && name.find_first_not_of("cg") == std::string::npos;
  if (!letters) return named_schedule(name, processor, devices, threads);
  Schedule schedule;
  schedule.name = name;
  for (std::size_t i = 0; i < name.size(); ++i) schedule.on_device[i] = name[i] == 'g';
  schedule.in_flight = default_in_flight(schedule, threads, devices.size());
  check_schedule(schedule, processor, devices);
  return schedule;
}

Schedule resolve(const ScheduleRequest& request, const FrameProcessor& processor, const Devices& devices,
                 int threads) {
  const std::string name = !request.name.empty() ? request.name : request.split > 0 ? "split" : "cpu";
  Schedule schedule = named_schedule(name, processor, devices, threads);
  if (!request.map.empty()) {
    if (request.split > 0) {
      throw Error(ExitCode::usage, "--map and --split exclude each other"_message,
                  "use one of them: a split frame runs the same stages on the CPU and on devices");
    }
    apply_map(request.map, processor, devices.size(), schedule);
  }
  if (request.batch > 0) schedule.batch = request.batch;
  if (!request.map.empty() || (schedule.batch > 1 && name != "specialized"))
    schedule.in_flight = default_in_flight(schedule, threads, devices.size());
  if (request.split > 0) {
    if (name != "split") {
      throw Error(ExitCode::usage, "--split needs --schedule=split, not '"_message + name + "'");
    }
    schedule.split = request.split;
  }
  if (request.in_flight > 0) schedule.in_flight = request.in_flight;
  check_schedule(schedule, processor, devices);
  if (schedule.in_flight < schedule.batch) {
    throw Error(ExitCode::usage,
                "a batch of " + std::to_string(schedule.batch) + " needs as many frames in flight, not " +
                    std::to_string(schedule.in_flight),
                "use " + option("in_flight", std::min(2 * schedule.batch, kMostInFlight)));
  }
  return schedule;
}

void check_schedule(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices) {
  // Several devices may have all of a frame; with one, that would be no split.
  const bool all = schedule.split == 1 && dealt_devices(schedule, devices.size()).count() > 1;
  if (!(schedule.split >= 0 && schedule.split < 1) && !all) {
    throw Error(ExitCode::usage,
                "a device cannot have " + std::to_string(schedule.split) + " of each frame's work",
                "use a --split between 0 and 1"_message);
  }
  const Tunable* const tunable = processor.tunable();
  if (schedule.tuned < 0 || schedule.tuned > (tunable ? tunable->largest : 0)) {
    throw Error(ExitCode::usage,
                "no stage can be tuned to " + std::to_string(schedule.tuned) + " by a schedule",
                "leave it out");
  }
  if (schedule.batch < 1 || schedule.batch > kMostInBatch) {
    throw Error(ExitCode::usage, "the batch is out of range: " + std::to_string(schedule.batch),
                "use 1 to " + std::to_string(kMostInBatch));
  }
  if (schedule.batch > 1 && (!schedule.uses_device() || schedule.split > 0)) {
    throw Error(ExitCode::usage, "schedule '" + schedule.name + "' gives no device whole frames to batch",
                "leave --batch out, or use --schedule=gpu"_message);
  }
  if (!schedule.uses_device()) return;
  if (devices.empty()) {
    throw Error(ExitCode::usage, "the mapping has stages on an OpenCL device, and there is none in use",
                "name one with --device; `sightline devices` lists them"_message);
  }
  if (schedule.split > 0 && processor.partitionable_stages() == 0)
    throw Error(ExitCode::usage, "the detector cannot search a frame in parts", "use another schedule");
  const DeviceSet used = devices_of(schedule, devices.size());
  if (used.none() || (used & ~devices.all()).any() || schedule.shares.size() > devices.size())
    throw Error(ExitCode::usage, "the mapping names devices that are not in use",
                "name them with --device"_message);
  if (schedule.batch > 1) check_batch(schedule.batch, devices, used);
  const DeviceSet dealt = dealt_devices(schedule, devices.size());
  const auto stages = processor.stages();
  for (std::size_t device = 0; device < devices.size(); ++device) {
    if (!used[device]) continue;
    // Stages of a frame that is assigned to the device; else only the stages pinned to it.
    const std::size_t to = dealt[device] ? device : devices.size();
    const StageSet supported = devices[device].supported();
    const StageSet wanted = device_stages(schedule, processor, device, to);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (!wanted[i] || supported[i]) continue;
      throw Error(ExitCode::usage,
                  "stage '" + std::string(stages[i].name) + "' cannot run on an OpenCL device",
                  "leave it on the CPU: " + option("map", std::string(stages[i].name) + "=cpu"));
    }
    if (const auto conflict = devices[device].check(wanted)) throw conflict_error(*conflict, stages);
  }
}

void check_batch(int batch, const Devices& devices, const DeviceSet& used) {
  std::size_t most = 1;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (used[i]) most = std::max(most, devices[i].most_together());
  if (static_cast<std::size_t>(batch) <= most) return;
  if (devices.empty()) {
    throw Error(ExitCode::usage, "batches need an OpenCL device, and there is none in use",
                "name one with --device (`sightline devices` lists them), or leave --batch out"_message);
  }
  if (most == 1) {
    throw Error(ExitCode::usage, "the detector gains nothing from several frames in one submission",
                "leave --batch out"_message);
  }
  throw Error(ExitCode::usage,
              "the detector gains nothing from more than " + std::to_string(most) +
                  " frames in one submission, and the batch is " + std::to_string(batch),
              "use " + option("batch", most));
}

int usable_batch(int wanted, const Schedule& schedule, const Devices& devices) {
  if (!schedule.uses_device() || schedule.split > 0) return 1;
  const DeviceSet used = devices_of(schedule, devices.size());
  std::size_t most = 1;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (used[i]) most = std::max(most, devices[i].most_together());
  return std::clamp(wanted, 1, static_cast<int>(std::min<std::size_t>(most, kMostInBatch)));
}

DeviceSet dealt_devices(const Schedule& schedule, std::size_t devices) {
  bool dealt = schedule.split > 0;
  for (std::size_t i = 0; i < kMostStages; ++i)
    dealt = dealt || (schedule.on_device[i] && schedule.pinned[i] == 0);
  if (!dealt) return {};
  return schedule.devices.any() ? schedule.devices : DeviceSet((1UL << devices) - 1);
}

DeviceSet devices_of(const Schedule& schedule, std::size_t devices) {
  DeviceSet all = dealt_devices(schedule, devices);
  for (std::size_t i = 0; i < kMostStages; ++i) {
    if (schedule.on_device[i] && schedule.pinned[i] > 0) all.set(schedule.pinned[i] - 1U);
  }
  return all;
}

StageSet device_stages(const Schedule& schedule, const FrameProcessor& processor, std::size_t device,
                       std::size_t dealt) {
  StageSet stages;
  for (std::size_t i = 0; i < kMostStages; ++i) {
    const bool here = schedule.pinned[i] == 0 ? dealt == device : schedule.pinned[i] == device + 1;
    stages[i] = schedule.on_device[i] && here;
  }
  for (std::size_t i = 0; schedule.split > 0 && i < processor.partitionable_stages(); ++i) stages.set(i);
  return stages;
}

std::vector<Partition> device_partitions(const Schedule& schedule, std::size_t devices) {
  const DeviceSet used = dealt_devices(schedule, devices);
  std::vector<double> shares(devices, 0.0);
  double all = 0;
  for (std::size_t i = 0; i < devices; ++i) {
    if (used[i] && i < schedule.shares.size()) shares[i] = std::max(schedule.shares[i], 0.0);
    all += shares[i];
  }
  for (std::size_t i = 0; all <= 0 && i < devices; ++i) shares[i] = used[i] ? 1.0 : 0.0;
  all = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<Partition> partitions;
  double before = 0;
  for (std::size_t i = 0; i < devices; ++i) {
    const double begin = schedule.split * before / all;
    before += shares[i];
    partitions.push_back({begin, schedule.split * before / all});
  }
  return partitions;
}

Schedule without_device(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices,
                        std::size_t gone) {
  Schedule left = schedule;
  const Schedule none{"cpu", {}, 0, 0, schedule.tuned};
  for (std::size_t i = 0; i < kMostStages; ++i) {
    if (left.pinned[i] == gone + 1) left.on_device[i] = false;
  }
  DeviceSet dealt = dealt_devices(left, devices.size());
  dealt.reset(gone);
  left.devices = dealt;
  if (gone < left.shares.size()) left.shares[gone] = 0;
  if (dealt.none()) {  // only pinned stages are left for devices
    left.split = 0;
    for (std::size_t i = 0; i < kMostStages; ++i) left.on_device[i] = left.on_device[i] && left.pinned[i] > 0;
  }
  if (!left.uses_device()) return none;
  left.batch = usable_batch(left.batch, left, devices);
  try {
    check_schedule(left, processor, devices);
  } catch (const Error&) {
    return none;  // the rest is no valid schedule
  }
  return left;
}

int default_in_flight(const Schedule& schedule, int threads, std::size_t devices) {
  // One frame a thread keeps the threads busy where a stage has fewer bands than threads; one more covers
  // decoding. With a device, one frame is on it, one queued behind, one on the CPU, one on its way in or out.
  if (!schedule.uses_device()) return std::clamp(threads + 1, 2, 8);
  if (schedule.split > 0) return 2;
  const int many = std::max(1, static_cast<int>(dealt_devices(schedule, devices).count()));
  return std::min(std::max(4, 2 * schedule.batch) * many, kMostInFlight);
}

std::string describe(const Schedule& schedule, const FrameProcessor& processor) {
  std::string tuned =
      schedule.tuned > 0 ? " " + std::string(processor.tunable()->name) + "=" + std::to_string(schedule.tuned)
                         : "";
  if (schedule.batch > 1) tuned += " " + std::string(kBatch) + "=" + std::to_string(schedule.batch);
  std::string which;
  for (std::size_t i = 0; i < kMostDevices; ++i) {
    if (schedule.devices[i]) which += (which.empty() ? " on " : "+") + std::to_string(i);
  }
  if (schedule.split > 0) {
    std::ostringstream text;
    text.precision(2);
    text << std::fixed << "split " << schedule.split;
    for (std::size_t i = 0; i < schedule.shares.size(); ++i)
      text << (i == 0 ? " (" : " : ") << schedule.shares[i] << (i + 1 == schedule.shares.size() ? ")" : "");
    return text.str() + tuned + which;
  }
  std::string text;
  const auto stages = processor.stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::string(stages[i].name) + (schedule.on_device[i] ? "=gpu" : "=cpu");
    if (schedule.on_device[i] && schedule.pinned[i] > 0) text += std::to_string(schedule.pinned[i] - 1);
  }
  return text + tuned + which;
}

std::vector<Segment> segments_of(const Schedule& schedule, std::size_t stages) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < stages; ++i) {
    const int pinned = schedule.on_device[i] ? schedule.pinned[i] : 0;
    if (segments.empty() || segments.back().on_device != schedule.on_device[i] ||
        segments.back().pinned != pinned)
      segments.push_back({schedule.on_device[i], i, i, pinned});
    segments.back().last = i + 1;
  }
  return segments;
}

}  // namespace sightline::pipeline
