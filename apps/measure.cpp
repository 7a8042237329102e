// `sightline measure`: schedules side by side on one input.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "cascade/detector.hpp"
#include "commands.hpp"
#include "detector_options.hpp"
#include "evaluation/report.hpp"
#include "media_options.hpp"
#include "pipeline/measure.hpp"
#include "pipeline/measurement_output.hpp"
#include "pipeline/sources.hpp"
#include "stop.hpp"
#include "writable.hpp"

namespace sightline::apps {
namespace {

struct MeasureArguments {
  std::string input;
  DetectorOptions detector;
  std::string schedules = "all";
  std::vector<int> filters;
  std::vector<std::string> kernels;
  int preload = 0;
  media::ReadOptions reading;
  pipeline::MeasureOptions options;
  std::string json, csv, report;
  std::string power_log;
};

// Every mapping of the stages: one letter a stage, g for the device and c for the CPU.
std::vector<std::string> every_mapping(const Engine& engine) {
  const std::size_t count = engine.detector->stages().size();
  const StageSet supported = engine.device ? engine.device->supported() : StageSet();
  std::vector<std::string> names;
  for (std::uint32_t bits = 0; bits < 1U << count; ++bits) {
    const StageSet mapping(bits);
    if ((mapping & ~supported).any()) continue;
    std::string name;
    for (std::size_t i = 0; i < count; ++i) name += mapping[i] ? 'g' : 'c';
    names.push_back(name);
  }
  names.insert(names.end(), {"split", "auto"});
  return names;
}

std::vector<std::string> schedules_of(const std::string& text, const Engine& engine) {
  const bool device = engine.device != nullptr;
  if (text == "every" && device) return every_mapping(engine);
  std::vector<std::string> names;
  if (text == "all") {
    for (const std::string_view name : pipeline::schedule_names()) {
      if (device || name == "cpu") names.emplace_back(name);
    }
    if (device) names.emplace_back("auto");
    return names;
  }
  std::istringstream items(text);
  for (std::string name; std::getline(items, name, ',');) names.push_back(name);
  if (names.empty()) throw Error(ExitCode::usage, "no schedule is named", "write --schedules all, or names");
  return names;
}

// A file read again and again, from its first frame.
class LoopedFile : public pipeline::Source {
 public:
  LoopedFile(const std::string& input, media::ReadOptions options, std::int64_t count)
      : reader_(input, looped(options)), left_(count) {}
  std::optional<media::Frame> read() override { return left_-- > 0 ? reader_.read() : std::nullopt; }

