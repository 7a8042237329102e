// `sightline measure`: schedules side by side on one input.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/family_commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/compared_keys.hpp"
#include "apps/common/detector_options.hpp"
#include "apps/common/media_options.hpp"
#include "apps/measure/measure_schedules.hpp"
#include "apps/measure/measure_stages.hpp"
#include "apps/measure/measure_variants.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "detectors/registry.hpp"
#include "pipeline/report/experiment_output.hpp"
#include "pipeline/report/measurement_output.hpp"
#include "pipeline/report/stage_output.hpp"

namespace sightline::apps {
namespace {

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

pipeline::Measurement measure_one(const MeasureArguments& a, const DetectorOptions& detector, int verbosity,
                                  const std::string& kernels = "",
                                  const std::vector<WorkCount>* work = nullptr) {
  SchedulesRequest request{a.input, a.reading, a.preload, a.schedules, a.options};
  request.kernel_resources = !a.report.empty() || !a.json.empty();
  request.options.repeats = a.repeats.value_or(request.options.repeats);
  request.options.seconds = a.seconds.value_or(request.options.seconds);
  request.options.meters.log = a.power_log;
  request.options.stop = &stop_requested();
  if (verbosity >= 0) request.options.progress = [](const std::string& what) { spdlog::info("{}", what); };
  return measure_schedules(detector, request, kernels, work);
}

// Settings of the device's kernels, as the detector's family sweeps them.
std::vector<KernelSweep> sweep(const MeasureArguments& a, int verbosity) {
  const Config config = a.detector.config();
  const Family& family = require_tool("measure --sweep", config, &Family::sweep_function);
  const DetectorEngine engine = a.detector.make();
  if (engine.device_stages.empty())
    throw Error(ExitCode::device, "there is no OpenCL device for --sweep",
                "see `sightline devices`; --device cpu uses a CPU's OpenCL driver");
  const std::vector<Frame> frames = first_frames(a.input, a.reading, 4);
  std::vector<PictureView> views;
  for (const Frame& frame : frames) views.push_back(frame.view());
  SweepOptions options;
  options.values = a.sweep;
  options.stop = &stop_requested();
  if (verbosity >= 0) options.progress = [](const std::string& what) { spdlog::info("sweep of {}", what); };
  // Of detectors in others, the outermost.
  const std::unique_ptr<Detector> detector = family.make(config);
  return (*family.sweep_function())(*detector, engine.device_stages.front()->device(), views, options);
}

bool names_a_drawing(const std::string& file) {
  return lower_case(std::filesystem::path(file).extension().string()) == ".svg";
}

// No output replaces the input or another output.
void check_outputs(const MeasureArguments& a) {
  if (names_a_drawing(a.report) && !a.stages && a.sweep == 0) {
    throw Error(ExitCode::usage, "there is no picture of schedules for '" + a.report + "'",
                "name a page (NAME.html), or use --stages or --sweep");
  }
  for (const std::string& file : {a.json, a.csv, a.report}) {
    require_writable(file);
    refuse_input(a.input, file);
  }
  refuse_same_outputs({a.json, a.csv, a.report});
}

int run_variants(const MeasureArguments& a, int verbosity) {
  VariantsRequest request{a.input, a.reading, a.preload, a.variants, {}};
  request.options.repeats = a.repeats.value_or(request.options.repeats);
  request.options.energy_seconds = a.seconds.value_or(a.options.seconds);
  request.options.meters.log = a.power_log;
  request.options.stop = &stop_requested();
  if (verbosity >= 0) request.options.progress = [](const std::string& what) { spdlog::info("{}", what); };
  const pipeline::Experiment experiment = measure_variants(a.detector, request);
  std::fputs(pipeline::experiments_as_text({&experiment, 1}).c_str(), stdout);
  write_if_named(a.json, [&] { return pipeline::experiment_as_json(experiment); });
  write_if_named(a.csv, [&] { return pipeline::experiment_as_csv(experiment); });
  write_if_named(a.report, [&] { return pipeline::experiments_as_page({&experiment, 1}); });
  if (stop_requested())
    spdlog::warn("stopped after {}; the others are skipped",
                 counted(std::ssize(experiment.pictures), "picture"));
  if (experiment.differences.empty()) return stop_exit_code();
  throw Error(ExitCode::failed, "implementations find different objects",
              "report this defect of a driver or of Sightline");
}

int run_stages(const MeasureArguments& a, int verbosity) {
  std::vector<ComparedVariant> variants;
  for (const ComparedKey& key : a.compared) {
    for (ComparedVariant& variant : variants_of(key, a.detector)) variants.push_back(std::move(variant));
  }
  if (variants.size() > 1) {
    throw Error(ExitCode::usage, "--stages measures one detector, and there are several",
                "give one value, and repeat the command for each");
  }
  DetectorOptions detector = a.detector;
  for (const ComparedVariant& variant : variants) detector.set(variant.setting);
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
  write_if_named(a.report, [&] {
    return names_a_drawing(a.report) ? pipeline::stages_as_svg(measurement)
                                     : pipeline::stages_as_page(measurement);
  });
  return 0;
}

bool uses_device(const pipeline::Measurement& measurement) {
  return measurement.trace_info.processors.size() > 1;
}

int run_measure(MeasureArguments a, int verbosity) {
  prepare_reading(a.input, a.reading);
  if (a.input.empty()) throw Error(ExitCode::usage, "there is no input", "write `sightline measure INPUT`");
  check_outputs(a);
  if (!a.variants.empty()) return run_variants(a, verbosity);
  if (a.stages) return run_stages(a, verbosity);
  std::vector<KernelSweep> sweeps;
  if (a.sweep > 0) sweeps = sweep(a, verbosity);
  std::vector<pipeline::Measurement> all;
  for (const ComparedKey& key : a.compared) {
    for (const ComparedVariant& variant : variants_of(key, a.detector)) {
      DetectorOptions detector = a.detector;
      detector.set(variant.setting);
      if (verbosity >= 0) spdlog::info("{}", variant.name);
      const bool same_windows = !variant.kernels.empty() && !all.empty() && !all.back().kernels.empty();
      all.push_back(
          measure_one(a, detector, verbosity, variant.kernels, same_windows ? &all.back().work : nullptr));
      if (variant.kernels.empty() || uses_device(all.back())) continue;
      spdlog::warn("no OpenCL device is in use, so kernels make no difference: only the CPU is measured");
      break;
    }
  }
  if (all.empty()) all.push_back(measure_one(a, a.detector, verbosity));
  all.front().sweeps = std::move(sweeps);
  std::fputs(pipeline::measurements_as_text(all).c_str(), stdout);
  write_if_named(a.json, [&] { return pipeline::measurements_as_json(all); });
  write_if_named(a.csv, [&] { return pipeline::measurements_as_csv(all); });
  write_if_named(a.report, [&] {
    return names_a_drawing(a.report) ? pipeline::sweeps_as_svg(all) : pipeline::measurements_as_page(all);
  });
  return 0;
}

void add_measurement_options(OptionSet& options, MeasureArguments& a) {
  options.group("Measurement");
  options
      .add("--schedules SCHEDULE,...", &a.schedules,
           "Schedules to measure: all, every (all mappings of stages, and auto), or names separated by "
           "commas; with --stages, without split and auto")
      .suggest(several_schedule_choices)
      .show_default();
  options
      .add("--repeats N", &a.repeats,
           "Runs of each schedule, or of each variant on each picture, by turns; with --stages: windows of "
           "each row, whose range shows the uncertainty")
      .between(1, 1000)
      .show_default("3; 20 with --variants");
  options.add("--frames FRAMES", &a.options.frames, "Frames of a run (default: enough for about --seconds)")
      .between(10, 10'000'000);
  options
      .add("--seconds SECONDS", &a.seconds,
           "Length of a run, in seconds; with --variants: of the energy measurement; with --stages: of each "
           "row")
      .between(0.1, 36000)
      .show_default("1.5; 10 with --stages");
  options
      .add("--preload FRAMES", &a.preload,
           "Frames to decode beforehand and keep in memory, for the detector's own rate. With --variants: "
           "pictures of each folder (default: all)")
      .between(1, 10'000);
  for (ComparedKey& key : a.compared) {
    Option option = key.axis.option;
    if (key.axis.parameter.kind == ParameterInfo::Kind::whole_number) {
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
    options.group("Detector: " + titles_where([&](const Family& family) {
                    return std::ranges::any_of(family.info().variant_axes, [&](const VariantAxis& axis) {
                      return axis.option.name == option.name;
                    });
                  }));
    options.add(std::move(option)).separated_by(',');
  }
  options.group("Measurement");
  options
      .add("--sweep N", &a.sweep,
           "Also time kernel parameters of the device, with this many values along each side of a map; for " +
               titles_with(&Family::sweep_function))
      .between(2, 41);
  std::vector<std::string> not_with_variants{"--schedules", "--frames", "--sweep", "--split",
                                             "--in-flight", "--batch",  "--goal"};
  for (const ComparedKey& key : a.compared) not_with_variants.push_back(key.axis.option.long_name());
  Option& variants = options.add(
      "--variants NAME,...", &a.variants,
      "Implementations to time side by side, on one picture at a time, instead of schedules. Names separated "
      "by commas, or all: another library if installed (opencv), plain code (serial), SIMD on one thread "
      "(simd) and on all (cpu), each kernel variant of the device with copied and mapped buffers, and device "
      "and CPU one after the other (hybrid). Sub-folders of the input are groups of pictures");
  variants.separated_by(',').suggest([] {
    Choices choices;
    choices.list = true;
    for (const std::string& name : implementation_names()) choices.values.push_back({name, ""});
    return choices;
  });
  for (const std::string& other : not_with_variants) variants.excludes(other);
  Option& stages =
      options.add("--stages", &a.stages,
                  "Measure time, power and joules per frame of each isolated stage, on the CPU and on each "
                  "device that can run it, of the copies of a frame, and of the schedules cpu, gpu, "
                  "specialized and overlap (or those of --schedules) beside the sum of their stages, on the "
                  "input's first frame. The results are stored for --goal energy");
  for (const char* other :
       {"--frames", "--preload", "--sweep", "--split", "--in-flight", "--batch", "--goal", "--variants"})
    stages.excludes(other);
  options
      .add("--exhaustive", &a.exhaustive,
           "With --stages: also measure all mappings of stages to CPU and device, beside their predictions, "
           "for half the time each")
      .needs("--stages");
  options.add("--power-log FILE", &a.power_log, "CSV of an external power meter: columns time, watts");
  add_limit_options(options, a.reading);
  add_decoder_option(options, a.reading);
  add_timeout_option(options, a.reading);
}

}  // namespace

void add_measure(CLI::App& app, Common& common) {
  auto a = std::make_shared<MeasureArguments>();
  a->compared = compared_keys();
  OptionSet options;
  options.add("input", &a->input, "Video, picture or folder, read repeatedly");
  add_measurement_options(options, *a);
  options.group("Output");
  options.add("--json FILE", &a->json, "Write the results as JSON").checked_by(OutputFile{{".json"}});
  options.add("--csv FILE", &a->csv, "Write the results as CSV").checked_by(OutputFile{{".csv", ".txt"}});
  options
      .add("--report FILE", &a->report,
           "Write a page (HTML) with the timeline and the registers and memory of the device's kernels; with "
           "--stages: with joules as bars. NAME.svg has the bars alone, or with --sweep the maps")
      .checked_by(OutputFile{{".html", ".htm", ".svg"}});
  // Schedules are measured as --schedules names them, and keys that are compared have options of their own.
  std::set<std::string> left_out{"--schedule", "--map", "--explain"};
  for (const ComparedKey& key : a->compared) left_out.insert(key.axis.option.long_name());
  a->detector.add_to(options, left_out);
  CLI::App& command = add_command(app, common, "measure",
                                  "Measure schedules side by side: rates, latencies, overlap, bounds, energy",
                                  options, [a, &common] { return run_measure(*a, common.verbosity); });
  add_measure_texture(command, common);
}

}  // namespace sightline::apps
