#include "base/utf8.hpp"

#include <algorithm>
#include <cstdio>

namespace sightline {
namespace {

// Code point of the single valid character in `text`.
char32_t code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  constexpr unsigned kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t value = byte(0) & kFirstBits[text.size()];
  for (std::size_t i = 1; i < text.size(); ++i) value = (value << 6) | (byte(i) & 0x3FU);
  return value;
}

// Unicode's Bidi_Control characters, and the line and paragraph separators.
bool changes_direction(char32_t c) {
  return c == 0x61C || (c >= 0x200E && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : length;
}

std::optional<std::u32string> utf8_code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return std::nullopt;
    points += code_point(text.substr(0, length));
    text.remove_prefix(length);
  }
  return points;
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view one = text.substr(0, std::max<std::size_t>(length, 1));
    const char32_t point = length > 0 ? code_point(one) : 0;
    char escape[16] = {};
    if (length == 0 || (length == 1 && (point < 0x20 || point == 0x7F) && kept.find(text[0]) == kept.npos)) {
      std::snprintf(escape, sizeof escape, "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(text[0])));
    } else if ((point >= 0x80 && point < 0xA0) || changes_direction(point)) {
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(point));
    }
    result += escape[0] != 0 ? std::string_view(escape) : one;
    text.remove_prefix(one.size());
  }
  return result;
}

}  // namespace sightline
