#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/text_encoding.hpp"

namespace sightline {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string read_text_file(const std::filesystem::path& file) {
  refuse_special_file(file);
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  char block[1 << 16];
  while (stream.read(block, sizeof block) || stream.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kMaxTextBytes) {
      throw Error(ExitCode::input,
                  "'" + file.string() + "' is larger than " + std::to_string(kMaxTextBytes >> 20) + " MiB");
    }
  }
  if (!stream.eof()) throw Error(ExitCode::input, "cannot read '" + file.string() + "'");
  refuse_wide_text(text, file);
  text.erase(0, text.size() - without_byte_order_mark(text).size());
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";  // \r: files that come from Windows
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto run = [](std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t from = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(from, at - from);
      };
      const std::string_view x = run(a, i), y = run(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  const std::size_t left_a = a.size() - i, left_b = b.size() - j;
  return left_a != left_b ? left_a < left_b : a < b;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, separator);) pieces.push_back(std::move(piece));
  return pieces;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = text.find(',');
    fields.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    text.remove_prefix(comma + 1);
  }
}

namespace {

bool begins_formula(std::string_view text) {
  return text.size() > 1 && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string result(begins_formula(text) ? "'" : "");
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return result.append(text);
  result = '"' + result;
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

std::string_view without_formula_guard(std::string_view field) {
  return field.starts_with('\'') && begins_formula(field.substr(1)) ? field.substr(1) : field;
}

std::string shortest(double value) {
  std::array<char, 40> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string percent(double share) {
  const double value = share * 100;
  const int decimals = value >= 10 || value == 0 ? (value >= 99.95 ? 0 : 1) : value >= 1 ? 1 : 2;
  std::array<char, 64> digits;
  std::snprintf(digits.data(), digits.size(), "%.*f", decimals, value);
  std::string result = digits.data();
  if (result.find('.') != std::string::npos) {
    while (result.back() == '0') result.pop_back();
    if (result.back() == '.') result.pop_back();
  }
  return result + '%';
}

std::string plural(const std::string& one) {
  if (one == "person") return "people";
  if (!one.empty() && one.back() >= '0' && one.back() <= '9') return one;  // "class 7" is a name
  const auto ends_in = [&](std::string_view end) { return one.ends_with(end); };
  if (ends_in("ss") || ends_in("us") || ends_in("ch") || ends_in("sh") || ends_in("x")) return one + "es";
  return ends_in("s") ? one : one + 's';
}

std::string several_of(const std::string& label) {
  return label == "person" || label == "face" ? plural(label) : label;
}

std::string counted_objects(std::int64_t count, const std::string& label) {
  return several_of(label) != label ? counted(count, label) : label + ": " + std::to_string(count);
}

std::string counted(std::int64_t count, const std::string& one) {
  return std::to_string(count) + ' ' + (count == 1 ? one : plural(one));
}

}  // namespace sightline
