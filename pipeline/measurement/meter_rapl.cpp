// Running Average Power Limit counters through Linux's powercap (Documentation/power/powercap/powercap.rst).

#include "base/error.hpp"
#include "pipeline/measurement/meter_kinds.hpp"

namespace sightline::pipeline {
namespace {

namespace fs = std::filesystem;

// The mean of all cores; 0 where none tells its clock.
double megahertz_of_cores(const fs::path& cpus) {
  double sum = 0;
  int cores = 0;
  for (const fs::path& core : folders_in(cpus)) {
    const fs::path kilohertz = core / "cpufreq" / "scaling_cur_freq";
    std::error_code ignored;
    if (!fs::exists(kilohertz, ignored)) continue;
    sum += number_of(kilohertz) * 1e-3;
    ++cores;
  }
  return cores > 0 ? sum / cores : 0;
}

// Null where there is no counter.
std::unique_ptr<Meter> meter_of(const fs::path& zone, const std::string& name, const std::string& covers,
                                Seen sees, const MeterOptions& options) {
  const fs::path counter = zone / "energy_uj";
  std::error_code ignored;
  if (!fs::exists(counter, ignored)) return nullptr;
  Sensor sensor{"RAPL " + name, covers, Sensor::Kind::energy, [counter] { return number_of(counter) * 1e-6; },
                sees};
  try {
    sensor.range = number_of(zone / "max_energy_range_uj") * 1e-6;
  } catch (const Error&) {
    // Unknown: a measurement during which the counter wraps around fails.
  }
  if (sees == Seen::cpu) sensor.megahertz = [cpus = options.cpus] { return megahertz_of_cores(cpus); };
  return make_sampled_meter(std::move(sensor), options);
}

void add_parts(const fs::path& package, Meter& meter, const MeterOptions& options) {
  for (const fs::path& zone : folders_in(options.powercap)) {
    if (!zone.filename().string().starts_with(package.filename().string() + ":")) continue;
    const std::string name = line_of(zone / "name").value_or("");
    if (name != "core" && name != "uncore") continue;
    const char* const covers = name == "core" ? "the processor's cores" : "the processor without its cores";
    auto part = meter_of(zone, name, covers, Seen::cpu, options);
    if (part && part->usable()) meter.add_part(std::move(part));
  }
}

}  // namespace

void find_rapl(const MeterOptions& options, Meters& meters) {
  // intel-rapl:0 is a package, intel-rapl:0:1 one of its parts; AMD's have the same names.
  // `intel-rapl-mmio:0` is another way to the same package.
  for (const fs::path& zone : folders_in(options.powercap)) {
    const std::string folder = zone.filename().string();
    if (!folder.starts_with("intel-rapl:")) continue;
    const std::string name = line_of(zone / "name").value_or("");
    std::unique_ptr<Meter> meter;
    if (name.starts_with("package-")) {
      meter =
          meter_of(zone, name, "processor " + name + ": cores, caches and built-in graphics, without memory",
                   Seen::cpu, options);
      if (meter) add_parts(zone, *meter, options);
    } else if (name == "dram") {
      const fs::path parent = options.powercap / folder.substr(0, folder.rfind(':'));
      const std::string package = line_of(parent / "name").value_or(parent.filename().string());
      meter = meter_of(zone, package + " dram", "memory of processor " + package, Seen::memory, options);
    }
    if (meter) meters.push_back(std::move(meter));
  }
}

}  // namespace sightline::pipeline
