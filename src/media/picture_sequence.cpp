#include "media/picture_sequence.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>

namespace sightline::media {
namespace {

namespace fs = std::filesystem;

// The number in a name that consists of `head`, a number as "%0<width>d" prints it, and `tail`.
std::optional<std::int64_t> number_in(std::string_view name, std::string_view head, std::string_view tail,
                                      int width) {
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return {};
  const std::string_view digits = name.substr(head.size(), name.size() - head.size() - tail.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) return {};
  char printed[64];
  std::snprintf(printed, sizeof printed, "%0*lld", width, static_cast<long long>(number));
  if (digits != printed) return {};
  return number;
}

}  // namespace

std::optional<PictureSequence> find_sequence(const std::string& pattern) {
  const fs::path path(pattern);
  const std::string name = path.filename().string();
  const std::size_t begin = name.find('%'), end = name.find('d', begin);
  if (begin == name.npos || end == name.npos || path.parent_path().string().find('%') != name.npos ||
      name.find('%', begin + 1) != name.npos)
    return {};
  const std::string_view digits = std::string_view(name).substr(begin + 1, end - begin - 1);
  int width = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (!digits.empty() && (parsed.ptr != digits.data() + digits.size() || width > 20)) return {};
  std::set<std::int64_t> numbers;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (fs::directory_iterator entry(folder, error), last; !error && entry != last; entry.increment(error)) {
    if (const auto number =
            number_in(entry->path().filename().native(), std::string_view(name).substr(0, begin),
                      std::string_view(name).substr(end + 1), width))
      numbers.insert(*number);
  }
  if (numbers.empty()) return {};
  PictureSequence sequence{*numbers.begin(), *numbers.begin()};
  while (numbers.contains(sequence.end)) ++sequence.end;
  sequence.further = static_cast<std::int64_t>(numbers.size()) - (sequence.end - sequence.first);
  return sequence;
}

}  // namespace sightline::media
