#pragma once
/// What a misspelt word may have been meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace sightline {

/// The nearest of several words by the letters to add, leave out or change, as long as it is near; else
/// empty.
std::string nearest_of(std::string_view word, const std::vector<std::string>& words);

}  // namespace sightline
