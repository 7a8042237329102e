#pragma once
/// Which stage runs on which processor, and how many frames are worked on at once.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.hpp"
#include "pipeline/runtime/devices.hpp"

namespace sightline::pipeline {

/// A mapping that can run: what the pipeline is told.
struct Schedule {
  std::string name = "cpu";  ///< of a named schedule, or "custom"
  StageSet on_device;        ///< the stages that run on a device; the others run on the CPU
  int in_flight = 0;         ///< frames at once (slots); 0: as many as suit the mapping
  /// Above 0, up to 1: frames are split. The devices do this part of each frame's partitionable stages, the
  /// CPU the rest at the same time; `on_device` is then empty.
  double split = 0;
  int tuned = 0;  ///< the processor's tunable (FrameProcessor::tunable); 0: the processor's own choice
  /// The devices that take part; none stands for all that there are. Frames are dealt out to them whole, each
  /// to the one that is expected to be done with it first; of split frames, each does its share.
  DeviceSet devices = {};
  /// By stage of `on_device`: 0, it runs on the device that the frame is dealt to; else always on the device
  /// of this number less one.
  std::array<std::uint8_t, kMostStages> pinned{};
  /// Relative share of each device in the devices' part of a split frame. Empty: equal shares.
  std::vector<double> shares = {};
  friend bool operator==(const Schedule&, const Schedule&) = default;

  bool uses_device() const { return on_device.any() || split > 0; }
};

/// User's request: with `--schedule`, `--map`, `--in-flight`, `--split`, or in section [schedule].
struct ScheduleRequest {
  std::string name;   ///< of a named schedule; empty: `auto` with a device, `cpu` without
  std::string map;    ///< "filter=gpu,classify=cpu": changes to the named one; also NAME=NUMBER of a tunable
  int in_flight = 0;  ///< 0: the schedule's own
  double split = 0;   ///< 0: the schedule's own
  std::string goal;   ///< of `auto`: throughput (also where empty), latency or energy
  std::string devices = {};  ///< as `--device` takes them; empty: auto
  std::string buffers = {};  ///< "auto", "copied" or "mapped"; empty: auto
};

/// Names of the schedules, in the order of presentation, without `auto`.
std::span<const std::string_view> schedule_names();

/// Fills what a request leaves open from section [schedule] of a configuration: name, map, in_flight, split,
/// goal, devices, buffers. Throws Error (usage).
void read_schedule(const Config& config, ScheduleRequest& request);

/// The named schedule for a processor and the machine, with all devices; not `auto`. Throws Error (usage)
/// where it needs a device and there is none, or where the processor or a device cannot do it, saying which
/// stage.
Schedule named_schedule(std::string_view name, const FrameProcessor& processor, const Devices& devices,
                        int threads);

/// The same, or a mapping by letters, one a stage: c for the CPU, g for the devices.
Schedule schedule_or_mapping(const std::string& name, const FrameProcessor& processor, const Devices& devices,
                             int threads);

/// The schedule of a request that is not `auto`, checked. Throws Error (usage).
Schedule resolve(const ScheduleRequest& request, const FrameProcessor& processor, const Devices& devices,
                 int threads);

/// Throws Error (usage) unless processor and devices can run it: the stage without an implementation is
/// named.
void check_schedule(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices);

/// The devices that frames are dealt out to, or that share a split one; none where all stages on devices are
/// pinned.
DeviceSet dealt_devices(const Schedule& schedule, std::size_t devices);
/// All that have a part in it: those, and the ones that stages are pinned to.
DeviceSet devices_of(const Schedule& schedule, std::size_t devices);

/// The stages that a device has a part in, of a frame that is dealt to `dealt`: those mapped to it or, where
/// frames are split, the partitionable ones.
StageSet device_stages(const Schedule& schedule, const FrameProcessor& processor, std::size_t device,
                       std::size_t dealt);

/// Each device's part of a split frame, by device, one after the other from the frame's first row on; those
/// that take no part have an empty one.
std::vector<Partition> device_partitions(const Schedule& schedule, std::size_t devices);

/// Schedule without a lost device: the others do its work or, where it was the last, the
/// CPU. The schedule must use it.
Schedule without_device(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices,
                        std::size_t gone);

/// Frames in flight that suit a mapping where none are asked for.
int default_in_flight(const Schedule& schedule, int threads, std::size_t devices = 1);

/// "pyramid=gpu filter=gpu histogram=gpu classify=cpu group=cpu", "split 0.70": what `--map` and `--split`
/// take. What is tuned comes next: "... early_stages=4", and last, where not all devices take part, which:
/// "... on 0+2".
std::string describe(const Schedule& schedule, const FrameProcessor& processor);

/// Consecutive stages on one processor: the unit in which a frame moves.
struct Segment {
  bool on_device = false;
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past
  int pinned = 0;        ///< as Schedule::pinned
};
std::vector<Segment> segments_of(const Schedule& schedule, std::size_t stages);

}  // namespace sightline::pipeline
