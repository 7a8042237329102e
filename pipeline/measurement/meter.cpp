#include "pipeline/measurement/meter.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/error.hpp"
#include "device/device.hpp"
#include "pipeline/measurement/meter_kinds.hpp"

namespace sightline::pipeline {
namespace {

namespace fs = std::filesystem;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string problem_of(const Sensor& sensor) {
  try {
    sensor.read();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

class SampledMeter : public Meter {
 public:
  SampledMeter(Sensor sensor, const MeterOptions& options)
      : Meter(sensor.name, sensor.covers, sensor.sees, problem_of(sensor)),
        sensor_(std::move(sensor)),
        clock_(options.clock) {
    if (sensor_.kind == Sensor::Kind::power) period_ = options.power_period;
    // A counter that does not wrap needs its first and its last value only.
    if (sensor_.kind == Sensor::Kind::energy && sensor_.range > 0) period_ = options.counter_period;
  }

  void start() override {
    if (!usable()) throw Error(ExitCode::device, problem()).at(name());
    end_thread();
    joules_ = 0;
    failure_.clear();
    running_ = started_ = false;
    try {
      last_time_ = clock_();
      last_value_ = sensor_.read();
    } catch (const std::exception& error) {
      throw Error(ExitCode::failed, error.what()).at(name());
    }
    running_ = started_ = true;
    if (period_.count() > 0) thread_ = std::jthread([this](std::stop_token token) { keep_sampling(token); });
  }

  void stop() override {
    if (!running_) return;
    megahertz_ = clock_now();  // first: clocks fall soon after the work ends
    end_thread();
    const std::lock_guard lock(mutex_);
    sample();
    running_ = false;
  }

  double joules() override {
    if (!started_) throw Error(ExitCode::failed, "was not started").at(name());
    const std::lock_guard lock(mutex_);
    if (running_) sample();
    if (!failure_.empty()) throw Error(ExitCode::failed, failure_).at(name());
    return joules_;
  }

  double megahertz() const override { return megahertz_; }

 private:
  double clock_now() const {
    try {
      return sensor_.megahertz ? sensor_.megahertz() : 0;
    } catch (const Error&) {
      return 0;
    }
  }

  void end_thread() {
    thread_ = {};  // asks the thread to stop, which wakes it, and joins it
  }

  void keep_sampling(const std::stop_token& token) {
    std::unique_lock lock(mutex_);
    while (failure_.empty()) {
      wake_.wait_for(lock, token, period_, [] { return false; });
      if (token.stop_requested()) return;
      sample();
    }
  }

  // Adds what came since the last sample. The mutex is held.
  void sample() {
    if (!failure_.empty()) return;  // a gap would be filled by a guess
    try {
      const double time = clock_();
      const double value = sensor_.read();
      joules_ += sensor_.kind == Sensor::Kind::energy ? counted(last_value_, value)
                                                      : (last_value_ + value) / 2 * (time - last_time_);
      last_time_ = time;
      last_value_ = value;
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
  }

  double counted(double before, double after) const {
    if (after >= before) return after - before;
    if (sensor_.range < before) throw Error(ExitCode::failed, "its counter went back during the run");
    return after - before + sensor_.range;
  }

  const Sensor sensor_;
  const std::function<double()> clock_;
  std::chrono::milliseconds period_{0};
  bool started_ = false;
  bool running_ = false;
  double megahertz_ = 0;

  std::mutex mutex_;  // guards what follows while the thread runs
  double last_time_ = 0;
  double last_value_ = 0;
  double joules_ = 0;
  std::string failure_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it ends before anything that it uses
};

}  // namespace

std::unique_ptr<Meter> make_sampled_meter(Sensor sensor, const MeterOptions& options) {
  return std::make_unique<SampledMeter>(std::move(sensor), options);
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code ignored;  // sensors that are not there are not an error
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    if (entry->is_directory(ignored)) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::optional<std::string> line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

double number_of(const fs::path& file) {
  errno = 0;
  const std::optional<std::string> line = line_of(file);
  if (!line) {
    const int cause = errno;
    if (cause == EACCES || cause == EPERM) throw Error(ExitCode::failed, "not readable: needs root");
    throw Error(ExitCode::failed,
                "not readable: " + file.string() + ": " + (cause ? std::strerror(cause) : "it is empty"));
  }
  double value = 0;
  const auto [end, fault] = std::from_chars(line->data(), line->data() + line->size(), value);
  if (fault != std::errc() || end != line->data() + line->size() || !std::isfinite(value)) {
    throw Error(ExitCode::failed, "not readable: " + file.string() + " holds '" + *line + "', not a number");
  }
  return value;
}

std::vector<std::unique_ptr<Meter>> find_meters(const MeterOptions& given) {
  MeterOptions options = given;
  if (!options.clock) options.clock = steady_seconds;
  if (!options.wall_clock) options.wall_clock = wall_seconds;
  Meters meters;
  find_rapl(options, meters);
  find_nvml(options, meters);
  find_hwmon(options, meters);
  find_batteries(options, meters);
  find_log(options, meters);
  return meters;
}

bool is_processor_meter(const Meter& meter) {
  return meter.name().starts_with("RAPL") || meter.name().starts_with("NVML");
}

namespace {

// A sensor of a board that does not say what it sees gets the benefit of the doubt: its name is shown beside
// its figures.
bool sees_all(const Meter& meter) {
  return meter.sees() == Seen::machine || meter.sees() == Seen::unknown;
}

// A card's meter is named after the card (NVML) or after its driver (hwmon).
bool is_meter_of(const Meter& meter, const DeviceInfo& device) {
  if (meter.name().starts_with("NVML")) return device.is_nvidia();
  const auto made_by = [&](const char* maker) { return device.vendor.find(maker) != std::string::npos; };
  if (meter.name().starts_with("hwmon amdgpu")) return made_by("AMD") || made_by("Advanced Micro Devices");
  if (meter.name().starts_with("hwmon nouveau")) return made_by("NVIDIA") || made_by("nouveau");
  return made_by("Intel");
}

}  // namespace

bool sees_cpu(const Meter& meter) {
  return meter.sees() == Seen::cpu || sees_all(meter);
}

bool sees_device(const Meter& meter, const DeviceInfo& device) {
  if (sees_all(meter)) return true;
  if (device.type == DeviceType::cpu) return meter.sees() == Seen::cpu;
  if (meter.sees() == Seen::gpu) return is_meter_of(meter, device);
  return meter.sees() == Seen::cpu && device.type == DeviceType::gpu && device.unified_memory &&
         !device.is_nvidia();
}

}  // namespace sightline::pipeline
