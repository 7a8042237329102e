#include "opencl/driver_check.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/child_trial.hpp"
#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/log.hpp"
#include "base/process_policy.hpp"
#include "opencl/api.hpp"
#include "opencl/device.hpp"

namespace sightline::opencl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kVendors = "OCL_ICD_VENDORS";
// Long enough for eight GPUs to wake up on a busy machine: a driver given up by mistake is lost until the
// next system start, and a hanging driver costs this time once.
constexpr std::chrono::seconds kLimit{30};

std::string name_of(const RegisteredDriver& driver) {
  return driver.icd.empty() ? driver.library : driver.icd.string();
}

/// A folder of .icd files for the loader to read; gone when this object is.
class VendorFolder {
 public:
  VendorFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "sightline-drivers-XXXXXX").string();
    if (!error && mkdtemp(name.data())) path_ = name;
  }
  ~VendorFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  VendorFolder(const VendorFolder&) = delete;
  VendorFolder& operator=(const VendorFolder&) = delete;

  bool is_there() const { return !path_.empty(); }
  /// Ends with a slash, because Khronos's loader (as shipped with CUDA) appends names directly. If the folder
  /// could not be made, a path that does not exist, so that nothing is loaded.
  fs::path path() const { return path_.empty() ? "/nonexistent/" : path_ / ""; }

  bool add(const RegisteredDriver& driver) const {
    if (!is_there()) return false;
    if (driver.icd.empty()) {
      std::ofstream file(place_of(driver));
      file << driver.library << '\n';
      file.close();
      return !file.fail();
    }
    std::error_code error;
    fs::create_symlink(fs::absolute(driver.icd, error), place_of(driver), error);
    return !error;
  }
  void remove(const RegisteredDriver& driver) const {
    std::error_code error;
    fs::remove(place_of(driver), error);
  }

 private:
  fs::path place_of(const RegisteredDriver& driver) const {
    if (!driver.icd.empty()) return path_ / driver.icd.filename();
    return path_ / ("unregistered-" + fs::path(driver.library).filename().string() + ".icd");
  }
  fs::path path_;
};

/// An environment variable has another value for the life of this object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// A file as it is now.
std::string state_of(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return file.string() + " (absent)";
  const auto size = fs::file_size(real, error);
  const auto time = fs::last_write_time(real, error).time_since_epoch().count();
  return real.string() + " (" + std::to_string(size) + ", " + std::to_string(time) + ")";
}

std::string state_of_library(const std::string& library, const DriverPlaces& places) {
  if (library.find('/') != std::string::npos) return state_of(library);
  std::error_code error;
  for (const fs::path& folder : places.libraries)
    if (fs::exists(folder / library, error)) return state_of(folder / library);
  return library;
}

// Everything that the drivers' answers depend on. Libraries that drivers depend on come with packages, and
// each such package renews the system's list of libraries.
std::string driver_key(const std::vector<RegisteredDriver>& drivers, const DriverPlaces& places) {
  const char* const own_libraries = std::getenv("LD_LIBRARY_PATH");
  std::error_code error;
  std::string key = state_of("/etc/ld.so.cache") + " | " + (own_libraries ? own_libraries : "") + " | " +
                    (fs::exists("/sys/devices/system/cpu", error) ? "/sys" : "no /sys");
  for (const RegisteredDriver& driver : drivers)
    key += " | " + name_of(driver) + ": " + state_of_library(driver.library, places);
  return key;
}

std::optional<std::vector<FailedDriver>> remembered(const Json& entry, const std::string& boot) {
  if (!entry.is_object() || !entry.contains("failed") || !entry["failed"].is_object()) return std::nullopt;
  std::vector<FailedDriver> failed;
  for (const auto& [name, problem] : entry["failed"].items()) {
    if (!problem.is_string()) return std::nullopt;
    failed.push_back({name, problem.get<std::string>()});
  }
  if (!failed.empty() && entry.value("boot", Json()) != Json(boot)) return std::nullopt;
  return failed;
}

void remember(const JsonStore& memory, const std::string& key, const std::vector<FailedDriver>& failed,
              const std::string& boot) {
  Json problems = Json::object();
  for (const FailedDriver& driver : failed) problems[driver.name] = driver.problem;
  try {
    memory.store(key, {{"failed", problems}, {"boot", boot}});
  } catch (const Error& error) {
    logger().debug("every start will test the OpenCL drivers again: {}", error.what());
  }
}

