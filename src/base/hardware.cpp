#include "base/hardware.hpp"

#include <hwy/targets.h>
#include <oneapi/tbb/info.h>
#include <fstream>

#include <iterator>

#include "base/error.hpp"

namespace sightline {
namespace {

struct Target {
  std::int64_t bit;
  const char* option;
  const char* name;
};

// From the best to the least.
constexpr Target kTargets[] = {
    {HWY_AVX3_DL, "avx512-vnni", "AVX-512 with VNNI"},
    {HWY_AVX3, "avx512", "AVX-512"},
    {HWY_AVX2, "avx2", "AVX2"},
    {HWY_SSE4, "sse4", "SSE4"},
    {HWY_SSSE3, "ssse3", "SSSE3"},
    {HWY_NEON, "neon", "NEON"},
};

// Instruction sets of the processor for which SIMD code was compiled. SupportedTargets lets kernels choose
// disabled ones again; Update corrects that.
std::int64_t supported_targets() {
  const std::int64_t supported = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(supported);
  return supported & ~std::int64_t{SIGHTLINE_OMITTED_TARGETS};
}

}  // namespace

BuildInfo build_info() {
  BuildInfo info{SIGHTLINE_VERSION, SIGHTLINE_BUILD_TYPE, false, ""};
#if defined(__OPTIMIZE__)
  info.optimised = true;
#endif
#if defined(__clang__)
  info.compiler = "Clang " __clang_version__;
#else
  info.compiler = "GCC " __VERSION__;
#endif
  return info;
}

std::string instruction_set() {
  const std::int64_t supported = supported_targets();
  for (const Target& target : kTargets) {
    if (supported & target.bit) return target.name;
  }
  return "scalar";
}

std::vector<std::string> instruction_sets() {
  const std::int64_t supported = supported_targets();
  std::vector<std::string> names;
  for (const Target& target : kTargets) {
    if (supported & target.bit) names.emplace_back(target.option);
  }
  return names;
}

void limit_instruction_set(const std::string& name) {
  if (name == "best") {
    hwy::DisableTargets(0);
    return;
  }
  std::int64_t disabled = 0;
  std::string choices = "best";
  hwy::DisableTargets(0);
  for (const std::string& one : instruction_sets()) choices += ", " + one;
  for (const Target& target : kTargets) {
    if (name == target.option && (supported_targets() & target.bit)) {
      hwy::DisableTargets(disabled);
      return;
    }
    disabled |= target.bit;
  }
  throw Error(ExitCode::usage, "instruction set '" + name + "' is not known or not supported here",
              "use one of " + choices);
}

int hardware_threads() {
  return oneapi::tbb::info::default_concurrency();
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

}  // namespace sightline
