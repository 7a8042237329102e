#include "opencl/driver_hint.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace sightline::opencl {
namespace {

namespace fs = std::filesystem;

// Library names in the packages of NVIDIA, AMD (ROCm) and Intel.
constexpr const char* kDrivers[] = {"libnvidia-opencl.so.1", "libamdocl64.so", "libigdrcl.so"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// "libx.so.1" and "/opt/libx.so.1.2" are one library: "libx".
std::string stem(const fs::path& library) {
  const std::string name = library.filename().string();
  return name.substr(0, name.find(".so"));
}

// The library that an .icd file names on its first line.
std::string named_in(const fs::path& icd) {
  std::ifstream file(icd);
  std::string line;
  std::getline(file, line);
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
  return line;
}

// Where PoCL keeps what it compiles: without such a folder it offers no device.
fs::path pocl_folder() {
  if (const std::string own = variable("POCL_CACHE_DIR"); !own.empty()) return own;
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "pocl/kcache";
  const std::string home = variable("HOME");
  return home.empty() ? fs::path("/tmp/pocl/kcache") : fs::path(home) / ".cache/pocl/kcache";
}

std::string pocl_reason() {
  if (const std::string devices = variable("POCL_DEVICES"); !devices.empty())
    return "POCL_DEVICES is '" + devices + "'; unset it, or set it to cpu";
  const fs::path folder = pocl_folder();
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && ::access(folder.c_str(), W_OK) == 0) return "";
  return "its cache folder '" + folder.string() +
         "' cannot be written; set POCL_CACHE_DIR to a folder that can be";
}

}  // namespace

std::string no_device_reason(const std::string& library) {
  const std::string name = stem(library);
  if (name.find("pocl") != std::string::npos) return pocl_reason();
  if (name.find("nvidia") != std::string::npos)
    return "check that nvidia-smi lists the GPU, and that this user may open /dev/nvidia*";
  for (const char* driver : {"amdocl", "igdrcl", "rusticl", "MesaOpenCL"}) {
    if (name.find(driver) != std::string::npos)
      return "check that the GPU is there, and that this user may open /dev/dri/render* (group render)";
  }
  return "";
}

DriverPlaces driver_places() {
  DriverPlaces places;
  places.vendors = "/etc/OpenCL/vendors";
  for (const char* name : {"OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"}) {
    const fs::path own = variable(name);
    std::error_code error;
    // The bare name of an .icd file is one in the folder before it is one here.
    const bool in_folder =
        own.extension() == ".icd" && !own.has_parent_path() && fs::exists(places.vendors / own, error);
    if (own.empty()) continue;
    places.vendors = in_folder ? places.vendors / own : own;
    places.is_named = true;
  }
  std::istringstream own(variable("LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(own, folder, ':');) {
    if (!folder.empty()) places.libraries.emplace_back(folder);
  }
  for (const char* folder :
       {"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib", "/opt/rocm/lib",
        "/opt/rocm/opencl/lib", "/usr/lib/x86_64-linux-gnu/intel-opencl", "/usr/lib/intel-opencl"})
    places.libraries.emplace_back(folder);
  return places;
}

std::vector<RegisteredDriver> registered_drivers(const DriverPlaces& places) {
  const fs::path& vendors = places.vendors;
  std::error_code error;
  if (!fs::is_directory(vendors, error)) {
    if (vendors.has_parent_path() && !fs::exists(vendors, error)) return {};
    if (vendors.extension() == ".icd") return {RegisteredDriver{vendors, named_in(vendors)}};
    return {RegisteredDriver{"", vendors.string()}};
  }
  std::vector<RegisteredDriver> drivers;
  for (fs::directory_iterator entry(vendors, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".icd") drivers.push_back({entry->path(), named_in(entry->path())});
  }
  std::ranges::sort(drivers, {}, &RegisteredDriver::icd);
  return drivers;
}

std::vector<fs::path> unregistered_drivers(const DriverPlaces& places) {
  std::vector<std::string> known;
  for (const RegisteredDriver& driver : registered_drivers(places)) {
    std::error_code error;
    const bool is_path = driver.library.find('/') != std::string::npos;
    if (!is_path || fs::exists(driver.library, error)) known.push_back(stem(driver.library));
  }
  std::vector<fs::path> found;
  for (const char* driver : kDrivers) {
    if (std::find(known.begin(), known.end(), stem(driver)) != known.end()) continue;
    const auto has_driver = [&](const fs::path& folder) {
      std::error_code error;
      return fs::exists(folder / driver, error);
    };
    const auto folder = std::find_if(places.libraries.begin(), places.libraries.end(), has_driver);
    if (folder != places.libraries.end()) found.push_back(*folder / driver);
  }
  return found;
}

std::vector<fs::path> adopted_drivers(const DriverPlaces& places) {
  std::error_code error;
  if (places.is_named && !fs::is_directory(places.vendors, error)) return {};
  return unregistered_drivers(places);
}

std::vector<RegisteredDriver> drivers_to_load(const DriverPlaces& places) {
  std::vector<RegisteredDriver> drivers = registered_drivers(places);
  for (const fs::path& library : adopted_drivers(places)) drivers.push_back({"", library.string()});
  return drivers;
}

std::string how_to_register(const fs::path& library) {
  return "write '" + library.string() + "' into a file /etc/OpenCL/vendors/" + stem(library).substr(3) +
         ".icd";
}

std::string driver_hint(const DriverPlaces& places) {
  const std::vector<fs::path> drivers = unregistered_drivers(places);
  if (drivers.empty()) return "";
  const std::string driver = drivers.front().string();
  return "The driver " + driver + " is installed, but not listed in " + places.vendors.string() +
         ": to use it, set OCL_ICD_VENDORS=" + driver + " or " + how_to_register(driver) + ".";
}

}  // namespace sightline::opencl
