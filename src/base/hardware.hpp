#pragma once
/// What the program is built as and runs on, for people who wonder why it is slow.

#include <string>
#include <vector>

namespace sightline {

struct BuildInfo {
  std::string version;     ///< for example "0.1.0"
  std::string build_type;  ///< "Release", "Debug", ...
  bool optimised = false;  ///< false: measurements mean nothing
  std::string compiler;    ///< for example "GCC 12.2.0"
};

BuildInfo build_info();

/// The instruction set that the SIMD kernels use on this processor, for example "AVX-512 with VNNI".
std::string instruction_set();

/// Those that this processor has, as limit_instruction_set takes them, from the best to the least.
std::vector<std::string> instruction_sets();

/// Makes the SIMD kernels use no more than the given instruction set ("ssse3", "sse4", "avx2", "avx512",
/// "avx512-vnni", "neon", or "best"). For tests and measurements. Call it before any kernel runs. Throws
/// Error (usage) where the name is not known or the processor lacks it.
void limit_instruction_set(const std::string& name);

/// Logical processors this process may use.
int hardware_threads();

/// The processor's name, for example "AMD EPYC 9654"; "CPU" where the system does not tell.
std::string cpu_name();

}  // namespace sightline
