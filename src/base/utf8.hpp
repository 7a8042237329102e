#pragma once
/// UTF-8 text from untrusted sources.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sightline {

/// Bytes of the character at the start of `text`, which is not empty; 0 if there is none that is valid
/// (RFC 3629: no surrogates, nothing in more bytes than it needs).
std::size_t utf8_length(std::string_view text);

/// The code points of a text; nothing where it is not UTF-8.
std::optional<std::u32string> utf8_code_points(std::string_view text);

/// Escapes ("\x1b", "\u202e") every byte that is not UTF-8, every control character (C0 and C1) and every
/// character that changes the direction of text. The result is safe for a terminal or a picture.
/// @param kept  control characters of ASCII that stay, such as line ends
std::string printable(std::string_view text, std::string_view kept = {});

/// Control characters to keep in messages of several lines.
inline constexpr std::string_view kLineEndsAndTabs = "\n\t";

}  // namespace sightline
