#include "base/memory_use.hpp"

#include <fstream>
#include <string>
#include <string_view>

namespace sightline {
namespace {

std::int64_t status_bytes(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return 1024 * std::stoll(line.substr(key.size()));
  }
  return 0;
}

}  // namespace

std::int64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

std::int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

void reset_peak_resident_bytes() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace sightline
