#include "base/segment_limits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "base/error.hpp"

namespace sightline {
namespace {

// GCC 12's std::from_chars reads doubles independent of the locale.
double parse_number(std::string_view text, std::string_view& unit) {
  double value = -1;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return -1;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

const std::map<std::string_view, double>& seconds_of() {
  static const std::map<std::string_view, double> units = {
      {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 86400}};
  return units;
}

const std::map<std::string_view, double>& bytes_of() {
  static const std::map<std::string_view, double> units = {
      {"K", 0x1p10},   {"M", 0x1p20},   {"G", 0x1p30},   {"T", 0x1p40}, {"KiB", 0x1p10},
      {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"KB", 1e3},   {"kB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  return units;
}

}  // namespace

SegmentLimits parse_segment_limits(const std::string& text, const std::string& parameter) {
  SegmentLimits rotation;
  if (text.empty()) return rotation;
  const auto refuse = [&](const std::string& reason) {
    throw Error(ExitCode::usage, option(parameter) + ": " + reason,
                "write a time such as 90s, 10m or 1h, a size such as 500M or 2G, or both: 10m,500M");
  };
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    from = comma + 1;
    std::string_view unit;
    const double value = parse_number(part, unit);
    if (!std::isfinite(value) || value < 0) refuse("'" + part + "' is not a time or a size");
    if (unit.empty()) refuse("'" + part + "' has no unit");
    if (value == 0) refuse("'" + part + "' would start a new file for every frame");
    const auto time = seconds_of().find(unit), size = bytes_of().find(unit);
    if (time != seconds_of().end()) {
      if (rotation.seconds > 0) refuse("'" + text + "' has two times");
      rotation.seconds = value * time->second;
    } else if (size != bytes_of().end()) {
      if (rotation.bytes > 0) refuse("'" + text + "' has two sizes");
      const double bytes = value * size->second;
      if (bytes < 1 || bytes > 0x1p62) refuse("'" + part + "' is out of range");
      rotation.bytes = static_cast<std::int64_t>(bytes);
    } else {
      refuse("'" + std::string(unit) + "' in '" + part +
             "' is no unit of time (s, m, h, d) or size (K, M, G, T)");
    }
  }
  return rotation;
}

}  // namespace sightline
