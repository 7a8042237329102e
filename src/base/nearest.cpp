#include "base/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace sightline {
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

std::string nearest_of(std::string_view word, const std::vector<std::string>& words) {
  std::size_t least =
      std::max<std::size_t>(word.size() / 3, word.size() < 3 ? 1 : 2) + 1;  // further away is another word
  std::string found;
  for (const std::string& candidate : words) {
    if (const std::size_t distance = edit_distance(word, candidate); distance < least) {
      least = distance;
      found = candidate;
    }
  }
  return found;
}

std::string nearest_or_all(std::string_view word, const std::vector<std::string>& words) {
  if (const std::string nearest = nearest_of(word, words); !nearest.empty())
    return "did you mean '" + nearest + "'?";
  return fmt::format("there are: {}", fmt::join(words, ", "));
}

}  // namespace sightline
