#include "pipeline/planning/engine.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "opencl/error.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::pipeline {
std::vector<opencl::ChosenDevice> choose_devices(const ScheduleRequest& request) {
  std::vector<opencl::ChosenDevice> chosen =
      opencl::choose_devices(opencl::parse_device_choices(request.devices.empty() ? "auto" : request.devices),
                             opencl::list_devices());
  const opencl::BufferUse buffers = opencl::parse_buffer_use(request.buffers);
  for (opencl::ChosenDevice& device : chosen) device.buffers = buffers;
  return chosen;
}

namespace {

bool are_cpus(const std::vector<opencl::ChosenDevice>& devices) {
  return !devices.empty() && std::ranges::all_of(devices, [](const opencl::ChosenDevice& one) {
    return one.device.type == opencl::DeviceType::cpu;
  });
}

}  // namespace

CpuDevices cpu_devices_for(const ScheduleRequest& request) {
  const bool is_asked =
      !request.name.empty() || !request.map.empty() || request.split > 0 || !request.goal.empty();
  return is_asked ? CpuDevices::used : CpuDevices::left_out;
}

std::vector<std::unique_ptr<DeviceStages>> make_devices(const ScheduleRequest& request,
                                                        const FrameProcessor& processor, CpuDevices cpus) {
  const auto choices = opencl::parse_device_choices(request.devices.empty() ? "auto" : request.devices);
  const std::string& what = choices.front().what;
  if (what == "none" || (request.name == "cpu" && request.map.empty())) return {};
  if (const std::string& cpu_only = processor.info().cpu_only; !cpu_only.empty()) {
    const bool named = !request.name.empty() && request.name != "auto" && request.name != "cpu";
    if (what != "auto" || named || !request.map.empty() || request.split > 0)
      throw Error(ExitCode::usage, cpu_only, "use --device=none and --schedule=cpu"_message);
    return {};
  }
  const bool optional = what == "auto" || what == "all" || what == "gpus";
  const std::vector<opencl::ChosenDevice> chosen = choose_devices(request);
  if (cpus == CpuDevices::left_out && are_cpus(chosen)) {
    logger().info(
        "OpenCL device '{}' is a CPU, whose own code is faster: no stage runs on the device; use --schedule "
        "auto or gpu to force it",
        chosen.front().device.name);
    return {};
  }
  std::vector<std::unique_ptr<DeviceStages>> all;
  for (const opencl::ChosenDevice& device : chosen) {
    try {
      auto stages = make_device_stages(processor, device);
      if (!stages) continue;
      logger().info("OpenCL device {}: {}, driver {} ({})", device.device.index, stages->device().name(),
                    device.device.driver_version, device.why);
      all.push_back(std::move(stages));
    } catch (const opencl::DeviceError& e) {
      if (!optional) throw Error(ExitCode::device, e.message()).about(e.fields().object);
      logger().warn("{}. {}", e.what(),
                    what == "auto" ? "The stages run on the CPU instead" : "The device is skipped");
    }
  }
  return all;
}

Devices Engine::devices() const {
  std::vector<const DeviceStages*> all;
  for (const auto& one : device_stages) all.push_back(one.get());
  return Devices(all);
}

bool Engine::is_auto() const {
  const bool nothing_asked = schedule.name.empty() && schedule.map.empty() && schedule.split == 0;
  return schedule.name == "auto" ||
         (nothing_asked && (!device_stages.empty() || explain || !schedule.goal.empty()));
}

Schedule Engine::resolve() const {
  ScheduleRequest request = schedule;
  if (is_auto()) {
    if (schedule.batch > 1) check_batch(schedule.batch, devices(), devices().all());
    request.name = "cpu";
    request.batch = 0;
  } else if (!schedule.goal.empty()) {
    throw Error(ExitCode::usage,
                "the goal " + schedule.goal +
                    " does nothing: only schedule auto has a goal, and another schedule is requested",
                "leave the goal out, or use --schedule=auto"_message);
  }
  return pipeline::resolve(request, *processor, devices(), threads > 0 ? threads : hardware_threads());
}

PlanOptions Engine::plan_options() const {
  PlanOptions options;
  options.goal = parse_goal(schedule.goal);
  options.in_flight = schedule.in_flight;
  options.batch = schedule.batch;
  options.file = default_plan_file();
  options.energy_file = default_energy_file();
  return options;
}

EnginePipeline::EnginePipeline(const Engine& engine, const Schedule& first, ControllerOptions controller,
                               PlanHooks hooks)
    : engine_(engine),
      hooks_(std::move(hooks)),
      pipeline_(*engine.processor, engine.devices(), first, {engine.threads}),
      controller_(pipeline_, *engine.processor, engine.devices(), std::move(controller)) {}

