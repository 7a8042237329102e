#pragma once
/// Limits of a growing file, after which the next file starts.

#include <cstdint>
#include <string>

namespace sightline {

/// Limits of a file: the first one reached applies; 0: no such limit.
struct SegmentLimits {
  double seconds = 0;
  std::int64_t bytes = 0;
  bool is_set() const { return seconds > 0 || bytes > 0; }
  friend bool operator==(const SegmentLimits&, const SegmentLimits&) = default;
};

/// Parses limits such as "90s", "10m", "1.5h", "1d" or "500K", "500M", "2G", "1T" (powers of 1024; "MB" and
/// the like are powers of 1000, "MiB" of 1024); both, in either order, with a comma: "10m,500M". `m` is
/// minutes, `M` is bytes. An empty text: no limit.
/// @throws Error (usage) that says what is wrong, naming `parameter` (such as "rotate")
SegmentLimits parse_segment_limits(const std::string& text, const std::string& parameter);

}  // namespace sightline
