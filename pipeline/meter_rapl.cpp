// Running Average Power Limit counters through Linux's powercap (Documentation/power/powercap/powercap.rst).

#include "base/error.hpp"
#include "pipeline/meter_kinds.hpp"

namespace sightline::pipeline {
namespace {

namespace fs = std::filesystem;

void add(const fs::path& zone, const std::string& name, const std::string& covers,
         const MeterOptions& options, Meters& meters) {
  const fs::path counter = zone / "energy_uj";
  std::error_code ignored;
  if (!fs::exists(counter, ignored)) return;
  Sensor sensor{"RAPL " + name, covers, Sensor::Kind::energy,
                [counter] { return number_of(counter) * 1e-6; }};
  try {
    sensor.range = number_of(zone / "max_energy_range_uj") * 1e-6;
  } catch (const Error&) {
    // Unknown: a measurement during which the counter wraps around fails.
  }
  meters.push_back(make_sampled_meter(std::move(sensor), options));
}

}  // namespace

void find_rapl(const MeterOptions& options, Meters& meters) {
  // intel-rapl:0 is a package, intel-rapl:0:1 one of its parts; AMD's have the same names.
  // `intel-rapl-mmio:0` is another way to the same package.
  for (const fs::path& zone : folders_in(options.powercap)) {
    const std::string folder = zone.filename().string();
    if (!folder.starts_with("intel-rapl:")) continue;
    const std::string name = line_of(zone / "name").value_or("");
    if (name.starts_with("package-")) {
      add(zone, name, "processor " + name + ": cores, caches and built-in graphics, without memory", options,
          meters);
    } else if (name == "dram") {
      const fs::path parent = options.powercap / folder.substr(0, folder.rfind(':'));
      const std::string package = line_of(parent / "name").value_or(parent.filename().string());
      add(zone, package + " dram", "memory of processor " + package, options, meters);
    }
  }
}

}  // namespace sightline::pipeline
