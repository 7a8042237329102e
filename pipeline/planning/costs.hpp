#pragma once
/// Costs of stages on each processor, and the rate and latency that follow for a schedule.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/runtime/schedule.hpp"

namespace sightline::pipeline {

/// One stage of one frame, with nothing else running. Seconds; negative: not known.
struct StageCost {
  double cpu = -1;      ///< from start to end on the CPU, with all threads
  double work = -1;     ///< core-seconds of it
  double device = -1;   ///< on the device
  double upload = 0;    ///< of what it reads, where the stage before it ran on the CPU
  double download = 0;  ///< of what it writes, where the stage after it runs on the CPU
};

/// All of a frame on a machine with one device, or none.
struct FrameCosts {
  std::vector<StageCost> stages;
  std::size_t partitionable = 0;  ///< see FrameProcessor::partitionable_stages
  int threads = 1;                ///< of the CPU
  /// Cores that the device takes from the CPU while it works: 0 for a GPU; a CPU device's own where it has
  /// cores to itself.
  int shared_cores = 0;
  int cores = 1;          ///< of the machine, where they are shared
  double decode = 0;      ///< seconds that the source needs for a frame; 0 where frames are in memory
  double turnaround = 0;  ///< seconds from handing a frame to the device to its first command, and back
};

/// The same by device, for any number of them: each with the CPU's columns, and one where there is no device.
class DeviceCosts {
 public:
  DeviceCosts() = default;
  DeviceCosts(FrameCosts one)
      : all_{std::move(one)} {}  // NOLINT(google-explicit-constructor): the usual case
  explicit DeviceCosts(std::vector<FrameCosts> all) : all_(std::move(all)) {}

  std::size_t size() const { return all_.size(); }
  const std::vector<FrameCosts>& all() const { return all_; }
  /// With the machine's and the CPU's figures.
  const FrameCosts& front() const { return all_.front(); }
  const FrameCosts& operator[](std::size_t device) const { return all_[device]; }
  FrameCosts& operator[](std::size_t device) { return all_[device]; }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::vector<FrameCosts> all_;
};

/// Whether the cost of every stage is known where the schedule runs it. Below, unknown ones count as nothing.
bool is_known(const DeviceCosts& costs, const Schedule& schedule);

/// How long one frame keeps a processor busy.
struct Load {
  std::string processor;
  double seconds = 0;
};

/// Load of each processor under a schedule: the CPU (core-seconds over threads), the device, its copies each
/// way, the decoder, and the shared cores; of several devices that frames are dealt out to, each gets as many
/// as its speed allows. Those that have nothing to do are left out.
std::vector<Load> loads_of(const DeviceCosts& costs, const Schedule& schedule);

/// The rate of the slowest processor, frames/s, and which one it is: no schedule with this mapping is faster.
struct Bound {
  double fps = 0;
  std::string processor;
};
Bound bound_of(const DeviceCosts& costs, const Schedule& schedule);

/// Seconds that one frame takes from admission to delivery when it is alone.
double latency_of(const DeviceCosts& costs, const Schedule& schedule);

/// The bound, or less where too few frames are in flight to hide the latency.
double predicted_fps(const DeviceCosts& costs, const Schedule& schedule);

/// Costs as they are now, where the CPU takes so many times as long as planned under the schedule that runs,
/// and the devices so many times. A processor that is slow is slow for all stages; one that is fast has less
/// to do in the stages that it runs, and nothing is known of the others: grouping, say, is quick on an empty
/// scene.
DeviceCosts costs_seen(const DeviceCosts& planned, const Schedule& running, double cpu, double device);

/// How a split frame is best shared out: each device and the CPU get so much of it that all are done at once.
/// Where several devices take part, they get what would not be worth the CPU's while.
/// @param devices  that take part; at least one
Schedule even_split(const DeviceCosts& costs, const DeviceSet& devices);

}  // namespace sightline::pipeline
