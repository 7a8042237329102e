#pragma once
/// Results of `sightline measure`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "image/view.hpp"
#include "opencl/kernel_resources.hpp"
#include "pipeline/planning/costs.hpp"
#include "pipeline/session/trace.hpp"
#include "processing/frame_processor.hpp"
#include "processing/opencl/kernel_sweep.hpp"

namespace sightline::pipeline {

/// A frame of a FrameTrace that outlives the run.
struct TracedFrame {
  std::int64_t frame = 0;
  int slot = 0;
  std::vector<Span> spans;
};

struct StageResult {
  std::string name;       ///< "decode", a stage of the processor, "upload", "download" or "output"
  std::string processor;  ///< "CPU", or the device's name
  double seconds = 0;     ///< a frame, mean: from start to end of the stage; of a copy: on the device
  double alone = 0;       ///< the same with nothing else running (one frame at a time)
};

struct ProcessorResult {
  std::string name;
  double utilisation = 0;  ///< share of the run that it was busy, 0..1; of a CPU: of all its threads
  double bound_fps = 0;    ///< rate that it alone would allow
};

/// Resources of the kernels that ran on a device.
struct DeviceKernels {
  std::string device;  ///< its name, as in the schedules' processors
  std::vector<opencl::KernelResources> kernels;
};

/// One schedule on one input.
struct ScheduleResult {
  std::string schedule;  ///< its name
  std::string mapping;   ///< "pyramid=gpu filter=gpu histogram=gpu classify=cpu group=cpu"
  int in_flight = 1;
  int batch = 1;     ///< Schedule::batch
  double split = 0;  ///< share of the device where frames are split, else 0
  std::int64_t frames = 0;
  std::vector<double> fps;  ///< of each repeat
  double fps_median = 0, fps_lowest = 0, fps_highest = 0;
  double latency_p50 = 0, latency_p95 = 0, latency_p99 = 0;  ///< seconds from admission to delivery
  std::vector<StageResult> stages;
  std::vector<ProcessorResult> processors;
  double overlap_factor = 0;  ///< sum of the busy times of all stages and copies over wall time
  /// [a][b]: share of the run in which stages[a] and stages[b] were both at work (of different frames or
  /// shares); [a][a]: share in which stages[a] was.
  std::vector<std::vector<double>> overlap;
  double bound_fps = 0;    ///< rate of the slowest processor under this mapping, from times measured alone
  std::string bound_by;    ///< that processor
  double bound_share = 0;  ///< fps_median / bound_fps
  std::int64_t peak_memory_bytes = 0;
  std::optional<double> joules_per_frame;
  std::vector<double> megahertz;  ///< clock of what each meter sees, at the end of the last run; 0: not known
  std::vector<TracedFrame> timeline;  ///< some dozens of consecutive frames
};

/// The fastest schedule with frames in memory, and with decoding as `detect` reads the input.
struct DecodingResult {
  std::string schedule;
  double fps_in_memory = 0, fps = 0;               ///< medians of the repeats
  std::optional<double> joules_in_memory, joules;  ///< per frame; none without a meter
  std::vector<DecoderCost> decoders;               ///< of the stage `decode`
};

struct Measurement {
  std::string input;
  Size frame_size;
  bool decoding = false;        ///< frames were decoded during the run; else they were held in memory
  std::string model;            ///< processor's description
  std::string variant;          ///< which of the model's sizes ("25 filters"); empty where there is one
  std::string kernels;          ///< form of the device's kernels, where one was asked for
  std::vector<WorkCount> work;  ///< of the first frame
  std::string program;          ///< version and instruction set
  std::string machine;          ///< CPU's name and number of threads in use, device and driver
  std::string meter;            ///< energy meter; empty: "no meter"
  std::string meter_note;       ///< why there is none, or what it covers
  TraceInfo trace_info;
  std::vector<ScheduleResult> schedules;
  std::optional<DecodingResult> with_decoding;  ///< none unless the input is a video file
  std::vector<KernelSweep> sweeps;              ///< of the kernels' settings, where these were asked for
  std::vector<DeviceKernels> kernel_resources;  ///< where these were asked for
  /// Accuracy from a stored evaluation, for people; empty where there is none.
  std::string accuracy;
};

}  // namespace sightline::pipeline
