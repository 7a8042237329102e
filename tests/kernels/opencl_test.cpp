#include "kernels/opencl_test.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

namespace sightline::test {

std::vector<opencl::DeviceInfo> exact_devices() {
  std::vector<opencl::DeviceInfo> usable;
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    const bool exact = device.correctly_rounded_divide_sqrt || device.platform == "Oclgrind";
    if (device.compiler_available && exact) usable.push_back(device);
  }
  return usable;
}

opencl::ProgramCache program_cache() {
  return opencl::ProgramCache(std::filesystem::temp_directory_path() /
                              ("sightline-test-kernels-" + std::to_string(getuid())));
}

}  // namespace sightline::test
