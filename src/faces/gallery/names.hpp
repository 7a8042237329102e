#pragma once
/// Rules for people's names.

#include <cstddef>
#include <string_view>

namespace sightline::gallery {

/// Characters (code points) of the longest name.
inline constexpr std::size_t kLongestName = 100;

/// Names are UTF-8 in any script, of 1 to kLongestName characters, not blank, without line ends and other
/// control characters (nor those that turn the direction of a line's text), without blanks at the ends. Names
/// that differ in one byte are different. kUnknownName is reserved. Throws Error (usage) with the reason.
void check_name(std::string_view name);

}  // namespace sightline::gallery
