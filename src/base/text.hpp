#pragma once
/// Pieces of text.

#include <string>
#include <string_view>
#include <vector>

namespace sightline {

/// Without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

/// What stands between separators. Nothing after the last of them is no piece, nothing before it is an empty
/// one; an empty text has none.
std::vector<std::string> split(const std::string& text, char separator);

/// The fields of a row, trimmed: one more than there are commas. Parts of `text`.
std::vector<std::string_view> split_at_commas(std::string_view text);

}  // namespace sightline
