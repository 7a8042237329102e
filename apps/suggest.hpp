#pragma once
/// Says what a misspelt subcommand may have been meant to be.

#include <CLI/CLI.hpp>
#include <string>

namespace sightline::apps {

/// After a failed parse: a message about a word that stands where a subcommand must and is none, with the
/// nearest one; empty where that was not the problem.
std::string explain_subcommand(const CLI::App& app);

}  // namespace sightline::apps
