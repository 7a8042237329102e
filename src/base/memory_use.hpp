#pragma once
/// Memory use of this process, from the kernel (Linux).

#include <cstdint>

namespace sightline {

/// Bytes in memory now; 0 if that is not known.
std::int64_t resident_bytes();
/// The most there have been since the start, or since the last reset; 0 if that is not known.
std::int64_t peak_resident_bytes();
void reset_peak_resident_bytes();

}  // namespace sightline
