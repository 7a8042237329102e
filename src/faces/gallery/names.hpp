#pragma once
/// Rules for people's names.

#include <cstddef>
#include <string>
#include <string_view>

namespace sightline::gallery {

/// Characters (code points) of the longest name.
inline constexpr std::size_t kLongestName = 100;

/// Names are UTF-8 in any script, of 1 to kLongestName characters, not blank, without line ends and other
/// control characters (nor those that turn the direction of a line's text), without blanks at the ends. Names
/// are equal if their normal forms are. kUnknownName is reserved. Throws Error (usage) with the reason.
void check_name(std::string_view name);

/// The form that galleries store and compare (Unicode's NFC): keyboards and file systems write "\u00fc" as
/// one character, or as "u" and a mark. Text that is not UTF-8 stays as it is.
std::string normal_name(std::string_view name);

}  // namespace sightline::gallery
