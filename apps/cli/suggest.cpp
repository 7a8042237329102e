#include "apps/cli/suggest.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace sightline::apps {
namespace {

// The subcommand that the words before the wrong one lead to.
const CLI::App* chosen(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return at;
}

// "--name" of "--name=value".
std::string name_in(const std::string& word) {
  return word.substr(0, word.find('='));
}

// A negative number is a value, and so are "-" and what follows "--".
bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word != "--" && !(word[1] >= '0' && word[1] <= '9');
}

// A message about a word that is none of a command's subcommands, with the nearest one, or all.
std::string explain_command(const CLI::App& at, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : at.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  const std::string nearest = nearest_of(word, names);
  return "there is no subcommand '" + word + "'; " +
         (names.empty()     ? "'" + at.get_name() + "' has none"
          : nearest.empty() ? "there are: " + CLI::detail::join(names, ", ")
                            : "did you mean '" + nearest + "'?");
}

}  // namespace

CLI::App& find_command(CLI::App& app, std::span<const std::string> words) {
  CLI::App* at = &app;
  for (const std::string& word : words) {
    if (word.starts_with('-')) continue;
    const std::vector<CLI::App*> named =
        at->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) throw Error(ExitCode::usage, explain_command(*at, word));
    at = named.front();
  }
  return *at;
}

std::string explain_subcommand(const CLI::App& app) {
  const CLI::App* at = chosen(app);
  if (at->get_require_subcommand_min() == 0) return "";
  const std::vector<std::string> words = app.remaining(true);
  const auto word =
      std::find_if(words.begin(), words.end(), [](const std::string& w) { return w[0] != '-'; });
  if (word == words.end()) return "";
  return explain_command(*at, *word);
}

std::string explain_option(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const auto word = std::find_if(words.begin(), words.end(), looks_like_option);
  if (word == words.end()) return "";
  const std::string given = name_in(*word);
  const std::string name = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  std::vector<std::string> all;
  const CLI::App* const command = chosen(app);
  for (const CLI::App* at = command; at; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      for (const std::string& known : option->get_lnames()) all.push_back(known);
    }
  }
  const std::string nearest = nearest_of(name, all);
  if (nearest.empty()) return "there is no option '" + given + "'";
  if ("--" + nearest == given)
    return "the option '" + given + "' must come after '" + command->get_name() + "'";
  return "there is no option '" + given + "'; did you mean '--" + nearest + "'?";
}

}  // namespace sightline::apps
