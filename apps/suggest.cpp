#include "suggest.hpp"

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

}  // namespace

std::string explain_subcommand(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  if (at->get_require_subcommand_min() == 0) return "";
  const std::vector<std::string> words = app.remaining(true);
  const auto word =
      std::find_if(words.begin(), words.end(), [](const std::string& w) { return w[0] != '-'; });
  if (word == words.end()) return "";

  std::string names, nearest;
  std::size_t least = std::max<std::size_t>(word->size() / 2, 1) + 1;  // further away is another word
  for (const CLI::App* command : at->get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& name = command->get_name();
    names += (names.empty() ? "" : ", ") + name;
    if (const std::size_t distance = edit_distance(*word, name); distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return "there is no subcommand '" + *word + "'; " +
         (nearest.empty() ? "there are: " + names : "did you mean '" + nearest + "'?");
}

}  // namespace sightline::apps
