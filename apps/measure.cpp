// `sightline measure`: schedules side by side on one input.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "choices.hpp"
#include "commands.hpp"
#include "detector_families.hpp"
#include "detector_options.hpp"
#include "family_commands.hpp"
#include "measure_stages.hpp"
#include "measure_variants.hpp"
#include "media_options.hpp"
#include "opencl/program_cache.hpp"
#include "pipeline/experiment_output.hpp"
#include "pipeline/measure.hpp"
#include "pipeline/measurement_output.hpp"
#include "pipeline/sources.hpp"
#include "pipeline/stage_output.hpp"
#include "stop.hpp"
#include "writable.hpp"

namespace sightline::apps {
namespace {

// A key of the detector, and the values of it that are compared. Families that share its option may have
// different values: what "all" stands for is the detector's family's.
struct ComparedKey {
  VariantAxis axis;                 // the first family's
  std::vector<std::string> values;  // of all families
  std::vector<int> numbers;
  std::vector<std::string> texts;
};

// One of the detectors that are compared.
struct Variant {
  DetectorSetting setting;
  std::string name;     ///< for people
  std::string kernels;  ///< where only these differ
};

struct MeasureArguments {
  std::string input;
  DetectorOptions detector;
  std::string schedules = "all";
  std::vector<ComparedKey> compared;
  int preload = 0;
  media::ReadOptions reading;
  pipeline::MeasureOptions options;
  std::string json, csv, report;
  std::string power_log;
  int sweep = 0;                      // values of an axis; 0: none is wanted
  std::vector<std::string> variants;  // none: schedules are measured
  bool stages = false;                // each by itself, instead of schedules
  bool exhaustive = false;
  std::optional<int> repeats;
  std::optional<double> seconds;
};

// Every mapping of the stages: one letter a stage, g for the device and c for the CPU.
std::vector<std::string> every_mapping(const Engine& engine) {
  constexpr std::size_t kMost = 12;
  const std::size_t count = engine.detector->stages().size();
  if (count > kMost) {
    throw Error(ExitCode::usage,
                fmt::format("{} stages have too many mappings to measure every one of them", count),
                "name schedules, or measure one detector");
  }
  const pipeline::Devices devices = engine.devices();
  const StageSet supported = devices.supported();
  std::vector<std::string> names;
  for (std::uint32_t bits = 0; bits < 1U << count; ++bits) {
    const StageSet mapping(bits);
    if ((mapping & ~supported).any()) continue;
    try {
      for (const DeviceStages* device : devices) {
        if (mapping.any()) device->check(mapping);
      }
    } catch (const Error&) {
      continue;  // stages that do not run there without each other
    }
    std::string name;
    for (std::size_t i = 0; i < count; ++i) name += mapping[i] ? 'g' : 'c';
    names.push_back(name);
  }
  names.insert(names.end(), {"split", "auto"});
  return names;
}

std::vector<std::string> schedules_of(const std::string& text, const Engine& engine) {
  const bool device = !engine.device_stages.empty();
  if (text == "every" && device) return every_mapping(engine);
  std::vector<std::string> names;
  if (text == "all") {
    for (const std::string_view name : pipeline::schedule_names()) {
      if (device || name == "cpu") names.emplace_back(name);
    }
    if (device) names.emplace_back("auto");
    return names;
  }
  names = split(text, ',');
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
                                  const std::string& kernels = "",
                                  const std::vector<WorkCount>* work = nullptr) {
  const Engine engine = detector.make();
  const std::vector<media::Frame> frames = first_frames(a.input, a.reading, a.preload > 0 ? a.preload : 4);
  pipeline::MeasureOptions options = a.options;
  options.repeats = a.repeats.value_or(options.repeats);
  options.seconds = a.seconds.value_or(options.seconds);
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
      pipeline::measure(*engine.detector, engine.devices(), frames, source, a.preload == 0, options);
  measurement.input = a.input;
  measurement.program = program_text();
  measurement.machine = machine_text(engine);
  const DetectorInfo& info = engine.detector->info();
  measurement.variant = info.variant;
  measurement.kernels = kernels;
  if (work) {
    measurement.work = *work;
  } else {
    measurement.work = engine.detector->count_work(frames.front().view());
  }
  measurement.accuracy = info.accuracy;
  return measurement;
}

// Settings of the device's kernels, as the detector's family sweeps them.
std::vector<KernelSweep> sweep(const MeasureArguments& a, int verbosity) {
  const Config config = a.detector.config();
  const Family& family = require_tool("measure --sweep", config, &Family::sweep_function);
  const Engine engine = a.detector.make();
  if (engine.device_stages.empty())
    throw Error(ExitCode::device, "there is no OpenCL device whose kernels could be swept",
                "see `sightline devices`; --device cpu takes a processor's driver");
  const std::vector<media::Frame> frames = first_frames(a.input, a.reading, 4);
  std::vector<PictureView> views;
  for (const media::Frame& frame : frames) views.push_back(frame.view());
  opencl::ProgramCache cache(opencl::ProgramCache::default_folder());
  SweepOptions options;
  options.values = a.sweep;
  options.stop = &stop_requested();
  if (verbosity >= 0) options.progress = [](const std::string& what) { spdlog::info("sweep of {}", what); };
  // Of detectors in others, the outermost.
  const std::unique_ptr<Detector> detector = family.make(config);
  return (*family.sweep_function())(*detector, engine.device_stages.front()->context(), &cache, views,
                                    options);
}

// No output replaces the input or another output.
void check_outputs(const MeasureArguments& a) {
  for (const std::string& file : {a.json, a.csv, a.report}) {
    require_writable(file);
    refuse_input(a.input, file);
  }
  refuse_same_outputs({a.json, a.csv, a.report});
}

// What "all" stands for.
std::vector<std::string> all_values(const ComparedKey& key, const FamilyInfo& family) {
  for (const VariantAxis& axis : family.variant_axes) {
    if (axis.option.option.name == key.axis.option.option.name) return axis.values;
  }
  return key.axis.values;  // one is enough to be told that the detector does not read the key
}

std::vector<Variant> variants_of(const ComparedKey& key, const DetectorOptions& detector) {
  std::vector<Variant> variants;
  const auto add = [&](DetectorSetting setting, const std::string& value) {
    variants.push_back(
        {std::move(setting), value + ' ' + key.axis.noun, key.axis.only_kernels ? value : std::string()});
  };
  for (const int number : key.numbers) add({key.axis.option, number, {}, {}, false}, std::to_string(number));
  const bool all = key.texts == std::vector<std::string>{"all"};
  for (const std::string& text : all ? all_values(key, detector.family().info()) : key.texts)
    add({key.axis.option, {}, {}, text, false}, text);
  return variants;
}

int run_variants(const MeasureArguments& a, int verbosity) {
  VariantsRequest request{a.input, a.reading, a.preload, a.variants, {}};
  request.options.repeats = a.repeats.value_or(request.options.repeats);
  request.options.energy_seconds = a.seconds.value_or(a.options.seconds);
  request.options.meters.log = a.power_log;
  request.options.stop = &stop_requested();
  if (verbosity >= 0) request.options.progress = [](const std::string& what) { spdlog::info("{}", what); };
  const pipeline::Experiment experiment = measure_variants(a.detector, request);
  std::fputs(pipeline::experiment_as_text(experiment).c_str(), stdout);
  write_if_named(a.json, [&] { return pipeline::experiment_as_json(experiment); });
  write_if_named(a.csv, [&] { return pipeline::experiment_as_csv(experiment); });
  write_if_named(a.report, [&] { return pipeline::experiment_as_page(experiment); });
  if (stop_requested())
    spdlog::warn("stopped: {} picture(s) are measured, the others are left out", experiment.pictures.size());
  if (experiment.differences.empty()) return stop_exit_code();
  throw Error(ExitCode::failed, "implementations find different objects",
              "this is a defect of a driver or of Sightline: report it");
}

int run_stages(const MeasureArguments& a, int verbosity) {
  std::vector<Variant> variants;
  for (const ComparedKey& key : a.compared) {
    for (Variant& variant : variants_of(key, a.detector)) variants.push_back(std::move(variant));
  }
  if (variants.size() > 1) {
    throw Error(ExitCode::usage, "--stages measures one detector, and several are asked for",
                "give one value, and run it once for each");
  }
  DetectorOptions detector = a.detector;
  for (const Variant& variant : variants) detector.set(variant.setting);
  StagesRequest request{a.input, a.reading, a.schedules, {}};
  request.options.seconds = a.seconds.value_or(request.options.seconds);
  request.options.repeats = a.repeats.value_or(request.options.repeats);
  request.options.exhaustive = a.exhaustive;
  request.options.meters.log = a.power_log;
  request.options.stop = &stop_requested();
  if (verbosity >= 0) request.options.progress = [](const std::string& what) { spdlog::info("{}", what); };
  const pipeline::StageMeasurement measurement = measure_stages(detector, request);
  std::fputs(pipeline::stages_as_text(measurement).c_str(), stdout);
  write_if_named(a.json, [&] { return pipeline::stages_as_json(measurement); });
  write_if_named(a.csv, [&] { return pipeline::stages_as_csv(measurement); });
  const bool picture = std::filesystem::path(a.report).extension() == ".svg";
  write_if_named(a.report, [&] {
    return picture ? pipeline::stages_as_svg(measurement) : pipeline::stages_as_page(measurement);
  });
  return 0;
}

int run(const MeasureArguments& a, int verbosity) {
  if (a.input.empty())
    throw Error(ExitCode::usage, "no video, picture or folder is named", "write `sightline measure INPUT`");
  check_outputs(a);
  if (!a.variants.empty()) return run_variants(a, verbosity);
  if (a.stages) return run_stages(a, verbosity);
  std::vector<KernelSweep> sweeps;
  if (a.sweep > 0) sweeps = sweep(a, verbosity);
  std::vector<pipeline::Measurement> all;
  for (const ComparedKey& key : a.compared) {
    for (const Variant& variant : variants_of(key, a.detector)) {
      DetectorOptions detector = a.detector;
      detector.set(variant.setting);
      if (verbosity >= 0) spdlog::info("{}", variant.name);
      const bool same_windows = !variant.kernels.empty() && !all.empty() && !all.back().kernels.empty();
      all.push_back(
          measure_one(a, detector, verbosity, variant.kernels, same_windows ? &all.back().work : nullptr));
    }
  }
  if (all.empty()) all.push_back(measure_one(a, a.detector, verbosity));
  all.front().sweeps = std::move(sweeps);
  std::fputs(pipeline::measurements_as_text(all).c_str(), stdout);
  write_if_named(a.json, [&] { return pipeline::measurements_as_json(all); });
  write_if_named(a.csv, [&] { return pipeline::measurements_as_csv(all); });
  write_if_named(a.report, [&] { return pipeline::measurements_as_page(all); });
  return 0;
}

// What the families can compare, each of a name once, with the help of the first and the values of all.
std::vector<ComparedKey> compared_keys() {
  std::vector<ComparedKey> keys;
  for (const Family* family : families()) {
    for (const VariantAxis& axis : family->info().variant_axes) {
      const auto same = [&](const ComparedKey& key) {
        return key.axis.option.option.name == axis.option.option.name;
      };
      const auto known = std::ranges::find_if(keys, same);
      if (known == keys.end()) {
        keys.push_back({axis, axis.values, {}, {}});
        continue;
      }
      known->axis.option.option.help +=
          fmt::format("; {}: {}", family->info().title, fmt::join(axis.values, ", "));
      for (const std::string& value : axis.values) {
        if (std::ranges::find(known->values, value) == known->values.end()) known->values.push_back(value);
      }
    }
  }
  return keys;
}

void add_measurement_options(OptionSet& options, MeasureArguments& a) {
  options.group("Measurement");
  options
      .add("--schedules", &a.schedules,
           "all, every (all mappings of stages, and auto), or names separated by commas")
      .suggest(several_schedule_choices)
      .show_default();
  options
      .add("--repeats", &a.repeats,
           "Runs of each schedule, or of each variant on each picture, taken in turn; with --stages: windows "
           "of "
           "each row, whose range tells how sure it is")
      .between(1, 1000)
      .show_default("3; 20 with --variants");
  options.add("--frames", &a.options.frames, "Frames a run (default: what takes about --seconds)")
      .between(10, 10'000'000);
  options
      .add("--seconds", &a.seconds,
           "Length of a run; with --variants: of counting energy; with --stages: of each row of its tables")
      .between(0.1, 36000)
      .show_default("1.5; 10 with --stages");
  options
      .add("--preload", &a.preload,
           "Decode so many frames beforehand and keep them in memory: the detector's own rate. With "
           "--variants: "
           "so many of each folder (default: all)")
      .between(1, 10'000);
  for (ComparedKey& key : a.compared) {
    Option option = key.axis.option.option;
    if (key.axis.option.kind == KeyOption::Kind::whole_number) {
      option.target = &key.numbers;
    } else {
      option.target = &key.texts;
      option.suggest([values = key.values] {
        Choices choices;
        choices.list = true;
        for (const std::string& value : values) choices.values.push_back({value, ""});
        choices.values.push_back({"all", ""});
        return choices;
      });
    }
    options.add(std::move(option)).separated_by(',');
  }
  options
      .add("--sweep", &a.sweep,
           "Time settings of the device's kernels as well, a map of so many along each side; for " +
               titles_with(&Family::sweep_function))
      .between(2, 41);
  std::vector<std::string> not_with_variants{"--schedules", "--frames",    "--sweep",
                                             "--split",     "--in-flight", "--goal"};
  for (const ComparedKey& key : a.compared) not_with_variants.push_back(key.axis.option.option.long_name());
  Option& variants = options.add(
      "--variants", &a.variants,
      "Instead of rates of schedules (--kernels: with each variant of the device's kernels; --sweep: with "
      "other settings of one), times of implementations side by side, on one picture at a time. Names "
      "separated by commas, or all: the same in another library where that is installed (opencv), plain code "
      "(serial), SIMD on one thread (simd) and on all (cpu), each variant of the device's kernels with "
      "copied "
      "and with mapped buffers, and device and CPU one after the other (hybrid). Sub-folders of the input "
      "are "
      "groups of pictures");
  variants.separated_by(',').suggest([] {
    Choices choices;
    choices.list = true;
    for (const std::string& name : implementation_names()) choices.values.push_back({name, ""});
    return choices;
  });
  for (const std::string& other : not_with_variants) variants.excludes(other);
  Option& stages = options.add(
      "--stages", &a.stages,
      "Instead of rates of schedules: time, power and joules a frame of each stage by itself, on the CPU and "
      "on "
      "each device that can run it, of the copies of a frame, and of the schedules cpu, gpu, specialized and "
      "overlap (or those of --schedules) beside their stages' sum; on the input's first frame. What meters "
      "count is kept for --goal energy");
  for (const char* other :
       {"--frames", "--preload", "--sweep", "--split", "--in-flight", "--goal", "--variants"})
    stages.excludes(other);
  options
      .add(
          "--exhaustive", &a.exhaustive,
          "With --stages: all mappings of stages to CPU and device as well, with what was predicted of each; "
          "half as long each")
      .needs("--stages");
  options.add("--power-log", &a.power_log, "CSV of an external power meter: columns time, watts");
  add_limit_options(options, a.reading);
}

}  // namespace

void add_measure(CLI::App& app, Common& common) {
  auto a = std::make_shared<MeasureArguments>();
  a->compared = compared_keys();
  OptionSet options;
  options.add("input", &a->input, "Video, picture or folder, read again and again");
  add_measurement_options(options, *a);
  options.group("Output");
  options.add("--json", &a->json, "Write the results as JSON");
  options.add("--csv", &a->csv, "Write the results as CSV");
  options.add(
      "--report", &a->report,
      "Write a page (HTML) with the timeline; with --stages: with their joules as bars, or these alone "
      "(NAME.svg)");
  // Schedules are measured as --schedules names them, and keys that are compared have options of their own.
  std::set<std::string> left_out{"--schedule", "--map", "--explain"};
  for (const ComparedKey& key : a->compared) left_out.insert(key.axis.option.option.long_name());
  a->detector.add_to(options, left_out);
  CLI::App& command = add_command(app, common, "measure",
                                  "Run schedules side by side: rates, latencies, overlap, bounds, energy",
                                  options, [a, &common] { return run(*a, common.verbosity); });
  add_measure_texture(command, common);
}

}  // namespace sightline::apps
