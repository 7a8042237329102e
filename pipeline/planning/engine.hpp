#pragma once
/// A frame processor with its devices, and a pipeline that runs it as the user asks: what commands and other
/// front ends share.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "opencl/device.hpp"
#include "pipeline/planning/controller.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/session/pipeline.hpp"
#include "pipeline/session/schedule.hpp"
#include "pipeline/session/sources.hpp"
#include "processing/device_stages.hpp"

namespace sightline::pipeline {

/// Frames of a source that schedule `auto` measures with.
inline constexpr int kPlanFrames = 4;
/// Frames of a run that are worth measuring for: to search fewer is quicker.
inline constexpr std::int64_t kFramesWorthPlanning = 200;

/// The devices that a request names; the best ones where it names none. Throws as opencl::choose_devices.
std::vector<opencl::ChosenDevice> choose_devices(const ScheduleRequest& request);

/// Use of devices that are all CPUs, in a run without a requested schedule.
enum class CpuDevices {
  used,
  left_out,  ///< the CPU's own code is faster: no kernels are built
};
/// Choice for a complete request: CPUs are left out if it names no schedule, mapping or goal.
CpuDevices cpu_devices_for(const ScheduleRequest& request);

/// The processor's stages on the devices that a request names; none where the CPU does all. A device that the
/// request names and that does not work is an Error (device); one that was chosen automatically is left out
/// with a warning.
std::vector<std::unique_ptr<DeviceStages>> make_devices(const ScheduleRequest& request,
                                                        const FrameProcessor& processor,
                                                        CpuDevices cpus = CpuDevices::used);

/// A frame processor, its stages on devices, and how they are to be run. Movable; references to the processor
/// stay valid. Thread-safety: the functions change nothing.
struct Engine {
  std::unique_ptr<const FrameProcessor> processor;
  std::vector<std::unique_ptr<DeviceStages>> device_stages;  ///< by device; empty: the CPU alone
  ScheduleRequest schedule;
  std::optional<TileOptions> tiles = {};  ///< Stream::tiles of its runs, which plans are made for
  int threads = 0;                        ///< of the CPU; 0: all
  bool explain = false;  ///< the user wants to know why a schedule was chosen: then it is `auto`

  Devices devices() const;
  /// Whether the schedule is to be found by measuring.
  bool is_auto() const;
  /// The schedule to begin with; with `auto`, until one is planned. Throws Error (usage), also for a goal
  /// that no `auto` would follow.
  Schedule resolve() const;
  /// Options of plans, without meters and known copy times, for runs of unknown length. Throws Error (usage)
  /// for an unknown goal.
  PlanOptions plan_options() const;
};

/// What a front end adds to an engine's plans.
struct PlanHooks {
  /// Adds meters (PlanOptions::energy, measure_energies) and known copy times; may be empty.
  std::function<void(PlanOptions&, int threads)> complete;
  /// Tells the user about a plan that was made or remembered; may be empty.
  std::function<void(const Planned&)> explain;
  /// Tells the user what decoding costs, where the schedule is not planned; may be empty.
  std::function<void(const std::vector<DecoderCost>&)> explain_decoding;
};

/// The pipeline of an engine: its schedule is planned where that is asked for, and kept by a controller.
/// Thread-safety: as Pipeline; `plan` and `plan_if_worthwhile` not during a run.
class EnginePipeline {
 public:
  /// Throws Error (usage) if the schedule cannot be run, for a quality objective if there is only one
  /// operating point, and as Controller.
  /// @param engine  must outlive the object
  /// @param first   the schedule until one is planned: Engine::resolve, or derived from it
  EnginePipeline(const Engine& engine, const Schedule& first, ControllerOptions controller = {},
                 PlanHooks hooks = {});

  Pipeline& pipeline() { return pipeline_; }
  const Pipeline& pipeline() const { return pipeline_; }
  Controller& controller() { return controller_; }
  const Controller& controller() const { return controller_; }

  /// Sets the input whose decoding plans count from now on; at first, frames are in memory.
  void set_decoding(InputDecoding decoding) { decoding_ = std::move(decoding); }
  /// Plans schedule `auto` with some frames of a source without a known end, and sets it. Plans are made, and
  /// remembered, for the operating point that the processor is configured with. Throws Error (usage).
  /// @param stop  ends the measuring early, with what is known by then
  Planned plan(const std::vector<Frame>& frames, const std::atomic<bool>& stop);
  /// Plans for a run over a source, where that is worth its time, and has the controller keep the plan: where
  /// the user asks for schedule auto or a goal, or the source has as many frames as that, or does not know.
  /// Else the schedule is that of a plan which is remembered, or all stages run on the device, if there is
  /// one. Throws Error (usage).
  /// @param samples        frames of the source, all of one size; may be empty
  /// @param frames         of the source; none: unknown
  /// @param enough_frames  that are worth planning for
  void plan_if_worthwhile(const std::vector<Frame>& samples, std::optional<std::int64_t> frames,
                          std::int64_t enough_frames, const std::atomic<bool>& stop);
  void plan_if_worthwhile(const PeekedSource& source, std::int64_t enough_frames,
                          const std::atomic<bool>& stop) {
    plan_if_worthwhile(source.peeked(), source.frames(), enough_frames, stop);
  }

  /// The options of a run that the controller watches.
  RunOptions watched(RunOptions options);
  /// Runs streams as Pipeline::run, watched by the controller.
  std::vector<RunReport> run(std::span<const Stream> streams, RunOptions options) {
    return pipeline_.run(streams, watched(std::move(options)));
  }
  RunReport run(const Stream& stream, RunOptions options) {
    return std::move(run({&stream, 1}, std::move(options)).front());
  }

 private:
  /// The parts of a frame that are searched, of one size: its tiles, if there are any.
  std::vector<Frame> searched(const std::vector<Frame>& frames) const;
  Planned plan_with(const std::vector<Frame>& searched, std::optional<std::int64_t> searches_to_come,
                    const std::atomic<bool>& stop);
  std::optional<Planned> planned_for(const std::vector<Frame>& samples, std::optional<std::int64_t> frames,
                                     std::int64_t enough_frames, const std::atomic<bool>& stop);
  void take_unplanned(const std::vector<Frame>& frames, std::int64_t frames_to_come);
  PlanOptions plan_options(std::optional<std::int64_t> frames_to_come) const;

  const Engine& engine_;
  const PlanHooks hooks_;
  Pipeline pipeline_;
  Controller controller_;
  InputDecoding decoding_;
};

}  // namespace sightline::pipeline
