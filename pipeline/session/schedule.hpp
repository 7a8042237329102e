#pragma once
/// Schedule: mapping of stages to processors, and numbers of frames in flight and in one submission.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "params/config.hpp"
#include "pipeline/session/devices.hpp"

namespace sightline::pipeline {

/// A schedule that the pipeline can run.
struct Schedule {
  std::string name = "cpu";  ///< name of a named schedule, or "custom"
  StageSet on_device;        ///< the stages that run on a device; the others run on the CPU
  int in_flight = 0;         ///< frames in flight (slots); 0: default_in_flight
  /// Devices' share of each split frame, above 0, at most 1; 0: frames are not split. The devices run this
  /// part of the partitionable stages, and the CPU runs the remaining part at the same time. `on_device` is
  /// empty if frames are split.
  double split = 0;
  int tuned = 0;  ///< the processor's tunable (FrameProcessor::tunable); 0: the processor's own choice
  /// Devices in use; empty set: all. Each whole frame is assigned to the device that is expected to finish it
  /// first; of a split frame, each device runs its share.
  DeviceSet devices = {};
  /// Device number plus 1 of each stage of `on_device`; 0: the device that the frame is assigned to.
  std::array<std::uint8_t, kMostStages> pinned{};
  /// Relative share of each device in the devices' part of a split frame. Empty: equal shares.
  std::vector<double> shares = {};
  /// Maximum number of frames in one submission (DeviceStages::submit); 1: each frame by itself. A device
  /// takes at most DeviceStages::most_together() frames, and never waits for more while it is idle.
  int batch = 1;
  friend bool operator==(const Schedule&, const Schedule&) = default;

  bool uses_device() const { return on_device.any() || split > 0; }
};

/// Largest Schedule::in_flight and Schedule::batch.
inline constexpr int kMostInFlight = 64;
inline constexpr int kMostInBatch = 64;

/// User's request, from `--schedule`, `--map`, `--in-flight`, `--batch`, `--split`, or section [schedule].
struct ScheduleRequest {
  std::string name;          ///< a named schedule or `auto`; empty: see `resolve`
  std::string map;           ///< changes to it: "filter=gpu,classify=cpu"; NAME=NUMBER sets a tunable
  int in_flight = 0;         ///< 0: the schedule's own
  double split = 0;          ///< 0: the schedule's own
  std::string goal;          ///< goal of `auto`: throughput (default), latency or energy
  std::string devices = {};  ///< list for `--device`; empty: auto
  std::string buffers = {};  ///< "auto", "copied" or "mapped"; empty: auto
  int batch = 0;             ///< 0: the schedule's own
};

/// Names of the schedules in display order, without `auto`.
std::span<const std::string_view> schedule_names();

/// Fills the unset members of a request from section [schedule] of a configuration: name, map, in_flight,
/// split, goal, devices, buffers, batch. A requested schedule, mapping or split replaces the section's
/// mapping as a whole. Throws Error (usage).
void read_schedule(const Config& config, ScheduleRequest& request);

/// Named schedule, except `auto`, for a processor with all devices. Throws Error (usage), naming the stage,
/// if the processor or a device cannot run it, or if it needs a device and there is none.
Schedule named_schedule(std::string_view name, const FrameProcessor& processor, const Devices& devices,
                        int threads);

/// Like named_schedule, but also accepts a mapping with one letter per stage: c for the CPU, g for the
/// devices ("ggcc").
Schedule schedule_or_mapping(const std::string& name, const FrameProcessor& processor, const Devices& devices,
                             int threads);

/// Schedule of a request, checked; not for `auto`. An empty name means `split` if the request has a split,
/// else `cpu`; callers decide before whether it means `auto` (ProcessorEngine::is_auto). Throws Error
/// (usage).
Schedule resolve(const ScheduleRequest& request, const FrameProcessor& processor, const Devices& devices,
                 int threads);

/// Throws Error (usage), naming the stage without an implementation, unless the processor and the devices can
/// run the schedule.
void check_schedule(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices);

/// Throws Error (usage) unless at least one of the used devices takes batches of this size.
void check_batch(int batch, const Devices& devices, const DeviceSet& used);

/// Largest batch, at most `wanted`, that one of the schedule's devices takes; 1: none takes several frames.
int usable_batch(int wanted, const Schedule& schedule, const Devices& devices);

/// Devices that frames are assigned (dealt) to, or that share a split frame; none if all stages on devices
/// are pinned. `devices` is the number of devices in use, here and below.
DeviceSet dealt_devices(const Schedule& schedule, std::size_t devices);
/// All devices that the schedule uses: dealt_devices and those that stages are pinned to.
DeviceSet devices_of(const Schedule& schedule, std::size_t devices);

/// Stages that `device` runs for a frame that is assigned to device `dealt`: those mapped to it or, if frames
/// are split, the partitionable ones.
StageSet device_stages(const Schedule& schedule, const FrameProcessor& processor, std::size_t device,
                       std::size_t dealt);

/// Partition of a split frame for each device, in device order from the first row on. Devices that the
/// schedule does not use get an empty partition.
std::vector<Partition> device_partitions(const Schedule& schedule, std::size_t devices);

/// Schedule without the lost device `gone`: the other devices take over its work or, if it was the last, the
/// CPU does. The schedule must use it.
Schedule without_device(const Schedule& schedule, const FrameProcessor& processor, const Devices& devices,
                        std::size_t gone);

/// Default number of frames in flight for a mapping: with a batch, enough for two of them on each device.
int default_in_flight(const Schedule& schedule, int threads, std::size_t devices = 1);

/// Schedule as text: "pyramid=gpu filter=gpu histogram=gpu classify=cpu group=cpu" or "split 0.70", with
/// values for `--map` and `--split`. The tunable follows ("... early_stages=4"), then the batch, if there is
/// one ("... batch=8"), and then the devices, if not all are used ("... on 0+2").
std::string describe(const Schedule& schedule, const FrameProcessor& processor);

/// Consecutive stages on one processor; a frame moves through the pipeline segment by segment.
struct Segment {
  bool on_device = false;
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past
  int pinned = 0;        ///< see Schedule::pinned
};
std::vector<Segment> segments_of(const Schedule& schedule, std::size_t stages);

}  // namespace sightline::pipeline
