#include "detector_options.hpp"

#include <cstdlib>
#include <set>
#include <vector>

#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "cascade/detector.hpp"
#include "detection/candidate_limit.hpp"
#include "detector_families.hpp"
#include "filterbank/model.hpp"
#include "numbers.hpp"
#include "opencl/error.hpp"

namespace sightline::apps {
namespace fs = std::filesystem;

namespace {

constexpr char kDefaultConfig[] = "people";

bool is_for_cascades(const Config& config) {
  return config.text("detector", "family", "filterbank") == "cascade";
}

[[noreturn]] void refuse_for(const std::string& command, const std::string& what) {
  throw Error(ExitCode::usage,
              "`sightline " + command + "` is for filter banks, and '" + what + "' is not one",
              "`sightline evaluate frames` and `sightline measure` take any detector");
}

// Whoever wrote the path should learn where it was looked for.
void check_relative_model(const Config& config) {
  const fs::path named = config.text("detector", "model", "");
  const fs::path file = config.path("detector", "model", "");
  std::error_code error;
  if (named.empty() || named.is_absolute() || fs::exists(file, error)) return;
  if (is_for_cascades(config)) return;  // these are looked for further
  throw Error(ExitCode::model, "no model file '" + file.string() + "'",
              "'model' is relative to the folder of '" + config.name() + "'");
}

}  // namespace

bool is_cascade_model(const std::string& model) {
  return !model.empty() &&
         (model.ends_with(".xml") || cascade::looks_like_cascade(model) || cascade::ships_with_opencv(model));
}

void require_filterbank(const std::string& command, const Config& config) {
  if (config.text("detector", "family", "filterbank") != "filterbank") refuse_for(command, config.name());
}

void require_filterbank(const std::string& command, const std::string& model) {
  if (is_cascade_model(model)) refuse_for(command, model);
}

void add_model_size_option(CLI::App& command, std::optional<int>& mebibytes, const std::string& group) {
  command
      .add_option("--max-model-size", mebibytes,
                  "MiB of the largest model file that is taken (default: 256; of cascades: 16)")
      ->check(CLI::Range(1, filterbank::kLargestModelSize))
      ->group(group);
}

void DetectorOptions::add_to(CLI::App& command, bool with_filters) {
  const std::string group = "Detector";
  command
      .add_option("-c,--config", config_,
                  "Pipeline: a .toml file, or the name of one that ships: people, faces, faces-eyes")
      ->default_str(kDefaultConfig)
      ->group(group);
  command
      .add_option(
          "-m,--model", model_,
          "Model file instead of the configuration's, in its largest size unless --filters says otherwise; "
          "an OpenCV cascade, an .xml file or the name of one that ships with OpenCV, needs no --config")
      ->group(group);
  if (with_filters) {
    command
        .add_option(
            "--filters", filters_,
            "Size of the model's dictionary, of those it has (see `sightline model show`): fewer "
            "filters are faster and miss more; the configuration's, or the largest of --model, unless "
            "given")
        ->group(group);
  }
  command
      .add_option(
          "-t,--threshold", threshold_,
          "Lowest score that is reported; any number, lower finds more, down to what a model's network "
          "looks at (--no-verify: to any). Cascades score the windows that agree")
      ->group(group);
  command
      .add_option("--scale-step", scale_step_,
                  "Ratio of neighbouring scales, above 1; smaller finds more, slower (OpenCV's scaleFactor)")
      ->group(group);
  command
      .add_option(
          "--min-size", min_size_,
          "Height in pixels of the smallest object; small ones cost most. Cascades: side of the smallest box "
          "(OpenCV's minSize)")
      ->group(group);
  command.add_option("--max-size", max_size_, "Height in pixels of the largest object (OpenCV's maxSize)")
      ->group(group);
  command
      .add_option(
          "--min-neighbors", min_neighbors_,
          "Cascades: an object is reported where more windows than this agree on it; 0: every window is "
          "(OpenCV's minNeighbors)")
      ->check(not_negative())
      ->group(group);
  command
      .add_option(
          "--max-candidates", max_candidates_,
          "Windows of a frame that the classifier leaves for the verification network and grouping: the best "
          "ones, and so no more boxes than these (default: 20000; of cascades: 100000)")
      ->check(CLI::Range(1, kMostCandidates))
      ->group(group);
  add_model_size_option(command, max_model_size_, group);
  command
      .add_option(
          "--device", device_,
          "OpenCL device: auto (a GPU if there is one), none, cpu, gpu, an index or part of a name (see "
          "`sightline devices`); cpu:1 takes one compute unit")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--computed-scales", computed_scales_,
          "Scales in each octave that are filtered (default: the configuration's), the others follow from "
          "the nearest of them; 0: all")
      ->check(CLI::Range(0, 1000))
      ->group(group);
  command
      .add_flag(
          "--exact", exact_,
          "The plain method: filters every scale, classifies every window, verifies all that is left; slower")
      ->group(group);
  command
      .add_flag("--no-verify", no_verify_,
                "Without the model's verification network: faster, more false boxes; models without one "
                "have none")
      ->group(group);
  command.add_option("--arithmetic", arithmetic_, "exact (integers) or float (the reference method, slow)")
      ->group(group);
  const std::string schedule = "Schedule";
  command
      .add_option(
          "--schedule", schedule_.name,
          "Which stage runs where: auto (measures what is best; the default with a device), cpu, gpu (all "
          "on the device), specialized, overlap, split")
      ->group(schedule);
  command
      .add_option("--map", schedule_.map,
                  "Changes to it, stage by stage: filter=gpu,classify=cpu (gpu is the OpenCL device)")
      ->group(schedule);
  command
      .add_option("--split", schedule_.split,
                  "Share of the device, 0 to 1, of each frame that both work on (--schedule split)")
      ->check(CLI::Range(0.01, 0.99))
      ->group(schedule);
  command
      .add_option("--in-flight", schedule_.in_flight,
                  "Frames worked on at once (default: the schedule's own)")
      ->check(CLI::Range(1, 64))
      ->group(schedule);
  command.add_option("--goal", schedule_.goal, "Of schedule auto: throughput, latency or energy")
      ->check(CLI::IsMember({"throughput", "latency", "energy"}))
      ->group(schedule);
  command.add_flag("--explain", explain_, "Show what schedule auto weighed")->group(schedule);
  command.add_option("--threads", threads_, "CPU threads (default: all)")
      ->check(CLI::Range(1, 1024))
      ->group(schedule);
}

