#pragma once
/// Which stage runs on which processor, and how many frames are worked on at once.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.hpp"
#include "processing/device_stages.hpp"

namespace sightline::pipeline {

/// A mapping that can run: what the pipeline is told.
struct Schedule {
  std::string name = "cpu";  ///< of a named schedule, or "custom"
  StageSet on_device;        ///< the stages that run on the device; the others run on the CPU
  int in_flight = 0;         ///< frames at once (slots); 0: as many as suit the mapping
  /// Above 0: frames are split. The device does this part of each frame's partitionable stages, the CPU the
  /// rest at the same time; `on_device` is then empty.
  double split = 0;
  int tuned = 0;  ///< the processor's tunable (FrameProcessor::tunable); 0: the processor's own choice
  friend bool operator==(const Schedule&, const Schedule&) = default;

  bool uses_device() const { return on_device.any() || split > 0; }
};

/// What somebody asked for: with `--schedule`, `--map`, `--in-flight`, `--split`, or in section [schedule].
struct ScheduleRequest {
  std::string name;   ///< of a named schedule; empty: `auto` with a device, `cpu` without
  std::string map;    ///< "filter=gpu,classify=cpu": changes to the named one; also NAME=NUMBER of a tunable
  int in_flight = 0;  ///< 0: the schedule's own
  double split = 0;   ///< 0: the schedule's own
  std::string goal;   ///< of `auto`: throughput (also where empty), latency or energy
};

/// Names of the schedules, in the order of presentation, without `auto`.
std::span<const std::string_view> schedule_names();

/// Fills what a request leaves open from section [schedule] of a configuration: name, map, in_flight, split,
/// goal. Throws Error (usage).
void read_schedule(const Config& config, ScheduleRequest& request);

/// the named schedule for a processor and the machine; not `auto`. Throws Error (usage) where it needs a
/// device and `device` is null, or where the processor or the device cannot do it, saying which stage.
Schedule named_schedule(std::string_view name, const FrameProcessor& processor, const DeviceStages* device,
                        int threads);

/// The schedule of a request that is not `auto`, checked. Throws Error (usage).
Schedule resolve(const ScheduleRequest& request, const FrameProcessor& processor, const DeviceStages* device,
                 int threads);

/// Throws Error (usage) unless processor and device can run it: the stage without an implementation is named.
void check_schedule(const Schedule& schedule, const FrameProcessor& processor, const DeviceStages* device);

/// The stages that the device has a part in: those mapped to it or, where frames are split, the partitionable
/// ones.
StageSet device_stages(const Schedule& schedule, const FrameProcessor& processor);

/// Frames in flight that suit a mapping where none are asked for.
int default_in_flight(const Schedule& schedule, int threads);

/// "pyramid=gpu filter=gpu histogram=gpu classify=cpu group=cpu", "split 0.70": what `--map` and `--split`
/// take. What is tuned comes last: "... early_stages=4".
std::string describe(const Schedule& schedule, const FrameProcessor& processor);

/// Consecutive stages on one processor: the unit in which a frame moves.
struct Segment {
  bool on_device = false;
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past
};
std::vector<Segment> segments_of(const Schedule& schedule, std::size_t stages);

}  // namespace sightline::pipeline
