#pragma once
/// Runs each stage of a frame processor by itself, on each processor that can, and counts time and energy.

#include <atomic>
#include <functional>

#include "frame/frame.hpp"
#include "pipeline/measurement/meter.hpp"
#include "pipeline/measurement/stage_measurement.hpp"
#include "pipeline/planning/planner.hpp"

namespace sightline::pipeline {

struct MeasureStagesOptions {
  double seconds = 10;  ///< of each row where there is a meter, in `repeats` windows; else at most one
  int repeats = 3;
  int threads = 0;                     ///< of the CPU; 0: all
  std::vector<std::string> schedules;  ///< whole ones to be measured beside; empty: none
  bool exhaustive = false;             ///< all mappings of the stages as well
  double mapping_seconds = 0;          ///< of each of these; 0: as `seconds`
  MeterOptions meters;
  std::function<void(const std::string&)> progress;  ///< receives a line per step; may be empty
  const std::atomic<bool>* stop = nullptr;           ///< may be null
};

/// Idle power, each stage and copy alone, idle power again, then whole schedules, all on one frame in memory.
/// Every stage must leave the same result alone as in a run, and every schedule the same objects. Throws
/// Error (usage) for an unknown schedule, Error (input) where the frame is too small, Error (failed) where
/// something fails, finds something else, or `stop` was set, and as meters do.
///
/// Fills all that the pipeline knows: not input, variant, program, machine.
StageMeasurement measure_stages(const FrameProcessor& processor, const Devices& devices, const Frame& frame,
                                const MeasureStagesOptions& options);

/// Has a plan for the goal energy counted by meters, which measure the stages' energy, too. Does nothing for
/// other goals. Throws as Energy does.
/// @param options  of plan_schedule; processor and devices must outlive them
void count_energy(PlanOptions& options, const FrameProcessor& processor, const Devices& devices, int threads,
                  const MeterOptions& meters = {});

}  // namespace sightline::pipeline
