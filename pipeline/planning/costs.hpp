#pragma once
/// Costs of stages on each processor, and the rate and latency that they predict for a schedule.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/session/schedule.hpp"

namespace sightline::pipeline {

/// Costs of one stage of one frame, measured in isolation. Seconds; negative: unknown.
struct StageCost {
  double cpu = -1;      ///< from start to end on the CPU, with all threads
  double work = -1;     ///< core-seconds on the CPU
  double device = -1;   ///< on the device
  double upload = 0;    ///< upload of its input, if the stage before it ran on the CPU
  double download = 0;  ///< download of its output, if the stage after it runs on the CPU
};

/// Cost of the stage `decode` on one processor, measured with one decoder and nothing else.
struct DecoderCost {
  std::string processor;  ///< "CPU", or the device as in `--decoder`: "cuda:0"
  double seconds = 0;     ///< per frame of one decoder
  double work = 0;        ///< core-seconds on the CPU per frame
  double joules = -1;     ///< per frame above idle; negative: unknown
  int count = 1;          ///< decoders that work side by side, at most

  /// Rate of all of them in frames/s; 0 if the seconds are unknown.
  double fps() const { return seconds > 0 ? count / seconds : 0; }
};

/// Costs of a frame on a machine with at most one device.
struct FrameCosts {
  std::vector<StageCost> stages;
  std::size_t partitionable = 0;  ///< see FrameProcessor::partitionable_stages
  int threads = 1;                ///< threads of the CPU
  /// Cores that the device takes from the CPU while it works: 0 for a GPU; for a CPU device, the cores of its
  /// own.
  int shared_cores = 0;
  int cores = 1;  ///< cores of the machine, if they are shared; at least `threads` count
  /// Decoders of the input: those of a device, of the CPU, or both in this order; empty: frames in memory.
  std::vector<DecoderCost> decode;
  double turnaround = 0;  ///< seconds from submission to the first command on the device, and back
};

/// FrameCosts by device, each with the CPU's costs; one entry if there is no device.
class DeviceCosts {
 public:
  DeviceCosts() = default;
  DeviceCosts(FrameCosts one)
      : all_{std::move(one)} {}  // NOLINT(google-explicit-constructor): the usual case
  explicit DeviceCosts(std::vector<FrameCosts> all) : all_(std::move(all)) {}

  std::size_t size() const { return all_.size(); }
  const std::vector<FrameCosts>& all() const { return all_; }
  /// Entry with the machine's and the CPU's costs.
  const FrameCosts& front() const { return all_.front(); }
  const FrameCosts& operator[](std::size_t device) const { return all_[device]; }
  FrameCosts& operator[](std::size_t device) { return all_[device]; }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::vector<FrameCosts> all_;
};

/// Whether the costs of all stages are known where the schedule runs them. Unknown ones count as 0 below.
bool is_known(const DeviceCosts& costs, const Schedule& schedule);

/// Time for which one frame keeps a processor busy.
struct Load {
  std::string processor;
  double seconds = 0;
};

/// Load of each processor under a schedule: the decoders, the CPU (core-seconds over threads, or with those
/// of decoding over cores), the device, its copies each way, and the shared cores. Frames are dealt to
/// several devices by their speed, and to decoders of a device and the CPU so that the busiest one is the
/// least busy. Idle processors are left out.
std::vector<Load> loads_of(const DeviceCosts& costs, const Schedule& schedule);

/// Rate of the slowest processor in frames/s, which no schedule with this mapping exceeds, and its name.
struct Bound {
  double fps = 0;
  std::string processor;
};
Bound bound_of(const DeviceCosts& costs, const Schedule& schedule);

/// Seconds from admission to delivery of a frame, with one frame in flight.
double latency_of(const DeviceCosts& costs, const Schedule& schedule);

/// Predicted rate: the bound, or less if too few frames are in flight to hide the latency. Several decoders
/// have at least two frames in flight each.
double predicted_fps(const DeviceCosts& costs, const Schedule& schedule);

/// Predicted rate with decoding of a schedule that reaches `fps` with frames in memory.
double fps_with_decoding(const DeviceCosts& costs, const Schedule& schedule, double fps);
/// Joules above idle of decoding a frame; 0 if they are unknown.
double decoding_joules(const DeviceCosts& costs, const Schedule& schedule);
/// The same costs for frames in memory.
DeviceCosts without_decoding(DeviceCosts costs);

/// Present costs, if the CPU and the devices take `cpu` and `device` times as long as planned under the
/// running schedule. A slow processor is taken as slow for all stages. A fast one has less work in its own
/// stages only: grouping, say, is quick on an empty scene.
DeviceCosts costs_seen(const DeviceCosts& planned, const Schedule& running, double cpu, double device);

/// Split of a frame after which the devices and the CPU finish at the same time. With several devices, they
/// also get a part that is too small for the CPU.
/// @param devices  devices that take part; at least one
Schedule even_split(const DeviceCosts& costs, const DeviceSet& devices);

}  // namespace sightline::pipeline
