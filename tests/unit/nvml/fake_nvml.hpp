#pragma once
/// A library with the functions of NVIDIA's management library that the meters use, and one made-up machine.

#include <vector>

struct FakeGpu {
  int handle_result = 0;      ///< of nvmlDeviceGetHandleByIndex_v2
  bool counts_energy = true;  ///< else "Not Supported"
  unsigned long long millijoules = 0;
  unsigned milliwatts = 0;
  unsigned megahertz = 0;  ///< of the multiprocessors; 0: "Not Supported"
};

struct FakeNvml {
  int init_result = 0;
  int open = 0;  ///< nvmlInit_v2 less nvmlShutdown
  std::vector<FakeGpu> gpus;
};

extern "C" FakeNvml fake_nvml;