 private:
  static media::ReadOptions looped(media::ReadOptions options) {
    options.loop = -1;
    options.stop = &stop_requested();
    return options;
  }
  media::Reader reader_;
  std::int64_t left_;
};

std::vector<media::Frame> first_frames(const std::string& input, const media::ReadOptions& options,
                                       int count) {
  media::Reader reader(input, options);
  std::vector<media::Frame> frames;
  while (static_cast<int>(frames.size()) < count) {
    auto frame = reader.read();
    if (!frame || (!frames.empty() && frame->size() != frames.front().size())) break;
    frames.push_back(std::move(*frame));
  }
  if (frames.empty()) throw Error(ExitCode::input, "'" + input + "' has no frame");
  return frames;
}

// `work` is that of the first frame, where it is known from a variant that searches the same windows.
pipeline::Measurement measure_one(const MeasureArguments& a, const DetectorOptions& detector, int verbosity,
                                  const std::vector<WorkCount>* work = nullptr) {
  const Engine engine = detector.make();
  const std::vector<media::Frame> frames = first_frames(a.input, a.reading, a.preload > 0 ? a.preload : 4);
  pipeline::MeasureOptions options = a.options;
  options.schedules = schedules_of(a.schedules, engine);
  options.threads = engine.threads;
  options.in_flight = engine.schedule.in_flight;
  options.split = engine.schedule.split;
  options.plan.goal = pipeline::parse_goal(engine.schedule.goal);
  options.meters.log = a.power_log;
  options.stop = &stop_requested();
  if (verbosity >= 0) options.progress = [](const std::string& what) { spdlog::info("{}", what); };
  const pipeline::SourceMaker source = [&](std::int64_t count) -> std::unique_ptr<pipeline::Source> {
    if (a.preload > 0) return std::make_unique<pipeline::MemorySource>(frames, count);
    return std::make_unique<LoopedFile>(a.input, a.reading, count);
  };
  pipeline::Measurement measurement =
      pipeline::measure(*engine.detector, engine.device.get(), frames, source, a.preload == 0, options);
  const BuildInfo build = build_info();
  measurement.input = a.input;
  measurement.program =
      fmt::format("sightline {} ({} build), {}", build.version, build.build_type, instruction_set());
  measurement.machine =
      fmt::format("{}, {} of {} threads", cpu_name(),
                  engine.threads > 0 ? engine.threads : hardware_threads(), hardware_threads());
  if (engine.device) {
    const opencl::DeviceInfo& device = engine.device->context().device();
    measurement.machine += fmt::format("; {}, driver {}", device.name, device.driver_version);
  }
  const DetectorInfo& info = engine.detector->info();
  measurement.variant = info.variant;
  measurement.kernels = detector.kernels();
  if (work) {
    measurement.work = *work;
  } else {
    measurement.work = engine.detector->count_work(frames.front().view());
  }
  measurement.accuracy = info.accuracy;
  return measurement;
}

// No output replaces the input or another output.
void check_outputs(const MeasureArguments& a) {
  for (const std::string& file : {a.json, a.csv, a.report}) {
    require_writable(file);
    refuse_input(a.input, file);
  }
  refuse_same_outputs({a.json, a.csv, a.report});
}

int run(MeasureArguments a, int verbosity) {
  check_outputs(a);
  std::vector<pipeline::Measurement> all;
  const auto measure_variant = [&](const std::string& name, const auto& change) {
    DetectorOptions detector = a.detector;
    change(detector);
    if (verbosity >= 0) spdlog::info("{}", name);
    const bool same_windows = !detector.kernels().empty() && !all.empty() && !all.back().kernels.empty();
    all.push_back(measure_one(a, detector, verbosity, same_windows ? &all.back().work : nullptr));
  };
  if (a.kernels == std::vector<std::string>{"all"})
    a.kernels.assign(cascade::kKernelVariants.begin(), cascade::kKernelVariants.end());
  for (const int filters : a.filters)
    measure_variant(fmt::format("{} filters", filters), [&](auto& d) { d.set_filters(filters); });
  for (const std::string& kernels : a.kernels)
    measure_variant(kernels + " kernels", [&](auto& d) { d.set_kernels(kernels); });
  if (all.empty()) all.push_back(measure_one(a, a.detector, verbosity));
  std::fputs(pipeline::measurements_as_text(all).c_str(), stdout);
  const auto write = [](const std::string& file, const std::string& text) {
    if (file.empty()) return;
    write_report(file, text);
    spdlog::info("wrote {}", file);
  };
  if (!a.json.empty()) write(a.json, pipeline::measurements_as_json(all));
  if (!a.csv.empty()) write(a.csv, pipeline::measurements_as_csv(all));
  if (!a.report.empty()) write(a.report, pipeline::measurements_as_page(all));
  return 0;
}

}  // namespace

void add_measure(CLI::App& app, Common& common) {
  CLI::App* command =
      app.add_subcommand("measure", "Run schedules side by side: rates, latencies, overlap, bounds, energy");
  auto a = std::make_shared<MeasureArguments>();
  command->add_option("input", a->input, "Video, picture or folder, read again and again")->required();
  const std::string group = "Measurement";
  command
      ->add_option("--schedules", a->schedules,
                   "all, every (all mappings of stages, and auto), or names separated by commas")
      ->capture_default_str()
      ->group(group);
  command->add_option("--repeats", a->options.repeats, "Runs of each schedule, taken in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->group(group);
  command->add_option("--frames", a->options.frames, "Frames a run (default: what takes about --seconds)")
      ->check(CLI::Range(10, 10'000'000))
      ->group(group);
  command->add_option("--seconds", a->options.seconds, "Length of a run")
      ->check(CLI::Range(0.1, 36000.0))
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("--preload", a->preload,
                   "Decode so many frames beforehand and keep them in memory: the detector's own rate")
      ->check(CLI::Range(1, 10'000))
      ->group(group);
  command->add_option("--filters", a->filters, "Sizes of the dictionary to compare, separated by commas")
      ->delimiter(',')
      ->group(group);
  command
      ->add_option(
          "--kernels", a->kernels,
          fmt::format("Cascades: forms of the device's kernels to compare, separated by commas, or all: {}",
                      fmt::join(cascade::kKernelVariants, ", ")))
      ->delimiter(',')
      ->group(group);
  command->add_option("--power-log", a->power_log, "CSV of an external power meter: columns time, watts")
      ->group(group);
  add_limit_options(*command, a->reading, group);
  const std::string outputs = "Output";
  command->add_option("--json", a->json, "Write the results as JSON")->group(outputs);
  command->add_option("--csv", a->csv, "Write the results as CSV")->group(outputs);
  command->add_option("--report", a->report, "Write a page (HTML) with the timeline")->group(outputs);
  a->detector.add_to(*command, false);
  // Those of --schedules are measured as they are.
  for (const char* option : {"--schedule", "--map", "--explain"})
    command->remove_option(command->get_option(option));
  command->callback([a, &common] { common.run = [a, &common] { return run(*a, common.verbosity); }; });
}

}  // namespace sightline::apps
