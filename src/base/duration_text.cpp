#include "base/duration_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sightline {

std::string duration_text(double seconds) {
  constexpr double kLongest = 1e9;
  const auto whole = std::llround(std::isfinite(seconds) ? std::clamp(seconds, 0.0, kLongest) : 0.0);
  char text[48];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  }
  return text;
}

}  // namespace sightline
