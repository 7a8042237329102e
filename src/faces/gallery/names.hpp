#pragma once
/// What people may be called.

#include <cstddef>
#include <string_view>

namespace sightline::gallery {

/// Characters (code points) of the longest name.
inline constexpr std::size_t kLongestName = 100;

/// Names are UTF-8 in any script, of 1 to kLongestName characters, not blank, without line ends and other
/// control characters (nor those that turn the direction of a line's text), without blanks at the ends.
/// Names that differ in a single byte are two people's. kUnknownName is what strangers are called, and so
/// nobody else.
/// Throws Error (usage) that says what is wrong with one.
void check_name(std::string_view name);

}  // namespace sightline::gallery