// A cascade as the model says what kind of detector is wanted.
Config DetectorOptions::load_config() const {
  const bool is_cascade = is_cascade_model(model_);
  if (config_.empty() && is_cascade) return Config::parse("[detector]\nfamily = \"cascade\"\n", model_);
  Config config = Config::load(find_config(config_.empty() ? kDefaultConfig : config_));
  if (is_cascade && !is_for_cascades(config)) {
    throw Error(ExitCode::usage,
                "the model '" + model_ + "' is a cascade, and '" + config.name() + "' is not for one",
                "leave out --config, or use --config faces");
  }
  return config;
}

// Options that the family does not read would pass silently.
void DetectorOptions::check_options(const Config& config) const {
  const bool is_cascade = is_for_cascades(config);
  const auto refuse = [&](bool given, const char* option) {
    if (!given) return;
    throw Error(ExitCode::usage,
                std::string(option) + " does nothing for the detector of '" + config.name() + "'",
                "leave it out");
  };
  refuse(is_cascade && filters_, "--filters");
  refuse(is_cascade && computed_scales_, "--computed-scales");
  refuse(is_cascade && exact_, "--exact");
  refuse(is_cascade && no_verify_, "--no-verify");
  refuse(is_cascade && !arithmetic_.empty(), "--arithmetic");
  refuse(!is_cascade && min_neighbors_, "--min-neighbors");
  refuse(!is_cascade && !kernels_.empty(), "--kernels");
}

Engine DetectorOptions::make(const Fallbacks& fallbacks) const {
  Config config = load_config();
  check_options(config);
  if (!model_.empty()) {
    config.set("detector", "model", model_);
    config.leave_out("detector", "filters");  // a size of the configuration's own model
  }
  const std::optional<int> neighbors = min_neighbors_ ? min_neighbors_ : fallbacks.min_neighbors;
  if (neighbors && is_for_cascades(config))
    config.set("detector", "min_neighbors", static_cast<double>(*neighbors));
  if (!arithmetic_.empty()) config.set("detector", "arithmetic", arithmetic_);
  const std::optional<double> threshold = threshold_ ? threshold_ : fallbacks.threshold;
  if (threshold) config.set("detector", "threshold", *threshold);
  if (filters_) config.set("detector", "filters", static_cast<double>(*filters_));
  if (scale_step_) config.set("detector", "scale_step", *scale_step_);
  if (min_size_) config.set("detector", "min_size", *min_size_);
  if (max_size_) config.set("detector", "max_size", *max_size_);
  if (computed_scales_) config.set("detector", "computed_scales", static_cast<double>(*computed_scales_));
  if (exact_) config.set("detector", "exact", 1.0);
  if (no_verify_) config.set("detector", "verify", 0.0);
  if (!kernels_.empty()) config.set("detector", "kernels", kernels_);
  if (max_candidates_) config.set("detector", "max_candidates", static_cast<double>(*max_candidates_));
  if (max_model_size_) config.set("detector", "max_model_size", static_cast<double>(*max_model_size_));

  Engine engine;
  engine.schedule = schedule_;
  engine.threads = threads_;
  engine.explain = explain_;
  pipeline::read_schedule(config, engine.schedule);
  check_detector_config(config);
  if (model_.empty()) check_relative_model(config);
  engine.detector = make_detector(config);
  const std::string& cpu_only = engine.detector->info().cpu_only;
  if (!cpu_only.empty()) spdlog::info("{}", cpu_only);
  engine.device = make_device(*engine.detector);
  return engine;
}

