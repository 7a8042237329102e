#include "base/error.hpp"
#include "memory_file.hpp"
#include "pipeline/measurement/meter.hpp"
#include "targets.hpp"

#include <cstdlib>

namespace sightline::fuzz {

void power_log(Bytes bytes) {
  const MemoryFile file(bytes);
  try {
    pipeline::joules_of_log(file.path(), 10, 20, 10);
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) std::abort();
  }
}

}  // namespace sightline::fuzz
