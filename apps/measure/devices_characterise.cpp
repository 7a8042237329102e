#include "apps/measure/devices_characterise.hpp"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <vector>

#include "apps/cli/choices.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/measure/characterisation_report.hpp"
#include "base/error.hpp"
#include "characterisation/characterise.hpp"
#include "characterisation/record.hpp"
#include "opencl/device.hpp"

namespace sightline::apps {
namespace {

using characterisation::Characteristics;

// Those asked for; `all` may also be none.
std::vector<opencl::ChosenDevice> devices_to_measure(const std::string& wanted) {
  const std::vector<opencl::DeviceChoice> choices = opencl::parse_device_choices(wanted);
  if (wanted == "none") return {};
  const std::vector<opencl::DeviceInfo> devices = opencl::list_devices();
  if (devices.empty() && wanted == "all") return {};
  return opencl::choose_devices(choices, devices);
}

// Worth keeping: something was measured.
bool has_results(const Characteristics& processor) {
  return !processor.figures.empty() || !processor.curves.empty();
}

// What was measured is shown even where it cannot be kept.
void remember_device(const opencl::ChosenDevice& device, const Characteristics& measured) {
  opencl::DeviceInfo info = device.device;
  info.name = measured.name;  // of a part of a device
  try {
    characterisation::remember(info, measured);
  } catch (const Error& error) {
    spdlog::warn("{}", error.what());
  }
}

}  // namespace

void add_characterise_options(OptionSet& options, const std::string& command,
                              CharacteriseArguments& arguments) {
  options.add("--device DEVICE", &arguments.device, "OpenCL devices to measure beside the CPU, as in detect")
      .suggest(device_choices)
      .needs(command)
      .show_default();
  options
      .add("--thorough", &arguments.thorough,
           "Take minutes instead of seconds: more sizes and repeats, with their spread, and the kernels' "
           "registers "
           "and memory")
      .needs(command);
  options
      .add("--json FILE", &arguments.json,
           "Write all curves and figures as JSON; with --decoders, the results of the tests")
      .checked_by(OutputFile{{".json"}});  // the command checks what it is given with
  options.add("--report FILE", &arguments.report, "Write a page (HTML) with plots")
      .checked_by(OutputFile{{".html", ".htm"}})
      .needs(command);
}

int run_characterise(const CharacteriseArguments& arguments, int verbosity) {
  require_writable(arguments.json);
  require_writable(arguments.report);
  refuse_same_outputs({arguments.json, arguments.report});
  stop_requested();  // from here on
  const std::vector<opencl::ChosenDevice> devices = devices_to_measure(arguments.device);

  characterisation::CharacteriseOptions options;
  if (arguments.thorough) options.length = characterisation::Length::thorough;
  options.check_stop = throw_if_stopped;
  if (verbosity >= 0) options.progress = [](const std::string& what) { spdlog::info("{}", what); };
  opencl::ProgramCache cache(opencl::ProgramCache::default_folder());
  std::vector<Characteristics> processors{characterisation::characterise_host(options)};
  std::fputs(characterisation_text(processors.front()).c_str(), stdout);
  bool all_worked = true;
  for (const opencl::ChosenDevice& device : devices) {
    processors.push_back(characterisation::characterise_device(device, &cache, options, &processors.front()));
    const Characteristics& measured = processors.back();
    std::printf("\n%s", characterisation_text(measured).c_str());
    if (has_results(measured)) {
      remember_device(device, measured);
    } else {
      all_worked = false;
    }
  }
  write_if_named(arguments.json, [&] { return characterisation::record_text(processors); });
  write_if_named(arguments.report, [&] { return characterisation_page(processors); });
  return all_worked ? 0 : 1;
}

}  // namespace sightline::apps
