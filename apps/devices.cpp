// `sightline devices`: the processors of this machine.
#include <cstdio>
#include <string>

#include "base/hardware.hpp"
#include "commands.hpp"
#include "opencl/device.hpp"
#include "opencl/driver_hint.hpp"
#include "opencl/probe.hpp"

namespace sightline::apps {
namespace {

struct DevicesArguments {
  bool probe = false;
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

void line(const char* key, const std::string& value) {
  if (!value.empty()) std::printf("     %-22s %s\n", key, value.c_str());
}

void print(const opencl::DeviceInfo& d) {
  std::printf("%3d  %s (%s)\n", d.index, d.name.c_str(), opencl::to_string(d.type));
  line("platform", d.platform);
  line("version, driver", d.version + ", " + d.driver_version);
  line("compute units", std::to_string(d.compute_units) +
                            (d.clock_mhz > 0 ? " at up to " + std::to_string(d.clock_mhz) + " MHz" : ""));
  line("memory", size_text(d.memory_bytes) + ", largest buffer " + size_text(d.largest_buffer_bytes) +
                     (d.unified_memory ? ", shared with the host" : ""));
  line("local memory",
       size_text(d.local_memory_bytes) + (d.local_memory_is_ordinary ? ", ordinary memory" : ""));
  line("work-group", "up to " + std::to_string(d.largest_work_group) + " work-items");
  line("float vector width", "native " + std::to_string(d.native_float_width) + ", preferred " +
                                 std::to_string(d.preferred_float_width));
  line("integer dot product", d.integer_dot_product ? "yes" : "no");
  line("exact square root", d.correctly_rounded_divide_sqrt ? "yes" : "no: cannot be used");
}

void print(const opencl::DeviceRates& r) {
  const auto giga = [](double value, const char* unit) {
    char text[48];
    std::snprintf(text, sizeof text, value < 1e10 ? "%.2f %s" : "%.0f %s", value * 1e-9, unit);
    return std::string(text);
  };
  char latency[96];
  std::snprintf(latency, sizeof latency, "%.1f us to completion, %.1f us apart in a row",
                1e6 * r.launch_latency, 1e6 * r.launch_interval);
  line("multiply-add peak", giga(r.multiply_adds, "G/s (float)"));
  line("memory bandwidth", giga(r.bandwidth, "GB/s (read + written)"));
  line("kernel launch", latency);
  line("upload", giga(r.upload_pinned, "GB/s pinned, ") + giga(r.upload_pageable, "GB/s pageable, ") +
                     giga(r.map, "GB/s mapped"));
  line("download", giga(r.download_pinned, "GB/s pinned, ") + giga(r.download_pageable, "GB/s pageable"));
}

int run(const DevicesArguments& a) {
  std::printf("CPU: %s, %d thread(s)\n\n", instruction_set().c_str(), hardware_threads());
  const std::vector<opencl::DeviceInfo> devices = opencl::list_devices();
  const std::string hint = opencl::driver_hint(opencl::driver_places());
  if (devices.empty()) {
    std::printf("No OpenCL device: every stage runs on the CPU.\n%s\n",
                hint.empty()
                    ? "A GPU's driver brings one; the package pocl-opencl-icd brings one for any CPU."
                    : hint.c_str());
    return 0;
  }
  std::printf("OpenCL devices, as --device takes them:\n");
  for (const opencl::DeviceInfo& device : devices) {
    print(device);
    if (a.probe) print(opencl::measure_rates(opencl::Context({device, 0, ""})));
    std::printf("\n");
  }
  const auto chosen = opencl::choose_device({"auto", 0}, devices);
  if (chosen) {
    std::printf("Used unless you say otherwise: %d '%s', %s.\n", chosen->device.index,
                chosen->device.name.c_str(), chosen->why.c_str());
  } else {
    std::printf(
        "Used unless you say otherwise: none. There is no GPU, and on a CPU the SIMD stages are faster than "
        "OpenCL's.\n");
  }
  if (!hint.empty()) std::printf("%s\n", hint.c_str());
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Common& common) {
  CLI::App* command =
      app.add_subcommand("devices", "Show the processors of this machine, and which one would be used");
  auto a = std::make_shared<DevicesArguments>();
  command->add_flag("--probe", a->probe, "Measure them: arithmetic, memory, copies, launches");
  command->callback([a, &common] { common.run = [a] { return run(*a); }; });
}

}  // namespace sightline::apps
