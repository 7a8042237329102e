// NVIDIA's management library, loaded at run time: https://docs.nvidia.com/deploy/nvml-api/. The few
// prototypes are repeated here, so that no header of NVIDIA's is needed to build.

#include <dlfcn.h>

#include <array>

#include "base/error.hpp"
#include "pipeline/measurement/meter_kinds.hpp"

namespace sightline::pipeline {
namespace {

using Result = int;  // nvmlReturn_t; 0 is success
using Device = struct nvmlDevice_st*;

class Nvml {
 public:
  explicit Nvml(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) return;
    find(init_, "nvmlInit_v2");
    find(shutdown_, "nvmlShutdown");
    find(error_string_, "nvmlErrorString");
    find(count_, "nvmlDeviceGetCount_v2");
    find(handle_, "nvmlDeviceGetHandleByIndex_v2");
    find(name_, "nvmlDeviceGetName");
    find(energy_, "nvmlDeviceGetTotalEnergyConsumption");  // not in drivers before Volta
    find(power_, "nvmlDeviceGetPowerUsage");
    find(clock_, "nvmlDeviceGetClockInfo");
    complete_ = init_ && shutdown_ && error_string_ && count_ && handle_ && name_ && power_;
  }
  ~Nvml() {
    if (initialised_) shutdown_();
    if (library_) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool complete() const { return complete_; }
  bool has_energy() const { return energy_; }

  void initialise() {
    check(init_());
    initialised_ = true;
  }
  unsigned count() const {
    unsigned count = 0;
    check(count_(&count));
    return count;
  }
  Device device(unsigned index) const {
    Device device = nullptr;
    check(handle_(index, &device));
    return device;
  }
  std::string name(Device device) const {
    std::array<char, 96> name{};  // NVML_DEVICE_NAME_V2_BUFFER_SIZE
    check(name_(device, name.data(), static_cast<unsigned>(name.size())));
    return name.data();
  }
  // Since the driver was loaded.
  double joules(Device device) const {
    unsigned long long millijoules = 0;
    check(energy_(device, &millijoules));
    return static_cast<double>(millijoules) * 1e-3;
  }
  double watts(Device device) const {
    unsigned milliwatts = 0;
    check(power_(device, &milliwatts));
    return milliwatts * 1e-3;
  }
  // Clock of the multiprocessors; 0: not known.
  double megahertz(Device device) const {
    constexpr int kMultiprocessors = 1;  // NVML_CLOCK_SM
    unsigned megahertz = 0;
    if (clock_) check(clock_(device, kMultiprocessors, &megahertz));
    return megahertz;
  }

 private:
  template <class Function>
  void find(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(dlsym(library_, symbol));
  }
  void check(Result result) const {
    if (result) throw Error(ExitCode::failed, std::string("not readable: NVML: ") + error_string_(result));
  }

  void* library_;
  bool complete_ = false;
  bool initialised_ = false;
  Result (*init_)() = nullptr;
  Result (*shutdown_)() = nullptr;
  const char* (*error_string_)(Result) = nullptr;
  Result (*count_)(unsigned*) = nullptr;
  Result (*handle_)(unsigned, Device*) = nullptr;
  Result (*name_)(Device, char*, unsigned) = nullptr;
  Result (*energy_)(Device, unsigned long long*) = nullptr;
  Result (*power_)(Device, unsigned*) = nullptr;
  Result (*clock_)(Device, int, unsigned*) = nullptr;
};

bool counts_energy(const Nvml& nvml, Device device) {
  if (!nvml.has_energy()) return false;
  try {
    nvml.joules(device);
    return true;
  } catch (const Error&) {
    return false;  // its power may still be readable
  }
}

Sensor sensor_of(const std::shared_ptr<Nvml>& nvml, unsigned index, bool only) {
  const Device device = nvml->device(index);
  const std::string name =
      "NVML " + nvml->name(device) + (only ? "" : " (GPU " + std::to_string(index) + ")");
  const bool counts = counts_energy(*nvml, device);
  return {name,
          "the GPU and its circuitry, such as its memory",
          counts ? Sensor::Kind::energy : Sensor::Kind::power,
          [nvml, device, counts] { return counts ? nvml->joules(device) : nvml->watts(device); },
          Seen::gpu,
          0,
          [nvml, device] { return nvml->megahertz(device); }};
}

// People should know why a GPU is missing: that the library is there and its driver is not, say.
Sensor unreadable(const std::string& name, const Error& error) {
  return {name, "NVIDIA GPUs", Sensor::Kind::power, [error]() -> double { throw error; }, Seen::gpu};
}

}  // namespace

void find_nvml(const MeterOptions& options, Meters& meters) {
  if (options.nvml.empty()) return;
  const auto nvml = std::make_shared<Nvml>(options.nvml);
  if (!nvml->complete()) return;
  unsigned count = 0;
  try {
    nvml->initialise();
    count = nvml->count();
  } catch (const Error& error) {
    meters.push_back(make_sampled_meter(unreadable("NVML", error), options));
  }
  for (unsigned index = 0; index < count; ++index) {
    try {
      meters.push_back(make_sampled_meter(sensor_of(nvml, index, count == 1), options));
    } catch (const Error& error) {
      meters.push_back(make_sampled_meter(unreadable("NVML GPU " + std::to_string(index), error), options));
    }
  }
}

}  // namespace sightline::pipeline
