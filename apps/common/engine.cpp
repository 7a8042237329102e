#include "apps/common/engine.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

#include "apps/common/device_knowledge.hpp"
#include "apps/common/quality_options.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "opencl/error.hpp"
#include "pipeline/measurement/battery.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/measurement/measure_stages.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::apps {

std::vector<opencl::ChosenDevice> choose_devices(const pipeline::ScheduleRequest& schedule) {
  std::vector<opencl::ChosenDevice> chosen = opencl::choose_devices(
      opencl::parse_device_choices(schedule.devices.empty() ? "auto" : schedule.devices),
      opencl::list_devices());
  const opencl::BufferUse buffers = opencl::parse_buffer_use(schedule.buffers);
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

CpuDevices cpu_devices_for(const pipeline::ScheduleRequest& schedule) {
  const bool is_asked =
      !schedule.name.empty() || !schedule.map.empty() || schedule.split > 0 || !schedule.goal.empty();
  return is_asked ? CpuDevices::used : CpuDevices::left_out;
}

std::vector<std::unique_ptr<DeviceStages>> make_devices(const pipeline::ScheduleRequest& schedule,
                                                        const FrameProcessor& processor, CpuDevices cpus) {
  const auto choices = opencl::parse_device_choices(schedule.devices.empty() ? "auto" : schedule.devices);
  const std::string& what = choices.front().what;
  if (what == "none" || (schedule.name == "cpu" && schedule.map.empty())) return {};
  if (const std::string& cpu_only = processor.info().cpu_only; !cpu_only.empty()) {
    const bool named = !schedule.name.empty() && schedule.name != "auto" && schedule.name != "cpu";
    if (what != "auto" || named || !schedule.map.empty() || schedule.split > 0)
      throw Error(ExitCode::usage, cpu_only, "use --device none and --schedule cpu");
    return {};
  }
  const bool optional = what == "auto" || what == "all" || what == "gpus";
  const std::vector<opencl::ChosenDevice> chosen = choose_devices(schedule);
  if (cpus == CpuDevices::left_out && are_cpus(chosen)) {
    spdlog::info(
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
      spdlog::info("OpenCL device {}: {}, driver {} ({})", device.device.index, stages->device().name(),
                   device.device.driver_version, device.why);
      all.push_back(std::move(stages));
    } catch (const opencl::DeviceError& e) {
      if (!optional) throw Error(ExitCode::device, e.message()).about(e.fields().object);
      spdlog::warn("{}. {}", e.what(),
                   what == "auto" ? "The stages run on the CPU instead" : "The device is skipped");
    }
  }
  return all;
}

pipeline::Devices ProcessorEngine::devices() const {
  std::vector<const DeviceStages*> all;
  for (const auto& one : device_stages) all.push_back(one.get());
  return pipeline::Devices(all);
}

bool ProcessorEngine::is_auto() const {
  const bool nothing_asked = schedule.name.empty() && schedule.map.empty() && schedule.split == 0;
  return schedule.name == "auto" ||
         (nothing_asked && (!device_stages.empty() || explain || !schedule.goal.empty()));
}

pipeline::Schedule ProcessorEngine::resolve() const {
  pipeline::ScheduleRequest request = schedule;
  if (is_auto()) {
    if (schedule.batch > 1) pipeline::check_batch(schedule.batch, devices(), devices().all());
    request.name = "cpu";
    request.batch = 0;
  } else if (!schedule.goal.empty()) {
    throw Error(ExitCode::usage,
                "the goal " + schedule.goal +
                    " does nothing: only schedule auto has a goal, and another schedule is requested",
                "leave the goal out, or use --schedule auto");
  }
  return pipeline::resolve(request, processor(), devices(), threads > 0 ? threads : hardware_threads());
}

void ProcessorEngine::check_goal() const {
  if (!is_auto()) return;
  pipeline::PlanOptions options;
  options.goal = pipeline::parse_goal(schedule.goal);
  pipeline::count_energy(options, processor(), devices(), threads);
  pipeline::check_goal(options.goal, options.energy.get());
}

namespace {

pipeline::PlanOptions plan_options(const pipeline::ScheduleRequest& schedule,
                                   std::optional<std::int64_t> frames_to_come) {
  pipeline::PlanOptions options;
  options.frames_to_come = frames_to_come;
  options.goal = pipeline::parse_goal(schedule.goal);
  options.in_flight = schedule.in_flight;
  options.batch = schedule.batch;
  options.file = pipeline::default_plan_file();
  return options;
}

void explain_to_user(const pipeline::Planned& planned, const ProcessorEngine& engine) {
  const std::string text =
      pipeline::explain(planned, engine.processor()) +
      pipeline::draw_graph(planned.schedule, engine.processor(), engine.devices()) +
      known_text(engine.device_stages);
  std::fputs(printable(text, kLineEndsAndTabs).c_str(), stderr);
}

}  // namespace

pipeline::Planned ProcessorEngine::plan(pipeline::Pipeline& pipeline, const std::vector<Frame>& frames,
                                        std::optional<std::int64_t> frames_to_come,
                                        const std::atomic<bool>& stop) const {
  pipeline::PlanOptions options = plan_options(schedule, frames_to_come);
  options.energy_file = pipeline::default_energy_file();
  options.transfers = [this] { return known_transfers(device_stages); };
  options.stop = &stop;
  pipeline::count_energy(options, processor(), devices(), pipeline.threads());
  const std::size_t setting = pipeline.setting();
  pipeline.set_setting(processor().configured_setting());
  pipeline::Planned planned = pipeline::plan_schedule(pipeline, processor(), devices(), frames, options);
  pipeline.set_setting(setting);
  spdlog::info("auto: {}, {} in flight{}", pipeline::describe(planned.schedule, processor()),
               counted(planned.schedule.in_flight, "frame"), planned.remembered ? " (remembered)" : "");
  if (explain) {
    explain_to_user(planned, *this);
  } else if (planned.objective.energies && !planned.objective.energies->sees_all()) {
    std::string remark = pipeline::energy_remark(planned);
    remark.pop_back();
    spdlog::info("{}", remark);
  }
  return planned;
}

std::optional<pipeline::Planned> ProcessorEngine::plan_if_worthwhile(pipeline::Pipeline& pipeline,
                                                                     const pipeline::PeekedSource& source,
                                                                     std::int64_t enough_frames,
                                                                     const std::atomic<bool>& stop) const {
  if (!is_auto()) return std::nullopt;
  const std::optional<std::int64_t> frames = source.frames();
  const bool asked = schedule.name == "auto" || !schedule.goal.empty();
  const std::vector<Frame> peeked = source.peeked();
  if (!asked && frames && *frames < enough_frames) {
    take_unplanned(pipeline, peeked, *frames);
    return std::nullopt;
  }
  if (peeked.empty()) return std::nullopt;
  // Who asks for a plan gets a whole one, however short the run.
  return plan(pipeline, peeked, asked ? std::nullopt : frames, stop);
}

void ProcessorEngine::take_unplanned(pipeline::Pipeline& pipeline, const std::vector<Frame>& frames,
                                     std::int64_t frames_to_come) const {
  if (!frames.empty()) {
    const auto known = pipeline::recall_schedule(pipeline, processor(), devices(), frames.front(),
                                                 plan_options(schedule, frames_to_come));
    if (known && explain) explain_to_user(*known, *this);
    if (known) return;
  }
  const bool on_device = !device_stages.empty();
  pipeline::Schedule taken =
      pipeline::named_schedule(on_device ? "gpu" : "cpu", processor(), devices(), pipeline.threads());
  if (schedule.batch > 1) {
    taken.batch = pipeline::usable_batch(schedule.batch, taken, devices());
    taken.in_flight = pipeline::default_in_flight(taken, pipeline.threads(), devices().size());
  }
  if (schedule.in_flight > 0) taken.in_flight = schedule.in_flight;
  pipeline.set_schedule(taken);
  spdlog::info(
      "auto: {} are too few to measure schedules; all stages run on the {}; --schedule auto measures all the "
      "same",
      counted(frames_to_come, "frame"), on_device ? "device" : "CPU");
}

std::unique_ptr<pipeline::Controller> make_controller(const ProcessorEngine& engine,
                                                      pipeline::Pipeline& pipeline,
                                                      std::function<double()> source_rate) {
  using enum pipeline::QualityObjective::Kind;
  pipeline::ControllerOptions options;
  options.quality = objective_of(engine.quality);
  if (options.quality.kind != none && engine.processor().operating_points().size() < 2)
    throw Error(ExitCode::usage, "the detector has only one setting, so nothing can change",
                "list some with --settings");
  pipeline::MeterOptions meters;
  if (engine.is_auto() && pipeline::parse_goal(engine.schedule.goal) == pipeline::Goal::energy)
    options.plan_energy = std::make_shared<pipeline::Energy>(meters);
  meters.log = engine.quality.power_log;
  meters.log_wait = 2;  // the run's end waits for it, too
  if (options.quality.kind == power || options.quality.kind == energy)
    options.quality_energy = std::make_shared<pipeline::Energy>(meters);
  options.battery = [folder = meters.power_supply] { return pipeline::battery_level(folder); };
  options.source_rate = std::move(source_rate);
  return std::make_unique<pipeline::Controller>(pipeline, engine.processor(), engine.devices(),
                                                std::move(options));
}

namespace {

// Objects searched for, with the height of the smallest: "people from 96 px on, faces from 24 px on". Many
// classes are only counted.
std::string sought(const DetectorInfo& info) {
  constexpr std::size_t kMostNamed = 5;
  if (info.labels.size() > kMostNamed) return counted(static_cast<std::int64_t>(info.labels.size()), "class");
  std::string text;
  for (std::size_t label = 0; label < info.labels.size(); ++label) {
    text += (text.empty() ? "" : ", ") + several_of(info.labels[label]);
    const double smallest = label < info.smallest_objects.size() ? info.smallest_objects[label] : 0;
    if (smallest > 0) text += fmt::format(" from {:.0f} px on", smallest);
  }
  return text;
}

void log_run(const ProcessorEngine& engine, const pipeline::Pipeline& pipeline, const std::string& subject) {
  const BuildInfo build = build_info();
  const pipeline::Schedule schedule = pipeline.schedule();
  spdlog::info("{}{}; schedule {}", subject, counted(pipeline.threads(), "thread"),
               engine.is_auto() ? "auto" : schedule.name);
  if (!build.optimised)
    spdlog::warn("this build is not optimised and runs at about a tenth of the usual speed");
  spdlog::debug("sightline {} ({} build), {}", build.version, build.build_type, instruction_set());
  if (engine.is_auto()) return;
  spdlog::debug("schedule {}: {}, {} in flight", schedule.name,
                pipeline::describe(schedule, engine.processor()), counted(schedule.in_flight, "frame"));
}

}  // namespace

void describe_engine(const ProcessorEngine& engine, const pipeline::Pipeline& pipeline) {
  log_run(engine, pipeline, "");
}

void describe_engine(const Engine& engine, const pipeline::Pipeline& pipeline) {
  const DetectorInfo& info = engine.detector->info();
  log_run(engine, pipeline, sought(info) + "; ");
  spdlog::debug("model: {}; scores from {:.3g}", info.model, info.threshold);
  if (!engine.explain) return;
  std::string text = settings_table(*engine.detector);
  if (!engine.is_auto())
    text += pipeline::draw_graph(pipeline.schedule(), *engine.detector, engine.devices());
  std::fputs(printable(text, kLineEndsAndTabs).c_str(), stderr);
}

}  // namespace sightline::apps
