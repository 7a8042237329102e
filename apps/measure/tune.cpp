// `sightline tune`: the fastest variant of every kernel on a device.
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>

#include "apps/cli/choices.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/config_lookup.hpp"
#include "apps/cli/family_commands.hpp"
#include "apps/common/media_options.hpp"
#include "base/error.hpp"
#include "characterisation/hints.hpp"
#include "characterisation/probe.hpp"
#include "characterisation/record.hpp"
#include "media/reader.hpp"
#include "opencl/opened_device.hpp"
#include "pipeline/report/kernel_output.hpp"
#include "processing/opencl/opencl_tuner.hpp"

namespace sightline::apps {
namespace {

struct TuneArguments {
  std::string input = "lavfi:testsrc2=size=1920x1080:duration=1";
  std::string config = kDefaultConfig;
  std::string device = "auto";
  bool dry = false;
  bool quick = false;
};

// What the trials are compared with: float multiply-adds a second.
void print_trial(const opencl::TuningTrial& trial, double peak) {
  if (!trial.failure.empty()) {
    std::printf("   %-60s %10s\n", trial.variant.c_str(), "-");
    spdlog::debug("{}", trial.failure);
    return;
  }
  std::printf("%s %-60s %10.3f", trial.best ? " *" : "  ",
              (trial.variant + (trial.exact ? "" : " (inexact)")).c_str(), 1e3 * trial.seconds);
  if (trial.multiply_adds > 0) {
    const double rate = trial.multiply_adds / trial.seconds;
    std::printf(" %10.0f %7.0f%%", 1e-9 * rate, 100 * rate / peak);
  }
  std::printf("\n");
}

int run_tune(TuneArguments a) {
  media::ReadOptions reading;
  prepare_reading(a.input, reading);
  const Config config = Config::load(find_config(a.config));
  const Family& family = require_tool("tune", config, &Family::tune_function);
  const auto devices = opencl::list_devices();
  auto chosen = opencl::choose_device(opencl::parse_device_choice(a.device), devices);
  if (!chosen && a.device == "auto" && !devices.empty()) chosen = opencl::choose_device({"0", 0}, devices);
  if (!chosen)
    throw Error(ExitCode::device, "there is no OpenCL device to tune for", "see `sightline devices`");
  const opencl::OpenedDevice device(*chosen);
  const auto detector = family.make(config);
  reading.keep_colour = reads_colour(*detector);
  media::Reader reader(a.input, reading);
  const auto frame = reader.read();
  if (!frame) throw Error(ExitCode::input, "'" + a.input + "' has no frame");

  const double peak = characterisation::measure_multiply_adds(device);
  std::printf("%s, driver %s: %.0f G float multiply-adds/s\n", device.name().c_str(),
              device.device().driver_version.c_str(), 1e-9 * peak);
  std::printf("frame %dx%d, scale step %g\n\n", frame->size().width, frame->size().height,
              config.number("detector", "scale_step", 1.1, 1, 8));
  std::printf("%s\n\n", a.quick ? "Tuning takes one to two minutes the first time (kernels are compiled), "
                                  "seconds later. Press Ctrl-C to cancel without a change."
                                : "Tuning takes several minutes the first time, most of it to compile "
                                  "kernels; --quick tries fewer. Press Ctrl-C to cancel without a change.");
  std::fflush(stdout);
  std::printf("   %-60s %10s %10s %8s\n", "variant", "ms", "GMAC/s", "of peak");
  int trials = 0;
  const auto start = std::chrono::steady_clock::now();
  TuneOptions options;
  options.quick = a.quick;
  if (const auto known = characterisation::remembered(device.device())) {
    options.hints = characterisation::hints_of(*known);
    if (options.hints != opencl::DeviceHints())
      spdlog::info("starting from the results of `sightline devices --characterise`");
  }
  options.report = [&](const opencl::TuningTrial& trial) {
    ++trials;
    print_trial(trial, peak);
  };
  const TuningOutcome outcome = (*family.tune_function())(*detector, device, frame->view(), options);
  std::printf("\n%d variants in %.1f s.\n", trials,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  std::printf("\nA whole frame with the best variants:");
  for (const auto& stage : outcome.frame.stages)
    std::printf(" %s %.3f", stage.name.c_str(), 1e3 * stage.seconds);
  std::printf("\n%.3f ms on the device, %.3f ms from the host's frame to the host's detections\n",
              1e3 * outcome.frame.device, 1e3 * outcome.frame.host);
  std::printf("\nKernels of these variants:\n%s%s\n",
              report::to_text(report::kernel_table(device.kernel_resources())).c_str(),
              report::wrapped(report::kKernelGuide).c_str());
  if (a.dry) return 0;
  const opencl::TuningDatabase database(opencl::TuningDatabase::default_file());
  database.store(device.device(), outcome.problem, outcome.best);
  std::printf("\nThe variants marked * are used from now on (%s).\n", database.file().string().c_str());
  return 0;
}

}  // namespace

void add_tune(CLI::App& app, Common& common) {
  auto a = std::make_shared<TuneArguments>();
  OptionSet options;
  options.add("input", &a->input, "Video or picture whose first frame is used").show_default();
  options.add("-c,--config CONFIG", &a->config, "Configuration whose detector is tuned")
      .suggest(config_choices)
      .show_default();
  options.add("--device DEVICE", &a->device, "OpenCL device, as in detect")
      .suggest(device_choices)
      .show_default();
  options.add("--quick", &a->quick,
              "Try fewer variants: follow improvements from the start values. Takes one to two minutes the "
              "first time, seconds later");
  options.add("--dry-run", &a->dry, "Do not store the results");
  add_command(app, common, "tune",
              "Time the variants of every kernel on a device, and use the fastest from then on", options,
              [a] { return run_tune(*a); });
}

}  // namespace sightline::apps
