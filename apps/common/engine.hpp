#pragma once
/// A detector, or another frame processor, that is ready to run, as the command line and the configuration
/// ask for it.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detection/detector.hpp"
#include "opencl/device.hpp"
#include "pipeline/planning/controller.hpp"
#include "pipeline/runtime/schedule.hpp"
#include "pipeline/runtime/sources.hpp"
#include "processing/device_stages.hpp"

namespace sightline::apps {

/// Frames of the source that schedule `auto` measures with.
inline constexpr int kPlanFrames = 4;

/// A frame processor, its stages on the devices that were asked for, and how the user wants them to be run.
struct ProcessorEngine {
  std::vector<std::unique_ptr<DeviceStages>> device_stages;  ///< by device; none: the CPU alone
  pipeline::ScheduleRequest schedule;                        ///< of the command line and the configuration
  pipeline::QualityRequest quality;                          ///< likewise
  int threads = 0;                                           ///< 0: all
  bool explain = false;                                      ///< print what `auto` weighed

  ProcessorEngine() = default;
  ProcessorEngine(ProcessorEngine&&) = default;
  ProcessorEngine& operator=(ProcessorEngine&&) = default;
  virtual ~ProcessorEngine() = default;
  virtual const FrameProcessor& processor() const = 0;

  pipeline::Devices devices() const;
  /// Whether the schedule is to be found by measuring.
  bool is_auto() const;
  /// The schedule to begin with; with `auto`, until one is planned. Throws Error (usage), also for a goal
  /// that no `auto` would follow.
  pipeline::Schedule resolve() const;
  /// Throws Error (usage) where `auto` is asked for what cannot be had here: before a run replaces anybody's
  /// files.
  void check_goal() const;
  /// Plans schedule `auto` with some frames of the source, sets it, and tells the user. Plans are made, and
  /// remembered, for the setting that the processor is configured with. Throws Error (usage).
  /// @param frames_to_come  of the run, where that is known: see PlanOptions
  /// @param stop            ends the measuring early, with what is known by then
  pipeline::Planned plan(pipeline::Pipeline& pipeline, const std::vector<Frame>& frames,
                         std::optional<std::int64_t> frames_to_come, const std::atomic<bool>& stop) const;
  /// The same for a run over a source, where that is worth its time: where the user asks for schedule auto or
  /// a goal, or the source has as many frames as that, or does not know. Else the schedule is that of a plan
  /// which is remembered, or all stages run on the device, if there is one.
  /// None where nothing was planned. Throws Error (usage).
  std::optional<pipeline::Planned> plan_if_worthwhile(pipeline::Pipeline& pipeline,
                                                      const pipeline::PeekedSource& source,
                                                      std::int64_t enough_frames,
                                                      const std::atomic<bool>& stop) const;
  /// Takes a schedule without measuring, for a run that is too short for it.
  void take_unplanned(pipeline::Pipeline& pipeline, const std::vector<Frame>& frames,
                      std::int64_t frames_to_come) const;
};

/// A detector that is ready to run.
struct Engine : ProcessorEngine {
  std::unique_ptr<Detector> detector;
  std::set<std::filesystem::path> files;  ///< files that the results depend on (Config::files)

  const FrameProcessor& processor() const override { return *detector; }
};

/// The devices that a schedule asks for. Throws as opencl::choose_devices does.
std::vector<opencl::ChosenDevice> choose_devices(const pipeline::ScheduleRequest& schedule);

/// Use of devices that are all CPUs, in a run without a requested schedule.
enum class CpuDevices {
  used,
  left_out,  ///< the CPU's own code is faster: no kernels are built
};
/// Choice for a complete request: CPUs are left out if it names no schedule, mapping or goal.
CpuDevices cpu_devices_for(const pipeline::ScheduleRequest& schedule);

/// The processor's stages on the devices that a schedule asks for; none where the CPU does all. A device that
/// the user named and that does not work is an Error (device); one that was chosen automatically is left out
/// with a warning.
std::vector<std::unique_ptr<DeviceStages>> make_devices(const pipeline::ScheduleRequest& schedule,
                                                        const FrameProcessor& processor,
                                                        CpuDevices cpus = CpuDevices::used);

/// Controller of the engine's pipeline; both must outlive it. Throws Error (usage) for a quality objective if
/// there is only one setting, and as Controller does.
/// @param source_rate  see ControllerOptions
std::unique_ptr<pipeline::Controller> make_controller(const ProcessorEngine& engine,
                                                      pipeline::Pipeline& pipeline,
                                                      std::function<double()> source_rate = {});

/// Tells the user in a line what runs: threads and schedule. Details, such as the build, are logged as debug.
void describe_engine(const ProcessorEngine& engine, const pipeline::Pipeline& pipeline);
/// The same, and what is searched for.
void describe_engine(const Engine& engine, const pipeline::Pipeline& pipeline);

}  // namespace sightline::apps
