#pragma once
/// Completion of command lines for shells.

#include <span>
#include <string>

#include "apps/cli/option_set.hpp"

namespace sightline::apps {

/// Completes the last of the words that follow the program's name; it may be empty.
///
/// @return a line each of: what the word may become, and after a tab what that means; a last line ":files"
///         where a file's name may stand there as well
std::string complete(const CLI::App& app, const Suggestions& suggestions, std::span<const std::string> words);

}  // namespace sightline::apps