PlanOptions EnginePipeline::plan_options(std::optional<std::int64_t> frames_to_come) const {
  PlanOptions options = engine_.plan_options();
  options.frames_to_come = frames_to_come;
  options.decoding = decoding_;
  return options;
}

std::vector<Frame> EnginePipeline::searched(const std::vector<Frame>& frames) const {
  if (!engine_.tiles || frames.empty()) return frames;
  const TileLayout layout(frames.front().size(), *engine_.tiles);
  std::vector<Frame> tiles;
  for (std::size_t i = layout.count() > 1; i < layout.count() && tiles.size() < kPlanFrames; ++i)
    tiles.push_back(part_of(frames.front(), layout.place(i)));
  return tiles;
}

Planned EnginePipeline::plan(const std::vector<Frame>& frames, const std::atomic<bool>& stop) {
  return plan_with(searched(frames), std::nullopt, stop);
}

Planned EnginePipeline::plan_with(const std::vector<Frame>& frames,
                                  std::optional<std::int64_t> frames_to_come, const std::atomic<bool>& stop) {
  PlanOptions options = plan_options(frames_to_come);
  options.stop = &stop;
  if (hooks_.complete) hooks_.complete(options, pipeline_.threads());
  const FrameProcessor& processor = *engine_.processor;
  const std::size_t setting = pipeline_.setting();
  pipeline_.set_setting(processor.configured_setting());
  Planned planned = plan_schedule(pipeline_, processor, engine_.devices(), frames, options);
  pipeline_.set_setting(setting);
  logger().info("auto: {}, {} in flight{}", describe(planned.schedule, processor),
                counted(planned.schedule.in_flight, "frame"), planned.remembered ? " (remembered)" : "");
  if (hooks_.explain) hooks_.explain(planned);
  return planned;
}

void EnginePipeline::plan_if_worthwhile(const std::vector<Frame>& samples, std::optional<std::int64_t> frames,
                                        std::int64_t enough_frames, const std::atomic<bool>& stop) {
  if (engine_.tiles && frames && !samples.empty())
    *frames *= static_cast<std::int64_t>(TileLayout(samples.front().size(), *engine_.tiles).count());
  controller_.follow_plan(planned_for(searched(samples), frames, enough_frames, stop));
}

std::optional<Planned> EnginePipeline::planned_for(const std::vector<Frame>& samples,
                                                   std::optional<std::int64_t> frames,
                                                   std::int64_t enough_frames,
                                                   const std::atomic<bool>& stop) {
  if (!engine_.is_auto()) {
    if (engine_.explain && hooks_.explain_decoding)
      hooks_.explain_decoding(measure_decoders(plan_options(frames)));
    return std::nullopt;
  }
  const bool asked = engine_.schedule.name == "auto" || !engine_.schedule.goal.empty();
  if (!asked && frames && *frames < enough_frames) {
    take_unplanned(samples, *frames);
    return std::nullopt;
  }
  if (samples.empty()) return std::nullopt;
  // Who asks for a plan gets a whole one, however short the run.
  return plan_with(samples, asked ? std::nullopt : frames, stop);
}

// Takes a schedule without measuring, for a run that is too short for it.
void EnginePipeline::take_unplanned(const std::vector<Frame>& frames, std::int64_t frames_to_come) {
  const Devices devices = engine_.devices();
  if (!frames.empty()) {
    const auto known =
        recall_schedule(pipeline_, *engine_.processor, devices, frames.front(), plan_options(frames_to_come));
    if (known && hooks_.explain) hooks_.explain(*known);
    if (known) return;
  }
  Schedule taken =
      named_schedule(devices.empty() ? "cpu" : "gpu", *engine_.processor, devices, pipeline_.threads());
  if (engine_.schedule.batch > 1) {
    taken.batch = usable_batch(engine_.schedule.batch, taken, devices);
    taken.in_flight = default_in_flight(taken, pipeline_.threads(), devices.size());
  }
  if (engine_.schedule.in_flight > 0) taken.in_flight = engine_.schedule.in_flight;
  pipeline_.set_schedule(taken);
  logger().info(
      "auto: {} are too few to measure schedules; all stages run on the {}; --schedule auto measures all the "
      "same",
      counted(frames_to_come, "frame"), devices.empty() ? "CPU" : "device");
}

RunOptions EnginePipeline::watched(RunOptions options) {
  if (controller_.is_active()) options.traces.push_back(&controller_);
  return options;
}

}  // namespace sightline::pipeline
