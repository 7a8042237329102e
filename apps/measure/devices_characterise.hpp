#pragma once
/// `sightline devices --characterise`: what the processors can do, measured.

#include <string>

#include "params/options.hpp"

namespace sightline::apps {

struct CharacteriseArguments {
  std::string device = "all";
  std::string json, report;  ///< files; empty: none
  bool thorough = false;
};

/// --device, --thorough, --json and --report, which need the option `command`.
void add_characterise_options(OptionSet& options, const std::string& command,
                              CharacteriseArguments& arguments);

/// Measures the CPU, then each device; prints a screen for each, writes what was asked for, and remembers the
/// devices'. Returns the exit code. Throws Error.
int run_characterise(const CharacteriseArguments& arguments, int verbosity);

}  // namespace sightline::apps
