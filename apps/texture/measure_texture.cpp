// `sightline measure texture`: what counting patterns costs.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/media_options.hpp"
#include "apps/measure/measure_variants.hpp"
#include "apps/texture/texture_experiment.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "media/reader.hpp"
#include "pipeline/planning/engine.hpp"
#include "pipeline/report/experiment_output.hpp"

namespace sightline::apps {
namespace {

struct MeasureTextureArguments {
  std::string input;
  std::vector<std::string> operators{"grid"};
  std::string mapping = "plain";
  TextureExperimentOptions options;
  int repeats = 9;
  std::string device = "auto";
  std::string json, report;
};

void print_texture_trial(const opencl::TuningTrial& trial) {
  std::printf("%s %-90s %9s\n", trial.best ? " *" : "  ", trial.variant.c_str(),
              trial.failure.empty() ? fmt::format("{:.3f}", 1e3 * trial.seconds).c_str() : "-");
}

int run_measure_texture(MeasureTextureArguments a, int verbosity) {
  media::ReadOptions reading;
  prepare_reading(a.input, reading);
  for (const std::string& file : {a.json, a.report}) {
    require_writable(file);
    refuse_input(a.input, file);
  }
  refuse_same_outputs({a.json, a.report});
  a.options.settings.operators.clear();
  for (const std::string& name : a.operators)
    a.options.settings.operators.push_back(LbpOperator::parse(name));
  a.options.settings.mapping = *parse_lbp_mapping(a.mapping);
  texture::check(a.options.settings);
  std::ranges::sort(a.options.sizes);
  pipeline::ScheduleRequest schedule;
  schedule.devices = a.device;
  const std::vector<opencl::ChosenDevice> devices = pipeline::choose_devices(schedule);
  media::Reader reader(a.input, reading);
  const auto frame = reader.read();
  if (!frame) throw Error(ExitCode::input, "'" + a.input + "' has no picture");
  const Image<std::uint8_t> picture = to_gray(*frame);
  a.options.experiment.repeats = a.repeats;
  a.options.experiment.energy_seconds = 0;
  a.options.experiment.stop = &stop_requested();
  if (verbosity >= 0)
    a.options.experiment.progress = [](const std::string& what) { spdlog::info("{}", what); };
  a.options.report = print_texture_trial;
  TextureExperiment measured = run_texture_experiment(picture.view(), a.options, devices);
  for (pipeline::Experiment& one : measured.experiments) {
    one.input = a.input;
    one.program = program_text();
    one.machine = fmt::format("{}, {} of {} threads", cpu_name(), measured.threads, hardware_threads());
  }
  std::fputs(pipeline::experiments_as_text(measured.experiments).c_str(), stdout);
  write_if_named(a.json, [&] { return texture_json(measured, a.input); });
  write_if_named(a.report, [&] { return pipeline::experiments_as_page(measured.experiments); });
  return 0;
}

}  // namespace

void add_measure_texture(CLI::App& measure, Common& common) {
  auto a = std::make_shared<MeasureTextureArguments>();
  OptionSet options;
  options.add("picture", &a->input, "Picture that is repeated to make the measured ones").require();
  options
      .add("--operator OPERATOR", &a->operators,
           "grid, or points and radius of a circle, such as 8,1; may be given several times")
      .one_at_a_time()
      .show_default();
  options.add("--mapping MAPPING", &a->mapping, "Mapping of codes to bins: plain, u2, ri or riu2")
      .one_of({"plain", "u2", "ri", "riu2"})
      .show_default();
  options.add("--sizes PX,...", &a->options.sizes, "Sides of the square pictures, in pixels")
      .separated_by(',')
      .between(16, 32768)
      .show_default();
  options.add("--groups N", &a->options.groups, "Work-group sizes to measure on the largest picture")
      .separated_by(',')
      .between(1, 1024)
      .show_default();
  options
      .add("--variants VARIANT,...", &a->options.variants,
           "Kernel variants (global, local, mapreduce, banked, serial), separated by commas (default: all "
           "that suit the device)")
      .separated_by(',');
  options.add("--tune", &a->options.tune,
              "First tune the kernels for the largest picture, and use the fastest from then on");
  options.add("--repeats N", &a->repeats, "Runs of each measurement; JSON has the fastest")
      .between(1, 1000)
      .show_default();
  options.add("--threads N", &a->options.threads, "CPU threads (default: all)").between(1, 1024);
  options.add("--device DEVICE", &a->device, "OpenCL devices, as in detect")
      .suggest(device_choices)
      .show_default();
  options.group("Output");
  options.add("--json FILE", &a->json, "Write the results as JSON").checked_by(OutputFile{{".json"}});
  options.add("--report FILE", &a->report, "Write a page (HTML) with plots")
      .checked_by(OutputFile{{".html", ".htm"}});
  add_command(measure, common, "texture",
              "Measure the speed of local binary patterns: kernel variants, picture and work-group sizes, "
              "beside plain code and the machine's bounds",
              options, [a, &common] { return run_measure_texture(*a, common.verbosity); });
}

}  // namespace sightline::apps
