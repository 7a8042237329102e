#pragma once
/// The values that an option takes, where they can be listed.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sightline::apps {

struct Choice {
  std::string value;
  std::string description;  ///< a few words; may be empty
};

/// What an option's value can be.
struct Choices {
  std::vector<Choice> values;
  bool files = false;  ///< a file, besides
  bool list = false;   ///< several values, separated by commas
};

/// Of options that check it, what they accept; of others, by their names, which mean the same in every
/// subcommand.
Choices choices_of(const CLI::Option& option);

}  // namespace sightline::apps
