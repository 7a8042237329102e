// `sightline tune`: the fastest variant of every kernel on a device.
#include <spdlog/spdlog.h>

#include <cstdio>

#include "base/error.hpp"
#include "commands.hpp"
#include "detector_options.hpp"
#include "filterbank/detector.hpp"
#include "filterbank/opencl/tuning.hpp"
#include "media/reader.hpp"
#include "opencl/probe.hpp"

namespace sightline::apps {
namespace {

struct TuneArguments {
  std::string input = "lavfi:testsrc2=size=1920x1080:duration=1";
  std::string config = "people";
  std::string device = "auto";
  bool dry = false;
};

int run(const TuneArguments& a) {
  const Config config = Config::load(find_config(a.config));
  require_filterbank("tune", config);
  const auto devices = opencl::list_devices();
  auto chosen = opencl::choose_device(opencl::parse_device_choice(a.device), devices);
  if (!chosen && a.device == "auto" && !devices.empty()) chosen = opencl::choose_device({"0", 0}, devices);
  if (!chosen)
    throw Error(ExitCode::device, "there is no OpenCL device to tune for", "see `sightline devices`");
  const opencl::Context context(*chosen);
  const auto detector = filterbank::make_filterbank_detector(config);
  opencl::ProgramCache cache(opencl::ProgramCache::default_folder());
  media::Reader reader(a.input);
  const auto frame = reader.read();
  if (!frame) throw Error(ExitCode::input, "'" + a.input + "' has no frame");

  const double peak = opencl::measure_multiply_adds(context);
  std::printf("%s, driver %s: %.0f G float multiply-adds/s\n", context.name().c_str(),
              context.device().driver_version.c_str(), 1e-9 * peak);
  std::printf("frame %dx%d, scale step %g\n\n", frame->size().width, frame->size().height,
              detector->options().scale_step);
  std::printf("   %-60s %10s %10s %8s\n", "variant", "ms", "GMAC/s", "of peak");
  const TuningOutcome tuned =
      filterbank::tune(*detector, context, &cache, frame->view(), [&](const opencl::TuningTrial& trial) {
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
      });
  const FrameTimes& times = tuned.frame;
  std::printf("\nA whole frame with the best variants:");
  for (const auto& stage : times.stages) std::printf(" %s %.3f", stage.name.c_str(), 1e3 * stage.seconds);
  std::printf("\n%.3f ms on the device, %.3f ms from the host's frame to the host's detections\n",
              1e3 * times.device, 1e3 * times.host);
  if (a.dry) return 0;
  const opencl::TuningDatabase database(opencl::TuningDatabase::default_file());
  database.store(context.device(), tuned.problem, tuned.best);
  std::printf("\nThe variants marked * are used from now on (%s).\n", database.file().string().c_str());
  return 0;
}

}  // namespace

void add_tune(CLI::App& app, Common& common) {
  CLI::App* command = app.add_subcommand(
      "tune", "Time the variants of every kernel on a device, and use the fastest from then on");
  auto a = std::make_shared<TuneArguments>();
  command->add_option("input", a->input, "Video or picture whose first frame is used")->capture_default_str();
  command->add_option("-c,--config", a->config, "Pipeline whose detector is tuned")->capture_default_str();
  command->add_option("--device", a->device, "OpenCL device, as in detect")->capture_default_str();
  command->add_flag("--dry-run", a->dry, "Remember nothing");
  command->callback([a, &common] { common.run = [a] { return run(*a); }; });
}

}  // namespace sightline::apps
