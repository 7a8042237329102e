#pragma once
/// Says what a misspelt subcommand or option may have been meant to be.

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace sightline::apps {

/// The command that words lead to: "config", "copy". Passes over words that begin with '-'. Throws Error
/// (usage), with the nearest one, where a word is no subcommand.
CLI::App& find_command(CLI::App& app, std::span<const std::string> words);

/// After a failed parse: a message about a word that stands where a subcommand must and is none, with the
/// nearest one; empty where that was not the problem.
std::string explain_subcommand(const CLI::App& app);

/// After a failed parse: a message about a word that looks like an option and is none, with the nearest one
/// of those that may stand there; empty where there is no such word.
std::string explain_option(const CLI::App& app);

}  // namespace sightline::apps
