#include "characterisation/characterise.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "base/hardware.hpp"
#include "characterisation/benchmarks.hpp"
#include "characterisation/decisions.hpp"
#include "characterisation/host_benchmarks.hpp"
#include "characterisation/programs.hpp"

namespace sightline::characterisation {
namespace {

template <typename Measured>
struct Benchmark {
  const char* what;
  void (*measure)(Measured& measured, Characteristics& result);
};

// Launches come first: others need the size of a sub-group.
constexpr Benchmark<DeviceSession> kDeviceBenchmarks[] = {{"launches", measure_launches},
                                                          {"arithmetic peaks", measure_peaks},
                                                          {"transfers", measure_transfers},
                                                          {"access to global memory", measure_access},
                                                          {"reads that hit a cache", measure_cached_reads},
                                                          {"reads of images", measure_images},
                                                          {"latency of reads", measure_latency},
                                                          {"local memory", measure_local_memory},
                                                          {"latency of operations", measure_operations},
                                                          {"parallelism", measure_parallelism},
                                                          {"atomic additions", measure_atomics},
                                                          {"branches", measure_divergence}};

constexpr Benchmark<const Effort> kHostBenchmarks[] = {{"threads", measure_host_threads},
                                                       {"arithmetic peaks", measure_host_peaks},
                                                       {"memory", measure_host_memory},
                                                       {"latency of reads", measure_host_latency},
                                                       {"latency of operations", measure_host_operations},
                                                       {"atomic additions", measure_host_atomics}};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double build_seconds_of(const DeviceSession& session) {
  return session.build_seconds();
}
double build_seconds_of(const Effort&) {
  return 0;
}

template <typename Measured, std::size_t kCount>
void run_all(const Benchmark<Measured> (&benchmarks)[kCount], Measured& measured,
             const CharacteriseOptions& options, Characteristics& result) {
  for (const Benchmark<Measured>& benchmark : benchmarks) {
    if (options.check_stop) options.check_stop();
    if (options.progress) options.progress(result.name + ": " + benchmark.what);
    const Stopwatch watch;
    const double built = build_seconds_of(measured);
    try {
      benchmark.measure(measured, result);
    } catch (const std::exception& error) {
      if (options.check_stop) options.check_stop();  // stopping is no loss
      result.losses.push_back({benchmark.what, error.what()});
    }
    result.parts.push_back(
        {benchmark.what, std::max(watch.seconds() - (build_seconds_of(measured) - built), 0.0)});
  }
}

// Clocks of a device that has rested rise with work, over some tenths of a second.
void wake_up(DeviceSession& session) {
  const auto start = std::chrono::steady_clock::now();
  do {
    peak_rate(session, Number::float_number);
  } while (std::chrono::steady_clock::now() - start <
           std::chrono::milliseconds(session.is_cpu() || session.effort().is_brief() ? 1 : 400));
}

}  // namespace

Characteristics characterise_host(const CharacteriseOptions& options) {
  const Stopwatch watch;
  Characteristics result;
  result.name = cpu_name();
  result.platform = "host";
  result.driver = instruction_set();
  result.type = "CPU";
  result.compute_units = hardware_threads();
  result.thorough = options.length == Length::thorough;
  const Effort effort{options.length, options.check_stop};
  run_all(kHostBenchmarks, effort, options, result);
  decide(result, nullptr);
  result.seconds = watch.seconds();
  return result;
}

Characteristics characterise_device(const opencl::ChosenDevice& chosen, opencl::ProgramCache* cache,
                                    const CharacteriseOptions& options, const Characteristics* host) {
  const Stopwatch watch;
  Characteristics result;
  result.name = chosen.device.name;
  result.platform = chosen.device.platform;
  result.driver = chosen.device.driver_version;
  result.type = to_string(chosen.device.type);
  result.compute_units = chosen.device.compute_units;
  result.thorough = options.length == Length::thorough;
  try {
    const opencl::Context context(chosen);
    result.name = context.name();
    result.compute_units = context.device().compute_units;
    DeviceSession session(context, cache, {options.length, options.check_stop});
    if (options.progress) options.progress(result.name + ": building kernels");
    session.build(programs_of(context.device()));
    wake_up(session);
    run_all(kDeviceBenchmarks, session, options, result);
    result.build_seconds = session.build_seconds();
    if (result.thorough) result.kernels = context.kernel_resources();
  } catch (const std::exception& error) {
    if (options.check_stop) options.check_stop();
    result.losses.push_back({"the device", error.what()});
  }
  decide(result, host);
  result.seconds = watch.seconds();
  return result;
}

}  // namespace sightline::characterisation
