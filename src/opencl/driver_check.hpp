#pragma once
/// Isolation of faulty drivers: a driver that crashes or hangs when asked for its devices (like PoCL 3.1
/// without /sys) loses only its devices. Drivers are first tested in child processes, and the loader gets
/// only those that answered.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_store.hpp"
#include "opencl/driver_hint.hpp"

namespace sightline::opencl {

/// A driver whose devices are unavailable.
struct FailedDriver {
  std::string name;     ///< its .icd file, or its library where the user names that
  std::string problem;  ///< "it crashed (Aborted)"
};

/// State of this machine's drivers.
struct DriverReport {
  std::vector<FailedDriver> left_out;    ///< they did not answer; hidden from the loader
  std::vector<FailedDriver> not_loaded;  ///< their libraries are missing or cannot be loaded
  /// Libraries that are used although they are not registered (`adopted_drivers`).
  std::vector<std::filesystem::path> adopted;
  std::vector<RegisteredDriver> loaded;  ///< all that are
};

/// Tests the drivers and makes the loader load only working ones. The first call of a process does the test,
/// warns of each driver that does not answer, and makes the loader load the others, including unregistered
/// ones. It must precede other OpenCL calls; `list_devices` ensures this. If a driver is already loaded, or
/// no test is possible or allowed (ProcessPolicy), none is left out. Results are stored in `driver_memory_file`. Takes up to 30 s for a
/// driver that hangs, less than 1 s for others, and no time for drivers with stored results. Never throws
/// because of the machine's state.
const DriverReport& driver_report();

/// Text about failed drivers, to append to a list of devices: "; driver 'a.icd' is not loaded: ..."; empty if
/// there are none.
std::string driver_problems();

/// What to tell of a machine without a device, without a full stop: the loaded drivers, each with the likely
/// reason why it offers none; without any, how to get one.
std::string no_device_text();

/// $XDG_CACHE_HOME/sightline/drivers.json, or ~/.cache/...; empty if neither is known.
std::filesystem::path driver_memory_file();

/// Asks all drivers of a folder of .icd files at once for their devices. @return as try_in_child
using AskDrivers = std::function<std::optional<std::string>(const std::filesystem::path& vendors)>;

/// Failing drivers, from stored results or from tests whose results are then stored. Drivers are tested one
/// after the other, each together with those that passed, since they may interfere. Results are stored under
/// everything that they depend on: driver files, library paths, existence of /sys. Failures are valid until
/// the next system start. Drivers that cannot be tested count as working, and then nothing is stored.
/// @param boot  id that changes with each system start
std::vector<FailedDriver> failed_drivers(const DriverPlaces& places, const JsonStore& memory,
                                         const std::string& boot, const AskDrivers& ask);

}  // namespace sightline::opencl
