#include "opencl/driver_check.hpp"

#include <dlfcn.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/child_trial.hpp"
#include "base/error.hpp"
#include "opencl/api.hpp"
#include "opencl/device.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::opencl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kVendors = "OCL_ICD_VENDORS";
// Long enough for eight GPUs that have to wake up, on a busy machine: who is given up by mistake is lost
// until the next start of the system, and who hangs costs this time once.
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
  /// Where there could be no folder, a place where none is: nothing is loaded from there.
  fs::path path() const { return path_.empty() ? "/nonexistent/" : path_; }

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
    return path_ / (driver.icd.empty() ? "driver.icd" : driver.icd.filename());
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

// All that the answers of the drivers depend on. Libraries that drivers need in turn come with packages, and
// each package that brings one makes the system's list of libraries anew.
std::string key_of(const std::vector<RegisteredDriver>& drivers, const DriverPlaces& places) {
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
    spdlog::debug("every start will ask the OpenCL drivers whether they work: {}", error.what());
  }
}

std::string this_boot() {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
  return name;
}

// Then the loader has read its list, and it is too late to leave anybody out.
bool is_loaded(const RegisteredDriver& driver) {
  if (driver.library.empty()) return false;  // dlopen would take it for the program
  void* const library = dlopen(driver.library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library != nullptr;
}

std::optional<std::string> ask_in_child(const fs::path& vendors) {
  return try_in_child(
      [&] {
        setenv(kVendors, vendors.c_str(), 1);
        list_devices_unchecked();
      },
      kLimit);
}

std::vector<FailedDriver> check_and_load() {
  const DriverPlaces places = driver_places();
  const std::vector<RegisteredDriver> drivers = registered_drivers(places);
  if (std::ranges::any_of(drivers, is_loaded)) return {};
  std::vector<FailedDriver> failed =
      failed_drivers(places, JsonStore(driver_memory_file()), this_boot(), ask_in_child);
  if (failed.empty()) return failed;
  const VendorFolder vendors;
  for (const RegisteredDriver& driver : drivers)
    if (std::ranges::find(failed, name_of(driver), &FailedDriver::name) == failed.end()) vendors.add(driver);
  const Variable variable(kVendors, vendors.path().string());
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);  // the loader reads its list, once
  for (const FailedDriver& driver : failed) {
    spdlog::warn(
        "OpenCL driver '{}' is left out with its devices: asked for them, {}; to have it asked "
        "again, delete '{}'",
        driver.name, driver.problem, driver_memory_file().string());
  }
  return failed;
}

}  // namespace

fs::path driver_memory_file() {
  return ProgramCache::file_beside("drivers.json");
}

std::vector<FailedDriver> failed_drivers(const DriverPlaces& places, const JsonStore& memory,
                                         const std::string& boot, const AskDrivers& ask) {
  const std::vector<RegisteredDriver> drivers = registered_drivers(places);
  if (drivers.empty()) return {};
  const std::string key = key_of(drivers, places);
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

const std::vector<FailedDriver>& left_out_drivers() {
  static const std::vector<FailedDriver> left_out = check_and_load();
  return left_out;
}

}  // namespace sightline::opencl
