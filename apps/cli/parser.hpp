#pragma once
/// The command line as the program takes it: all subcommands and their options.

#include <memory>
#include <string>

#include "apps/cli/commands.hpp"

namespace CLI {
class ParseError;
}

namespace sightline::apps {

/// Holds what was chosen; one command line each. Its options point into it, so it stays where it is.
class Parser {
 public:
  Parser();
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  /// Runs nothing of what the words ask for. Throws CLI::ParseError: for words that it does not take, and for
  /// --help and --version, which CLI::App::exit answers.
  void parse(int argc, const char* const* argv);

  CLI::App& app() { return *app_; }
  Common& common() { return common_; }  ///< what to run, after a parse
  const std::string& instruction_set() const { return instruction_set_; }

 private:
  std::unique_ptr<CLI::App> app_;
  Common common_;
  bool quiet_ = false;
  bool verbose_ = false;
  std::string instruction_set_ = "best";
};

/// After a parse that failed or met --help: what is misspelt, where that is what the parser stumbled over;
/// else empty.
std::string explain(const CLI::ParseError& error, const CLI::App& app);

}  // namespace sightline::apps
