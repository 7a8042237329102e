#include "faces/gallery/names.hpp"

#include <glib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "frame/attributes.hpp"

namespace sightline::gallery {
namespace {

// Unicode's controls and line ends (Cc, Zl, Zp), and the marks that make text run the other way: the rest of
// a line of a table, too.
bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

bool is_blank(char32_t c) {
  return c == ' ' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200B) || c == 0x202F || c == 0x205F ||
         c == 0x3000 || c == 0xFEFF;
}

}  // namespace

std::string normal_name(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) return std::string(name);
  const std::unique_ptr<char, void (*)(void*)> normal(
      g_utf8_normalize(name.data(), static_cast<gssize>(name.size()), G_NORMALIZE_NFC), g_free);
  return normal ? normal.get() : std::string(name);
}

void check_name(std::string_view name) {
  const auto refuse = [](const std::string& problem, const Message& remedy) {
    throw Error(ExitCode::usage, problem, remedy);
  };
  const std::optional<std::u32string> points = utf8_code_points(name);
  if (!points) refuse("the name '" + printable(name) + "' is not UTF-8", "give it in UTF-8");
  if (points->size() > kLongestName) {
    refuse("a name has " + std::to_string(points->size()) + " characters, more than the limit of " +
               std::to_string(kLongestName),
           "choose a shorter one");
  }
  if (std::ranges::any_of(*points, is_control))
    refuse("the name '" + printable(name) + "' contains a line end or another control character",
           "leave it out");
  if (std::ranges::all_of(*points, is_blank)) refuse("a name is empty", "give one with --name"_message);
  if (is_blank(points->front()) || is_blank(points->back()))
    refuse("the name '" + std::string(name) + "' begins or ends with a blank", "leave it out");
  if (name == kUnknownName)
    refuse("the name '" + std::string(name) + "' is reserved for unknown people", "choose another name");
}

}  // namespace sightline::gallery
