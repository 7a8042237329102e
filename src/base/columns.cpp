#include "base/columns.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/utf8.hpp"

namespace sightline {
namespace {

struct Letters {
  char32_t first, last;
};

// Blocks of letters that take two columns (Unicode Standard Annex 11, wide and full width).
constexpr std::array<Letters, 12> kWide{{{0x1100, 0x115F},
                                         {0x2E80, 0xA4CF},
                                         {0xA960, 0xA97F},
                                         {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF},
                                         {0xFE30, 0xFE6F},
                                         {0xFF00, 0xFF60},
                                         {0xFFE0, 0xFFE6},
                                         {0x1F300, 0x1F64F},
                                         {0x1F680, 0x1F6FF},
                                         {0x1F900, 0x1F9FF},
                                         {0x20000, 0x3FFFD}}};
constexpr std::array<Letters, 4> kJoining{
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};

std::size_t columns_of_letter(char32_t letter) {
  const auto is_in = [&](const Letters& block) { return letter >= block.first && letter <= block.last; };
  if (std::ranges::any_of(kJoining, is_in)) return 0;
  return std::ranges::any_of(kWide, is_in) ? 2 : 1;
}

// Calls take(letter's bytes, its columns) for each letter until it returns false.
template <typename Take>
void for_each_letter(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(utf8_length(text), 1);
    const auto points = utf8_code_points(text.substr(0, bytes));
    if (!take(bytes, points && !points->empty() ? columns_of_letter(points->front()) : 1)) return;
    text.remove_prefix(bytes);
  }
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for_each_letter(text, [&](std::size_t, std::size_t own) {
    columns += own;
    return true;
  });
  return columns;
}

std::string_view cut_to_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0, taken = 0;
  for_each_letter(text, [&](std::size_t bytes, std::size_t own) {
    if (taken + own > columns) return false;
    taken += own;
    end += bytes;
    return true;
  });
  return text.substr(0, end);
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t first, std::size_t indent) {
  std::string result;
  std::size_t column = first;
  bool is_line_empty = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t own = columns_of(word);
    if (!is_line_empty && column + 1 + own > columns) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_line_empty) {
      result += ' ';
      ++column;
    }
    result += word;
    column += own;
    is_line_empty = false;
    at = end + 1;
  }
  return result;
}

std::size_t terminal_columns(int descriptor, std::size_t otherwise) {
  constexpr std::size_t kFewest = 20, kMost = 1000;
  std::size_t columns = 0;
  if (const char* const variable = std::getenv("COLUMNS"))
    std::from_chars(variable, variable + std::strlen(variable), columns);
  winsize size{};
  if (columns == 0 && isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns == 0 ? otherwise : std::clamp(columns, kFewest, kMost);
}

std::size_t output_columns() {
  return terminal_columns(STDOUT_FILENO, 100);
}

bool is_terminal(int descriptor) {
  const char* const kind = std::getenv("TERM");
  return isatty(descriptor) && kind && std::string_view(kind) != "dumb";
}

}  // namespace sightline
