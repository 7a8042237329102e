#pragma once
/// Says what a misspelt subcommand or option may have been meant to be.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sightline::apps {

/// After a failed parse: a message about a word that stands where a subcommand must and is none, with the
/// nearest one; empty where that was not the problem.
std::string explain_subcommand(const CLI::App& app);

/// After a failed parse: a message about a word that looks like an option and is none, with the nearest one
/// of those that may stand there; empty where there is no such word.
std::string explain_option(const CLI::App& app);

/// The nearest of several words, as long as it is near; else empty.
std::string nearest_of(const std::string& word, const std::vector<std::string>& words);

}  // namespace sightline::apps
