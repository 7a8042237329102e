#pragma once
/// Text of manual pages beyond the parser's definitions.

#include <string>
#include <vector>

namespace sightline::apps {

struct ManualExample {
  std::string command;  ///< a command line without quotes, for it is parsed
  std::string meaning;
};

struct ManualEntry {
  std::string name;
  std::string text;
};

struct ManualSection {
  std::string title;
  std::vector<ManualEntry> entries;
  bool everywhere = false;  ///< in the pages of subcommands too
};

/// Examples and paragraphs of a page, by the command's full name: "sightline detect".
std::vector<ManualExample> manual_examples(const std::string& name);
std::vector<std::string> manual_paragraphs(const std::string& name);

std::vector<ManualSection> manual_sections();

}  // namespace sightline::apps
