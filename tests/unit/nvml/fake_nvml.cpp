#include "fake_nvml.hpp"

#include <cstdio>

FakeNvml fake_nvml;

extern "C" {

int nvmlInit_v2() {
  if (fake_nvml.init_result == 0) ++fake_nvml.open;
  return fake_nvml.init_result;
}
int nvmlShutdown() {
  --fake_nvml.open;
  return 0;
}
const char* nvmlErrorString(int result) {
  return result == 3 ? "Not Supported" : result == 4 ? "Insufficient Permissions" : "Driver Not Loaded";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(fake_nvml.gpus.size());
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, FakeGpu** gpu) {
  *gpu = &fake_nvml.gpus.at(index);
  return (*gpu)->handle_result;
}
int nvmlDeviceGetName(FakeGpu*, char* name, unsigned length) {
  std::snprintf(name, length, "NVIDIA Made-up");
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(FakeGpu* gpu, unsigned long long* millijoules) {
  *millijoules = gpu->millijoules;
  return gpu->counts_energy ? 0 : 3;
}
int nvmlDeviceGetPowerUsage(FakeGpu* gpu, unsigned* milliwatts) {
  *milliwatts = gpu->milliwatts;
  return 0;
}
int nvmlDeviceGetClockInfo(FakeGpu* gpu, int kind, unsigned* megahertz) {
  if (kind != 1 || gpu->megahertz == 0) return 3;
  *megahertz = gpu->megahertz;
  return 0;
}

}  // extern "C"
