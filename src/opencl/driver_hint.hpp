#pragma once
/// Registered OpenCL drivers, and installed but unregistered ones, such as in containers with a GPU's
/// libraries mounted. See libOpenCL(7) of ocl-icd for how it finds its drivers.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline::opencl {

/// Search paths.
struct DriverPlaces {
  /// Path that the loader reads: a folder of .icd files, one .icd file, or a driver's library.
  std::filesystem::path vendors;
  std::vector<std::filesystem::path> libraries;  ///< folders that may hold drivers, by precedence
  bool is_named = false;                         ///< `vendors` is the user's choice, not the system's place
};

/// This machine's, by its environment (OCL_ICD_VENDORS, OPENCL_VENDOR_PATH, LD_LIBRARY_PATH).
DriverPlaces driver_places();

/// A driver registered with the loader.
struct RegisteredDriver {
  std::filesystem::path icd;  ///< the file that names it; empty if the user names the library itself
  std::string library;        ///< a path, or a name that the system looks for
};

/// The drivers that `vendors` names, in the order of their .icd files' names. Empty if there is nothing,
/// or nothing that can be read. Never throws for a machine's state.
std::vector<RegisteredDriver> registered_drivers(const DriverPlaces& places);

/// The known drivers that are in a folder of `libraries` and that `vendors` does not name, the first of each.
/// An entry that names a path where nothing is does not count. Never throws for a machine's state.
std::vector<std::filesystem::path> unregistered_drivers(const DriverPlaces& places);

/// Unregistered drivers to use: all, unless the user named a driver or a path without one. Never throws
/// because of the machine's state.
std::vector<std::filesystem::path> adopted_drivers(const DriverPlaces& places);

/// The registered drivers, then the adopted ones. Never throws for a machine's state.
std::vector<RegisteredDriver> drivers_to_load(const DriverPlaces& places);

/// One line of text on how to use an unregistered driver; empty if there is none.
std::string driver_hint(const DriverPlaces& places);
/// Likely reason why a driver that is loaded offers no device, and what to do, without a full stop; empty if
/// nothing is known of the driver. May make the folder that the driver would make.
std::string no_device_reason(const std::string& library);
/// Instruction for the user to register a driver's library, without a full stop.
std::string how_to_register(const std::filesystem::path& library);

}  // namespace sightline::opencl
