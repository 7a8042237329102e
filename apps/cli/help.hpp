#pragma once
/// Text of `--help` and `-h`.

#include <CLI/CLI.hpp>

#include <string>

namespace sightline::apps {

/// `--help` (mode All) lists all options with their whole texts, `-h` those that most runs need, in a
/// sentence each. Both end with examples.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

/// Placeholder of an option's value in the help: "FILE"; empty for a flag.
std::string value_name(const CLI::Option& option);

/// The beginning of a help text up to its first semicolon or full stop: it stands beside much else.
std::string first_sentence(const std::string& help);

/// Gives a command and all below it this formatter, `-h` and `--help`.
void add_help(CLI::App& app);

}  // namespace sightline::apps
