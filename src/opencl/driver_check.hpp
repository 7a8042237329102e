#pragma once
/// A driver that crashes or hangs as soon as it is asked for its devices (as PoCL 3.1 does on a system
/// without /sys) costs these devices, not the program: drivers are asked in processes of their own first, and
/// the loader is told of those alone that answered.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_store.hpp"
#include "opencl/driver_hint.hpp"

namespace sightline::opencl {

/// A driver whose devices cannot be had.
struct FailedDriver {
  std::string name;     ///< its .icd file, or its library where the user names that
  std::string problem;  ///< "it crashed (Aborted)"
};

/// What has become of this machine's drivers.
struct DriverReport {
  std::vector<FailedDriver> left_out;    ///< they did not answer, and the loader is not told of them
  std::vector<FailedDriver> not_loaded;  ///< their libraries are missing or cannot be loaded
  /// Libraries that are used although they are not registered (`adopted_drivers`).
  std::vector<std::filesystem::path> adopted;
};

/// Asks the drivers whether they work, and makes the loader load those that do. The first call of a process
/// finds out, warns of each that does not answer, and makes the loader load the others, with those that
/// nobody registered, so it has to come before other calls of OpenCL; `list_devices` sees to that. Where a
/// driver is loaded already, or nobody can be asked, none is left out. What is found out is remembered in
/// `driver_memory_file`. Takes up to half a minute for a driver that hangs, less than a second for others,
/// and no time where the drivers are the ones that were asked before. Never throws for a machine's state.
const DriverReport& driver_report();

/// What is wrong with this machine's drivers, for people, after the devices that there are: "; driver 'a.icd'
/// is not loaded: ..."; empty where nothing is.
std::string driver_problems();

/// $XDG_CACHE_HOME/sightline/drivers.json, or ~/.cache/...; empty where neither is known.
std::filesystem::path driver_memory_file();

/// Asks all drivers of a folder of .icd files at once for their devices. @return as try_in_child
using AskDrivers = std::function<std::optional<std::string>(const std::filesystem::path& vendors)>;

/// The drivers that fail, as they are remembered, or as they are found out and then remembered: one is asked
/// after the other, each together with those that have answered before, since drivers may get into each
/// other's way. Remembered is by what the answers depend on: files of the drivers, where libraries are looked
/// for, whether there is a /sys; and failures are until the next start of the system. Who cannot be asked
/// counts as one that answers, and then nothing is remembered.
/// @param boot  of the system: a name that changes with each start
std::vector<FailedDriver> failed_drivers(const DriverPlaces& places, const JsonStore& memory,
                                         const std::string& boot, const AskDrivers& ask);

}  // namespace sightline::opencl
