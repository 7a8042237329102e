// `sightline devices`: the processors of this machine, its cameras, or its video decoders.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>

#include "apps/cli/commands.hpp"
#include "apps/measure/devices_characterise.hpp"
#include "apps/measure/devices_decoders.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "characterisation/probe.hpp"
#include "media/cameras.hpp"
#include "opencl/device.hpp"
#include "opencl/driver_check.hpp"
#include "opencl/driver_hint.hpp"

namespace sightline::apps {
namespace {

struct DevicesArguments {
  bool probe = false;
  bool cameras = false;
  bool decoders = false;
  bool characterise = false;
  CharacteriseArguments characterisation;
};

std::string size_text(std::uint64_t bytes) {
  char text[32];
  if (bytes >= std::uint64_t{1} << 30) {
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  } else if (bytes >= std::uint64_t{1} << 20) {
    std::snprintf(text, sizeof text, "%.0f MiB", static_cast<double>(bytes) / (1 << 20));
  } else {
    std::snprintf(text, sizeof text, "%.0f KiB", static_cast<double>(bytes) / 1024);
  }
  return text;
}

void print_value(const char* key, const std::string& value) {
  if (!value.empty()) std::printf("     %-22s %s\n", key, value.c_str());
}

void print(const opencl::DeviceInfo& d) {
  std::printf("%3d  %s (%s)\n", d.index, d.name.c_str(), to_string(d.type));
  print_value("platform", d.platform);
  print_value("version, driver", d.version + ", " + d.driver_version);
  print_value("compute units",
              std::to_string(d.compute_units) +
                  (d.clock_mhz > 0 ? " at up to " + std::to_string(d.clock_mhz) + " MHz" : ""));
  print_value("memory", size_text(d.memory_bytes) + ", largest buffer " + size_text(d.largest_buffer_bytes) +
                            (d.unified_memory ? ", shared with the host" : ""));
  print_value("local memory",
              size_text(d.local_memory_bytes) + (d.local_memory_is_ordinary ? ", ordinary memory" : ""));
  print_value("work-group", "up to " + std::to_string(d.largest_work_group) + " work-items");
  print_value("float vector width", "native " + std::to_string(d.native_float_width) + ", preferred " +
                                        std::to_string(d.preferred_float_width));
  print_value("integer dot product", d.integer_dot_product ? "yes" : "no");
  print_value("exact square root", d.correctly_rounded_divide_sqrt ? "yes" : "no: cannot be used");
}

void print(const characterisation::DeviceRates& r) {
  const auto giga = [](double value, const char* unit) {
    char text[48];
    std::snprintf(text, sizeof text, value < 1e10 ? "%.2f %s" : "%.0f %s", value * 1e-9, unit);
    return std::string(text);
  };
  char latency[96];
  std::snprintf(latency, sizeof latency, "%.1f us to completion, %.1f us apart in a row",
                1e6 * r.launch_latency, 1e6 * r.launch_interval);
  print_value("multiply-add peak", giga(r.multiply_adds, "G/s (float)"));
  print_value("memory bandwidth", giga(r.bandwidth, "GB/s (read + written)"));
  print_value("kernel launch", latency);
  print_value("upload", giga(r.upload_pinned, "GB/s pinned, ") + giga(r.upload_pageable, "GB/s pageable, ") +
                            giga(r.map, "GB/s mapped"));
  print_value("download",
              giga(r.download_pinned, "GB/s pinned, ") + giga(r.download_pageable, "GB/s pageable"));
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string size_text(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::string size_text(const media::CameraMode& mode) {
  if (!mode.is_range()) return size_text(mode.most);
  const std::string range = size_text(mode.least) + " to " + size_text(mode.most);
  return mode.step.width > 1 || mode.step.height > 1 ? range + " by " + size_text(mode.step) : range;
}

std::string rates_text(const media::CameraMode& mode) {
  if (mode.highest_rate > 0) return number(mode.lowest_rate) + " to " + number(mode.highest_rate);
  std::string text;
  for (const double rate : mode.frame_rates) text += (text.empty() ? "" : ", ") + number(rate);
  return text.empty() ? "unknown" : text;
}

void print(const media::CameraFormat& format, std::size_t width) {
  const std::string name = format.name.empty() ? "(" + format.fourcc + ")" : format.name;
  const std::string note = format.description + (format.compressed ? ", compressed" : ", raw") +
                           (format.name.empty() ? ", cannot be used" : "");
  std::printf("     %-12s  %s\n", name.c_str(), note.c_str());
  for (const media::CameraMode& mode : format.modes)
    std::printf("     %-12s  %-*s  %s\n", "", static_cast<int>(width), size_text(mode).c_str(),
                rates_text(mode).c_str());
}

void print(const media::Camera& camera) {
  std::printf("%s  %s", camera.path.c_str(), camera.name.empty() ? "a video device" : camera.name.c_str());
  if (!camera.driver.empty()) std::printf(" (%s, %s)", camera.driver.c_str(), camera.bus.c_str());
  std::printf("\n");
  if (!camera.problem.empty()) std::printf("     %s\n", camera.problem.c_str());
  if (camera.formats.empty()) return;
  std::size_t width = 4;
  for (const media::CameraFormat& format : camera.formats)
    for (const media::CameraMode& mode : format.modes) width = std::max(width, size_text(mode).size());
  std::printf("     %-12s  %-*s  %s\n", "pixel format", static_cast<int>(width), "size", "frames/s");
  for (const media::CameraFormat& format : camera.formats) print(format, width);
}

/// Options that ask for the camera's first mode that can be used, as an example; empty where it has none.
std::string example_of(const media::Camera& camera) {
  for (const media::CameraFormat& format : camera.formats)
    for (const media::CameraMode& mode : format.modes) {
      const double rate = mode.frame_rates.empty() ? mode.highest_rate : mode.frame_rates.front();
      if (!format.name.empty() && rate > 0)
        return "--size " + size_text(mode.most) + " --fps " + number(rate) + " --pixel-format " + format.name;
    }
  return {};
}

int run_cameras() {
  const std::vector<media::Camera> cameras = media::list_cameras();
  if (cameras.empty()) {
    std::printf("No camera: %s.\n", media::no_camera_advice().c_str());
    return 0;
  }
  std::string example;
  for (const media::Camera& camera : cameras) {
    print(camera);
    std::printf("\n");
    if (const std::string options = example_of(camera); example.empty() && !options.empty())
      example = "sightline live " + camera.path + " " + options;
  }
  if (!example.empty()) std::printf("To choose: %s\n", example.c_str());
  return 0;
}

void print(const opencl::DriverReport& drivers) {
  const auto say = [](const std::string& text) {
    std::printf("%s\n\n", printable(text, kLineEndsAndTabs).c_str());
  };
  for (const opencl::FailedDriver& driver : drivers.left_out)
    say("Skipped with its devices: driver " + driver.name + "; " + driver.problem + ".");
  for (const opencl::FailedDriver& driver : drivers.not_loaded)
    say("Not loaded: driver " + driver.name + "; " + driver.problem +
        ". Install what is missing, or remove the driver.");
  for (const std::filesystem::path& library : drivers.adopted)
    say("Used without registration: driver " + library.string() + ". To register it, " +
        opencl::how_to_register(library) + ".");
}

int run_devices(const DevicesArguments& a, int verbosity) {
  if (!a.characterisation.json.empty() && !a.characterise && !a.decoders)
    throw Error(ExitCode::usage, "--json does nothing without --characterise or --decoders",
                "give one of them");
  if (a.cameras) return run_cameras();
  if (a.decoders) return run_decoders(a.characterisation.json);
  if (a.characterise) return run_characterise(a.characterisation, verbosity);
  std::printf("CPU: %s, %s\n\n", instruction_set().c_str(), counted(hardware_threads(), "thread").c_str());
  const std::vector<opencl::DeviceInfo> devices = opencl::list_devices();
  const opencl::DriverReport& drivers = opencl::driver_report();
  const bool all_work = drivers.left_out.empty() && drivers.not_loaded.empty();
  print(drivers);
  const std::string hint =
      drivers.adopted.empty() ? opencl::driver_hint(opencl::driver_places()) : std::string();
  if (devices.empty()) {
    std::printf("No OpenCL device: every stage runs on the CPU.\n");
    if (!hint.empty()) {
      std::printf("%s\n", hint.c_str());
    } else if (!drivers.loaded.empty() || all_work) {
      std::string text = opencl::no_device_text();
      text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
      std::printf("%s.\n", printable(text, kLineEndsAndTabs).c_str());
    }
    return 0;
  }
  std::printf("OpenCL devices, by number for --device:\n");
  for (const opencl::DeviceInfo& device : devices) {
    print(device);
    if (a.probe) print(characterisation::measure_rates(opencl::Context({device, 0, ""})));
    std::printf("\n");
  }
  const auto chosen = opencl::choose_device({"auto", 0}, devices);
  if (chosen) {
    std::printf("Default: %d '%s', %s.\n", chosen->device.index, chosen->device.name.c_str(),
                chosen->why.c_str());
  } else {
    std::printf("Default: none. There is no GPU, and on a CPU the SIMD stages are faster than OpenCL's.\n");
  }
  if (!hint.empty()) std::printf("%s\n", hint.c_str());
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Common& common) {
  auto a = std::make_shared<DevicesArguments>();
  OptionSet options;
  options.add("--probe", &a->probe, "Benchmark the devices: arithmetic, memory, copies, launches");
  options.add("--cameras", &a->cameras, "List the cameras instead: pixel formats, sizes, frame rates")
      .excludes("--probe");
  options
      .add("--decoders", &a->decoders,
           "Test the hardware video decoders instead: decode a clip of each codec with each of them, and "
           "compare all pixels with software decoding")
      .excludes("--probe")
      .excludes("--cameras");
  options
      .add("--characterise", &a->characterise,
           "Benchmark the CPU and the devices in depth: caches, latencies, rates by size and work-group, "
           "operations, counters, branches")
      .excludes("--probe")
      .excludes("--cameras")
      .excludes("--decoders");
  add_characterise_options(options, "--characterise", a->characterisation);
  add_command(app, common, "devices",
              "List the processors of this machine and the default one, its cameras, or its video decoders",
              options, [a, &common] { return run_devices(*a, common.verbosity); });
}

}  // namespace sightline::apps
