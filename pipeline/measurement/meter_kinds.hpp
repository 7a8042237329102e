#pragma once
/// Helpers of all kinds of meters. Internal to pipeline/meter*.cpp.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/measurement/meter.hpp"

namespace sightline::pipeline {

using Meters = std::vector<std::unique_ptr<Meter>>;

/// A sensor that is read while the run lasts.
struct Sensor {
  enum class Kind { energy, power };

  std::string name;
  std::string covers;
  Kind kind;
  /// Joules on a counter, or watts. Throws Error with the bare problem ("not readable: needs root"). Called
  /// by one thread at a time.
  std::function<double()> read;
  Seen sees = Seen::unknown;
  double range = 0;  ///< joules at which an energy counter starts again from 0; 0: it does not
  std::function<double()> megahertz = {};  ///< clock of what it sees, now; empty: not known. As `read`
};

/// Reads the sensor once; the meter is not usable where that fails.
std::unique_ptr<Meter> make_sampled_meter(Sensor sensor, const MeterOptions& options);

void find_rapl(const MeterOptions& options, Meters& meters);
void find_nvml(const MeterOptions& options, Meters& meters);
void find_hwmon(const MeterOptions& options, Meters& meters);
void find_batteries(const MeterOptions& options, Meters& meters);
void find_log(const MeterOptions& options, Meters& meters);

/// Sub-folders by name (symbolic links too); none where the folder cannot be listed.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder);
/// The first line of a file, or nothing where there is no such file or it cannot be read.
std::optional<std::string> line_of(const std::filesystem::path& file);
/// The number in a file of one line. Throws Error: "not readable: needs root", or what else is wrong.
double number_of(const std::filesystem::path& file);

}  // namespace sightline::pipeline