// Then the loader has read its list, and it is too late to leave anybody out.
bool is_loaded(const RegisteredDriver& driver) {
  if (driver.library.empty()) return false;  // dlopen would take it for the program
  void* const library = dlopen(driver.library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library != nullptr;
}

std::optional<std::string> ask_in_child(const fs::path& vendors) {
  if (!process_policy().tries_drivers_in_copies) return std::nullopt;
  return try_in_child(
      [&] {
        setenv(kVendors, vendors.c_str(), 1);
        list_devices_unchecked();
      },
      kLimit);
}

// Why a library that the loader could not load, or found no platform in, cannot be loaded; empty if it
// can. It has been loaded in a process of its own before.
std::string loading_problem(const RegisteredDriver& driver) {
  if (driver.library.empty()) return "it names no library";
  if (void* const library = dlopen(driver.library.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    dlclose(library);
    return "";
  }
  const char* const problem = dlerror();
  return problem ? problem : "'" + driver.library + "' cannot be loaded";
}

// Makes the loader read its list, which it does once.
void load(const std::vector<RegisteredDriver>& drivers, bool is_systems_list) {
  std::optional<VendorFolder> vendors;
  std::optional<Variable> variable;
  if (!is_systems_list) {
    vendors.emplace();
    for (const RegisteredDriver& driver : drivers) vendors->add(driver);
    variable.emplace(kVendors, vendors->path().string());
  }
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
}

void warn_of(const std::vector<FailedDriver>& left_out) {
  for (const FailedDriver& driver : left_out) {
    logger().warn(
        "OpenCL driver '{}' was skipped: when asked for its devices, {}; to test it again, delete '{}'",
        driver.name, driver.problem, driver_memory_file().string());
  }
}

DriverReport check_and_load() {
  const DriverPlaces places = driver_places();
  std::vector<RegisteredDriver> drivers = drivers_to_load(places);
  DriverReport report;
  if (std::ranges::any_of(drivers, is_loaded)) {
    std::ranges::copy_if(drivers, std::back_inserter(report.loaded), is_loaded);
    return report;
  }
  report.left_out = failed_drivers(places, JsonStore(driver_memory_file()), boot_id(), ask_in_child);
  std::erase_if(drivers, [&](const RegisteredDriver& driver) {
    return std::ranges::find(report.left_out, name_of(driver), &FailedDriver::name) != report.left_out.end();
  });
  const std::vector<fs::path> adopted = adopted_drivers(places);
  load(drivers, report.left_out.empty() && adopted.empty());
  warn_of(report.left_out);
  for (const RegisteredDriver& driver : drivers) {
    const bool is_adopted = std::ranges::find(adopted, fs::path(driver.library)) != adopted.end();
    if (!is_loaded(driver)) {
      const std::string problem = loading_problem(driver);
      if (!problem.empty()) report.not_loaded.push_back({name_of(driver), problem});
      continue;
    }
    report.loaded.push_back(driver);
    if (is_adopted) {
      report.adopted.emplace_back(driver.library);
      logger().info("using the unregistered OpenCL driver '{}'; to register it, {}", driver.library,
                    how_to_register(driver.library));
    }
  }
  return report;
}

}  // namespace

fs::path driver_memory_file() {
  return cache_file("drivers.json");
}

std::vector<FailedDriver> failed_drivers(const DriverPlaces& places, const JsonStore& memory,
                                         const std::string& boot, const AskDrivers& ask) {
  const std::vector<RegisteredDriver> drivers = drivers_to_load(places);
  if (drivers.empty()) return {};
  const std::string key = driver_key(drivers, places);
  if (auto known = remembered(memory.find(key), boot)) return std::move(*known);
  const VendorFolder vendors;
  std::vector<FailedDriver> failed;
  for (const RegisteredDriver& driver : drivers) {
    const auto problem = vendors.add(driver) ? ask(vendors.path()) : std::optional<std::string>();
    if (!problem) return failed;  // found out in part is not worth remembering
    if (problem->empty()) continue;
    vendors.remove(driver);
    failed.push_back({name_of(driver), *problem});
  }
  remember(memory, key, failed, boot);
  return failed;
}

const DriverReport& driver_report() {
  static const DriverReport report = check_and_load();
  return report;
}

std::string no_device_text() {
  std::string text;
  for (const RegisteredDriver& driver : driver_report().loaded) {
    const std::string reason = no_device_reason(driver.library);
    text += (text.empty() ? "" : "; ") + ("driver '" + name_of(driver) + "' is loaded and offers no device") +
            (reason.empty() ? "" : ": " + reason);
  }
  return text.empty() ? "install a GPU's driver, or the package pocl-opencl-icd for any CPU" : text;
}

std::string driver_problems() {
  const DriverReport& report = driver_report();
  std::string problems;
  for (const auto* drivers : {&report.left_out, &report.not_loaded}) {
    for (const FailedDriver& driver : *drivers)
      problems += "; driver '" + driver.name + "' is not loaded: " + driver.problem;
  }
  return problems;
}

}  // namespace sightline::opencl
