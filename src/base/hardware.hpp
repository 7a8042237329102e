#pragma once
/// Build and hardware of the running program, for performance reports.

#include <string>
#include <vector>

namespace sightline {

struct BuildInfo {
  std::string version;     ///< such as "0.1.0"
  std::string build_type;  ///< "Release", "Debug", ...
  bool optimised = false;  ///< false: measurements mean nothing
  std::string compiler;    ///< such as "GCC 12.2.0"
};

BuildInfo build_info();

/// The instruction set that the SIMD kernels use on this processor, for example "AVX-512 with VNNI".
std::string instruction_set();

/// Instruction sets of this processor and build as limit_instruction_set takes them, best first.
std::vector<std::string> instruction_sets();

/// Limits the SIMD kernels to an instruction set ("ssse3", "sse4", "avx2", "avx512", "avx512-vnni", "neon",
/// or "best"). For tests and measurements. Call it before any kernel runs. Throws Error (usage) for an
/// unknown name or one that the processor or the build lacks.
void limit_instruction_set(const std::string& name);

/// Logical processors this process may use.
int hardware_threads();

/// An id that changes with each start of the system; empty where the system does not tell.
std::string boot_id();

/// The processor's name, for example "AMD EPYC 9654"; "CPU" where the system does not tell.
std::string cpu_name();

}  // namespace sightline
