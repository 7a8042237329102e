#pragma once
/// Runs schedules on one input and compares them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/measurement/measurement.hpp"
#include "pipeline/measurement/meter.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

struct MeasureOptions {
  /// Names, `auto` among them or not; or mappings: a letter a stage, g for the device and c for the CPU.
  std::vector<std::string> schedules;
  int repeats = 3;          ///< of each schedule, in turn
  std::int64_t frames = 0;  ///< a repeat; 0: what takes about `seconds`
  double seconds = 1.5;
  int threads = 0;    ///< of the CPU; 0: all
  int in_flight = 0;  ///< for all schedules; 0: each one's own
  int batch = 0;      ///< for all schedules with whole frames on a device; 0: 1, and `auto` finds its own
  double split = 0;   ///< of schedule `split`; 0: the ratio at which both are done at once
  int timeline_frames = 40;
  PlanOptions plan;  ///< of `auto`
  /// For a video file, whose rate with decoding is compared with that of frames in memory; both are empty for
  /// other inputs.
  InputDecoding decoding;
  /// Searches at most `frames` frames from the file's beginning, decoded as `detect` decodes them.
  std::function<RunReport(Pipeline& pipeline, std::int64_t frames)> run_decoding;
  MeterOptions meters;
  std::function<void(const std::string&)> progress;  ///< receives a line per step; may be empty
  const std::atomic<bool>* stop = nullptr;           ///< may be null
};

/// Frames from the source's first on, `count` of them; called for every repeat.
using SourceMaker = std::function<std::unique_ptr<FrameSource>(std::int64_t count)>;

/// Schedules in turn, `repeats` times, so that a change of the machine's mood hits all of them alike. The
/// frames while slots fill and drain are left out. Bounds come from stage times measured with one frame at a
/// time. Every schedule must find the same objects, or it is an Error (failed). Throws Error (usage) for
/// unknown schedules, and Error (failed) where a frame or a device fails, or `stop` was set.
///
/// The fastest one also runs with frames in memory and with decoding (MeasureOptions::run_decoding).
///
/// Fills all of the measurement that the pipeline knows: not input, program, machine.
/// @param frames  some of the source, of one size, for calibrating
/// @param decode  whether the source decodes; else its frames are in memory
Measurement measure(const FrameProcessor& processor, const Devices& devices, const std::vector<Frame>& frames,
                    const SourceMaker& make_source, bool decode, const MeasureOptions& options);

}  // namespace sightline::pipeline
