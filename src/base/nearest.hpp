#pragma once
/// Suggestions for misspelt words.

#include <string>
#include <string_view>
#include <vector>

namespace sightline {

/// The word with the smallest edit distance to `word`, if it is close enough; else empty.
std::string nearest_of(std::string_view word, const std::vector<std::string>& words);

/// The remedy for a word that is none of the known ones: "did you mean 'people'?", or "there are: " all.
std::string nearest_or_all(std::string_view word, const std::vector<std::string>& words);

}  // namespace sightline
