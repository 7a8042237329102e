#include "suggest.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace sightline::apps {
namespace {

// Levenshtein's: the fewest letters to add, leave out or change.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

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

/// The nearest of several words, as long as it is near.
class Nearest {
 public:
  explicit Nearest(std::string_view word)
      : word_(word), least_(std::max<std::size_t>(word.size() / 2, 1) + 1) {}  // further away is another word

  void consider(const std::string& candidate) {
    if (const std::size_t distance = edit_distance(word_, candidate); distance < least_) {
      least_ = distance;
      found_ = candidate;
    }
  }
  const std::string& found() const { return found_; }

 private:
  std::string_view word_;
  std::size_t least_;
  std::string found_;
};

}  // namespace

std::string explain_subcommand(const CLI::App& app) {
  const CLI::App* at = chosen(app);
  if (at->get_require_subcommand_min() == 0) return "";
  const std::vector<std::string> words = app.remaining(true);
  const auto word =
      std::find_if(words.begin(), words.end(), [](const std::string& w) { return w[0] != '-'; });
  if (word == words.end()) return "";

  std::string names;
  Nearest nearest(*word);
  for (const CLI::App* command : at->get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    if (command->get_group().empty()) continue;  // hidden
    names += (names.empty() ? "" : ", ") + name;
    nearest.consider(name);
  }
  return "there is no subcommand '" + *word + "'; " +
         (nearest.found().empty() ? "there are: " + names : "did you mean '" + nearest.found() + "'?");
}

std::string explain_option(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  const auto word = std::find_if(words.begin(), words.end(), looks_like_option);
  if (word == words.end()) return "";
  const std::string given = name_in(*word);
  const std::string name = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  Nearest nearest(name);
  const CLI::App* const command = chosen(app);
  for (const CLI::App* at = command; at; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      for (const std::string& known : option->get_lnames()) nearest.consider(known);
    }
  }
  if (nearest.found().empty()) return "there is no option '" + given + "'";
  if ("--" + nearest.found() == given)
    return "the option '" + given + "' must come after '" + command->get_name() + "'";
  return "there is no option '" + given + "'; did you mean '--" + nearest.found() + "'?";
}

std::string nearest_of(const std::string& word, const std::vector<std::string>& words) {
  Nearest nearest(word);
  for (const std::string& candidate : words) nearest.consider(candidate);
  return nearest.found();
}

}  // namespace sightline::apps