std::unique_ptr<DeviceStages> DetectorOptions::make_device(const Detector& detector) const {
  const opencl::DeviceChoice choice = opencl::parse_device_choice(device_);
  if (choice.what == "none" || (schedule_.name == "cpu" && schedule_.map.empty())) return nullptr;
  if (const std::string& cpu_only = detector.info().cpu_only; !cpu_only.empty()) {
    const bool named = !schedule_.name.empty() && schedule_.name != "auto" && schedule_.name != "cpu";
    if (choice.what != "auto" || named || !schedule_.map.empty() || schedule_.split > 0)
      throw Error(ExitCode::usage, cpu_only, "use --device none and --schedule cpu");
    return nullptr;
  }
  const auto device = opencl::choose_device(choice, opencl::list_devices());
  if (!device) return nullptr;
  try {
    auto stages = detector.make_device_stages(*device);
    if (stages) {
      spdlog::info("OpenCL device {}: {}, driver {} ({})", device->device.index, device->device.name,
                   device->device.driver_version, device->why);
    }
    return stages;
  } catch (const opencl::DeviceError& e) {
    if (choice.what != "auto") throw Error(ExitCode::device, e.what());
    spdlog::warn("{}. The stages run on the CPU instead", e.what());
    return nullptr;
  }
}

bool Engine::is_auto() const {
  const bool nothing_asked = schedule.name.empty() && schedule.map.empty() && schedule.split == 0;
  return schedule.name == "auto" || (nothing_asked && (device || explain || !schedule.goal.empty()));
}

pipeline::Schedule Engine::resolve() const {
  pipeline::ScheduleRequest request = schedule;
  if (is_auto()) request.name = "cpu";
  return pipeline::resolve(request, *detector, device.get(), threads > 0 ? threads : hardware_threads());
}

pipeline::Planned Engine::plan(pipeline::Pipeline& pipeline, const std::vector<media::Frame>& frames,
                               const std::atomic<bool>& stop) const {
  pipeline::PlanOptions options;
  options.goal = pipeline::parse_goal(schedule.goal);
  options.in_flight = schedule.in_flight;
  options.file = pipeline::default_plan_file();
  options.stop = &stop;
  pipeline::Planned planned = pipeline::plan_schedule(pipeline, *detector, device.get(), frames, options);
  spdlog::info("auto: {}, {} frame(s) in flight{}", pipeline::describe(planned.schedule, *detector),
               planned.schedule.in_flight, planned.remembered ? " (remembered)" : "");
  if (explain) std::fputs(pipeline::explain(planned, *detector).c_str(), stderr);
  return planned;
}

void describe_engine(const Engine& engine, const pipeline::Pipeline& pipeline) {
  const BuildInfo build = build_info();
  const Detector& detector = *engine.detector;
  const pipeline::Schedule schedule = pipeline.schedule();
  spdlog::info("sightline {} ({} build), {}, {} thread(s)", build.version, build.build_type,
               instruction_set(), pipeline.threads());
  if (!build.optimised) spdlog::warn("this is not an optimised build: expect a tenth of the speed");
  if (!engine.is_auto()) {
    spdlog::info("schedule {}: {}, {} frame(s) in flight", schedule.name,
                 pipeline::describe(schedule, detector), schedule.in_flight);
  }
  spdlog::info("model: {}; smallest object {:.0f} px high; scores from {:.3g}", detector.info().model,
               detector.info().smallest_object, detector.info().threshold);
}

namespace {

// Where configurations are, those that are looked at first in front.
std::vector<fs::path> config_folders() {
  std::error_code error;
  std::vector<fs::path> folders;
  if (const char* own = std::getenv("SIGHTLINE_CONFIGS")) folders.emplace_back(own);
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!program.empty()) {
    folders.push_back(program / "../share/sightline/configs");
    folders.push_back(program / "../../../configs");  // build/<preset>/bin
  }
  folders.emplace_back(SIGHTLINE_INSTALLED_CONFIGS);  // where there is no /proc
  return folders;
}

}  // namespace

std::vector<std::string> config_names() {
  std::set<std::string> names;
  std::error_code error;
  for (const fs::path& folder : config_folders()) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

fs::path find_config(const std::string& path_or_name) {
  std::error_code error;
  if (path_or_name.find('/') != std::string::npos || path_or_name.ends_with(".toml")) return path_or_name;
  for (const fs::path& folder : config_folders()) {
    const fs::path file = folder / (path_or_name + ".toml");
    if (fs::is_regular_file(file, error)) return file.lexically_normal();
  }
  std::string names;
  for (const std::string& name : config_names()) names += (names.empty() ? "" : ", ") + name;
  throw Error(
      ExitCode::usage, "there is no configuration '" + path_or_name + "'",
      names.empty() ? "set SIGHTLINE_CONFIGS to the folder that holds people.toml" : "there are: " + names);
}

}  // namespace sightline::apps
