#pragma once
/// Energy meters: how many joules a run took, from sensors that the machine has.
///
/// A figure comes from a sensor or there is none: where no meter exists, or a meter fails during a run, there
/// is no estimate in its place. Sensors are slow beside a frame (RAPL updates about every millisecond, NVML
/// about every 100, a battery every few seconds), so measure runs of many seconds.
///
/// Units: joules, watts, seconds. Do not add meters up blindly: their ranges can overlap (`covers()` says
/// what each of them sees). A suspend of the machine during a run makes the figures meaningless.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sightline {
struct DeviceInfo;
}

namespace sightline::pipeline {

/// Part of a machine that a meter sees.
enum class Seen {
  cpu,      ///< processor packages: cores, caches, built-in graphics
  memory,   ///< of the processors
  gpu,      ///< one graphics card
  machine,  ///< all of it
  unknown   ///< a sensor of a board that does not say
};

/// One sensor and the energy that it counted over an interval.
///
/// Thread safety: one thread at a time may use a meter. A thread that a meter runs to sample its sensor
/// belongs to the meter and ends with stop() and with the destructor.
class Meter {
 public:
  virtual ~Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// For example "RAPL package-0", "RAPL package-0 dram", "NVML NVIDIA H200", "battery BAT0",
  /// "hwmon amdgpu PPT", "log power.csv".
  const std::string& name() const { return name_; }
  /// Description of the parts that the figure includes.
  const std::string& covers() const { return covers_; }
  /// Reason why the meter cannot be used, for example "not readable: needs root"; empty where it can.
  const std::string& problem() const { return problem_; }
  bool usable() const { return problem_.empty(); }
  Seen sees() const { return sees_; }
  /// Meters of parts of what this one sees, which its figure includes: never to be added to it, nor to each
  /// other where something is to be known of the whole. Only those that can be used. They are started and
  /// stopped by themselves.
  const std::vector<std::unique_ptr<Meter>>& parts() const { return parts_; }
  void add_part(std::unique_ptr<Meter> part) { parts_.push_back(std::move(part)); }

  /// Begins an interval and forgets the one before. Throws Error (device) where the meter is not usable, and
  /// Error (failed) where its sensor can no longer be read.
  virtual void start() = 0;
  /// Ends the interval. Quick, and throws nothing: stop all meters of a run before asking any for its joules.
  /// Does nothing where no interval runs.
  virtual void stop() = 0;
  /// Energy of the interval in joules: from start() to stop(), or until now while it runs. Throws Error
  /// (failed) where the sensor failed on the way or there was no start(), and Error (input) where a log is
  /// not usable or does not cover the interval.
  virtual double joules() = 0;
  /// Clock when the last interval ended, in MHz, of what the meter sees: of a GPU's multiprocessors, or the
  /// mean of the CPU's cores. 0: not known.
  virtual double megahertz() const { return 0; }

 protected:
  Meter(std::string name, std::string covers, Seen sees, std::string problem = {})
      : name_(std::move(name)), covers_(std::move(covers)), problem_(std::move(problem)), sees_(sees) {}

 private:
  std::string name_;
  std::string covers_;
  std::string problem_;
  Seen sees_;
  std::vector<std::unique_ptr<Meter>> parts_;
};

/// Paths to search for meters. The defaults are right for a Linux machine; tests put their own in.
struct MeterOptions {
  std::filesystem::path powercap = "/sys/class/powercap";          ///< RAPL, Intel and AMD
  std::filesystem::path hwmon = "/sys/class/hwmon";                ///< chips with energy or power sensors
  std::filesystem::path power_supply = "/sys/class/power_supply";  ///< batteries
  std::filesystem::path cpus = "/sys/devices/system/cpu";          ///< clocks of the cores (cpufreq)
  std::string nvml = "libnvidia-ml.so.1";  ///< NVIDIA's library, for dlopen; empty: do not look
  std::filesystem::path log;               ///< file of an external logger (see joules_of_log); empty: none

  std::chrono::milliseconds power_period{50};  ///< between two samples of a power sensor; 0: only start(),
                                               ///< joules() and stop() take one
  std::chrono::milliseconds counter_period{1000};  ///< the same for counters that can wrap around
  double log_wait =
      5;  ///< seconds after stop() that joules() waits for a log to grow past the interval's end
  double log_gap = 10;  ///< seconds: two samples of a log that are further apart do not cover what is between

  std::function<double()> clock;       ///< seconds that never go back; empty: the steady clock
  std::function<double()> wall_clock;  ///< seconds since 1970-01-01 UTC; empty: the system clock
};

/// The meters that exist, in the order RAPL, NVML, hwmon, battery, log; empty where there is none. Those that
/// exist and cannot be used are among them, with their problem(). Throws Error (input) where `options.log` is
/// not a file that can be read or has a wrong header line; missing sensors are not errors.
///
/// - RAPL: the packages and their memory (`dram`, which the package does not include). `core` and `uncore`
/// are
///   parts of their package's meter (Meter::parts). Not `psys`, which includes the packages.
/// - NVML: one meter a GPU. The GPU's own energy counter where it has one, else its power, sampled.
/// - hwmon: one meter a channel: its energy counter, else its power, sampled (the chip's average before the
///   momentary value). Not the sensors that batteries show there a second time.
/// - battery: the power it gives, sampled; not usable unless it is discharging. A meter whose battery stops
///   discharging during the run fails.
std::vector<std::unique_ptr<Meter>> find_meters(const MeterOptions& options = {});

/// Whether a meter sees processors and their memory (RAPL, NVML): the ranges of these do not overlap, so they
/// may be added up.
bool is_processor_meter(const Meter& meter);

/// Whether a meter sees the CPU's cores at work.
bool sees_cpu(const Meter& meter);
/// Whether it sees an OpenCL device at work: a CPU device with the cores, a GPU by its own meter or, where it
/// shares the CPU's memory, with the package that it is built into.
bool sees_device(const Meter& meter, const DeviceInfo& device);

/// Energy in joules between two moments (seconds since 1970-01-01 UTC) from the samples of a power log, by
/// trapezoid integration with linear interpolation at both ends.
///
/// The log is CSV, comma-separated, without quotes. Its first line names the columns; `time` and `watts`
/// (upper or lower case) must be among them. A time is a number (seconds since 1970-01-01 UTC) or ISO 8601
/// (2026-01-31T12:00:00.25+01:00; a blank may stand for the T; without Z or offset it is local time). Times
/// must not go back, and the logger's clock must agree with this machine's. Empty lines are skipped. A last
/// line without a line end is not read: the logger may still be writing it.
///
/// Throws Error (input) where the file cannot be read, a line is wrong (with its number), or the samples do
/// not cover the interval: they begin after `from`, end before `to`, or leave a gap longer than `longest_gap`
/// seconds within.
double joules_of_log(const std::filesystem::path& log, double from, double to, double longest_gap);

}  // namespace sightline::pipeline
