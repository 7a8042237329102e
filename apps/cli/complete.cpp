#include "apps/cli/complete.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <set>

#include "apps/cli/choices.hpp"
#include "apps/cli/help.hpp"

namespace sightline::apps {
namespace {

/// Where in a command line the word to complete stands.
struct Place {
  const CLI::App* command = nullptr;
  const CLI::Option* pending = nullptr;  ///< whose value is due
  bool options_over = false;             ///< "--" was seen
  std::vector<const CLI::Option*> given;
};

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

bool takes_many(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 && option.get_allow_extra_args();
}

// The option of that name ("--name", "-n"), the command's own or of those that it belongs to.
const CLI::Option* find_option(const CLI::App* command, const std::string& name) {
  for (; command; command = command->get_parent()) {
    if (const CLI::Option* found = command->get_option_no_throw(name)) return found;
  }
  return nullptr;
}

void pass_option(Place& place, const std::string& word) {
  const std::size_t sign = word.find('=');
  const bool is_long = word.starts_with("--");
  const CLI::Option* const option =
      find_option(place.command, is_long ? word.substr(0, sign) : word.substr(0, 2));
  place.pending = nullptr;
  if (!option) return;
  place.given.push_back(option);
  const bool has_value = is_long ? sign != std::string::npos : word.size() > 2;
  if (takes_value(*option) && (!has_value || takes_many(*option))) place.pending = option;
}

void pass(Place& place, const std::string& word) {
  if (!place.options_over && word == "--") {
    place.options_over = true;
    place.pending = nullptr;
    return;
  }
  const bool is_option = !place.options_over && word.size() > 1 && word[0] == '-' &&
                         !std::isdigit(static_cast<unsigned char>(word[1]));
  if (place.pending && !(is_option && takes_many(*place.pending))) {
    if (!takes_many(*place.pending)) place.pending = nullptr;
    return;
  }
  if (is_option) return pass_option(place, word);
  for (const CLI::App* command : place.command->get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) place.command = command;
  }
}

std::string completion_line(const std::string& value, const std::string& description) {
  return value + (description.empty() ? "" : "\t" + description) + "\n";
}

std::string values(const Choices& choices, const std::string& before, const std::string& begun) {
  const std::size_t comma = choices.list ? begun.rfind(',') : std::string::npos;
  const std::string kept = comma == std::string::npos ? "" : begun.substr(0, comma + 1);
  std::string text;
  for (const Choice& choice : choices.values) {
    if ((kept + choice.value).starts_with(begun))
      text += completion_line(before + kept + choice.value, choice.description);
  }
  return text + (choices.files ? ":files\n" : "");
}

std::string options(const Place& place, const std::string& begun) {
  std::string text;
  std::set<std::string> listed;  // each command has a --help of its own
  for (const CLI::App* command = place.command; command; command = command->get_parent()) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      const bool again = std::find(place.given.begin(), place.given.end(), option) != place.given.end();
      if (again && !takes_many(*option)) continue;
      for (const std::string& name : option->get_lnames()) {
        if (("--" + name).starts_with(begun) && listed.insert(name).second)
          text += completion_line("--" + name, first_sentence(option->get_description()));
      }
    }
  }
  return text;
}

std::string commands(const CLI::App& app, const std::string& begun) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty() && command->get_name().starts_with(begun))
      text += completion_line(command->get_name(), command->get_description());
  }
  return text;
}

std::string positional(const CLI::App& app, const Suggestions& suggestions, const std::string& begun) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) return values(choices_of(*option, suggestions), "", begun);
  }
  return "";
}

}  // namespace

std::string complete(const CLI::App& app, const Suggestions& suggestions,
                     std::span<const std::string> words) {
  Place place;
  place.command = &app;
  for (const std::string& word : words.first(words.empty() ? 0 : words.size() - 1)) pass(place, word);
  const std::string last = words.empty() ? "" : words.back();
  const bool is_option = !place.options_over && last.starts_with('-');
  if (place.pending && !(is_option && takes_many(*place.pending)))
    return values(choices_of(*place.pending, suggestions), "", last);
  if (is_option) {
    const std::size_t sign = last.find('=');
    if (sign == std::string::npos) return options(place, last);
    const CLI::Option* const option = find_option(place.command, last.substr(0, sign));
    if (!option || !takes_value(*option)) return "";
    return values(choices_of(*option, suggestions), last.substr(0, sign + 1), last.substr(sign + 1));
  }
  return commands(*place.command, last) + positional(*place.command, suggestions, last);
}

}  // namespace sightline::apps
