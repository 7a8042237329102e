#pragma once
/// Finds OpenCL drivers that are installed but that the loader is not told of, as in containers that have a
/// GPU's libraries mounted in. See libOpenCL(7) of ocl-icd for how it finds its drivers.

#include <filesystem>
#include <string>
#include <vector>

namespace sightline::opencl {

/// Where to look.
struct DriverPlaces {
  /// What the loader reads: a folder of .icd files, one .icd file, or a driver's library.
  std::filesystem::path vendors;
  std::vector<std::filesystem::path> libraries;  ///< folders that may hold drivers, by precedence
};

/// This machine's, by its environment (OCL_ICD_VENDORS, OPENCL_VENDOR_PATH, LD_LIBRARY_PATH).
DriverPlaces driver_places();

/// The known drivers that are in a folder of `libraries` and that `vendors` does not name, the first of each.
/// Never throws for a machine's state.
std::vector<std::filesystem::path> unregistered_drivers(const DriverPlaces& places);

/// One line for people on how to use such a driver; empty where there is none.
std::string driver_hint(const DriverPlaces& places);

}  // namespace sightline::opencl
