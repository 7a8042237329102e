#pragma once
/// Manual pages, made of the parser's own definitions, so that they say what `--help` says.

#include <filesystem>
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace sightline::apps {

/// The page (roff, for man) of the program, or of one of its subcommands. Throws std::logic_error for an
/// example in the page that the program would not take.
/// @param command  of `app`'s tree, or `app` itself
std::string manual_page(CLI::App& app, const CLI::App& command);

/// The names of all pages: "sightline", "sightline-detect", "sightline-evaluate-frames", ...
std::string manual_page_names(const CLI::App& app);

/// Writes all pages as NAME.1 into an existing folder. Throws as `manual_page` does, and Error (failed) if a
/// file cannot be written.
void write_manual(CLI::App& app, const std::filesystem::path& folder);

/// `sightline manual [SUBCOMMAND...]`, which `--help` does not list: the build makes the pages with it.
void add_manual(CLI::App& app, std::function<int()>& run);

}  // namespace sightline::apps
