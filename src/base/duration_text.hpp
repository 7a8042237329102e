#pragma once
/// Durations as text.

#include <string>

namespace sightline {

/// "1:05" or "2:00:13", to the nearest second. "0:00" where they are negative or not finite.
std::string duration_text(double seconds);

}  // namespace sightline
