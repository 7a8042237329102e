#include "detectors/network/class_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <variant>

#include "base/text.hpp"
#include "detectors/network/labels.hpp"

namespace sightline::network {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_tail = [&](int shift) { add(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | code >> 6);
    add_tail(0);
  } else if (code < 0x10000) {
    add(0xE0U | code >> 12);
    add_tail(6);
    add_tail(0);
  } else {
    add(0xF0U | (code >> 18 & 7U));
    add_tail(12);
    add_tail(6);
    add_tail(0);
  }
}

// Reads literals of Python and JSON: texts and whole numbers in a list or dictionary. `ok` stays false once
// something else was found.
class LiteralReader {
 public:
  using Item = std::variant<std::monostate, std::string, std::size_t>;

  explicit LiteralReader(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }

  bool take(char sign) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }
  bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  void expect(bool condition) { ok_ = ok_ && condition; }

  Item item() {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == 'u' || text_[at_] == 'b') && at_ + 1 < text_.size() &&
        is_quote(text_[at_ + 1]))
      ++at_;  // Python's prefix of texts
    if (at_ < text_.size() && is_quote(text_[at_])) return quoted();
    std::size_t number = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    expect(error == std::errc());
    at_ += static_cast<std::size_t>(end - begin);
    return ok_ ? Item(number) : Item();
  }

 private:
  static bool is_quote(char sign) { return sign == '\'' || sign == '"'; }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  std::string quoted() {
    const char quote = text_[at_++];
    std::string result;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        append_escaped(result);
      } else {
        result += text_[at_++];
      }
    }
    expect(at_ < text_.size());
    ++at_;
    return result;
  }

  std::optional<std::uint32_t> hexadecimal(std::size_t digits) {
    std::uint32_t code = 0;
    if (at_ + digits > text_.size()) return {};
    const char* const end = text_.data() + at_ + digits;
    if (std::from_chars(text_.data() + at_, end, code, 16).ptr != end) return {};
    at_ += digits;
    return code;
  }

  void append_escaped(std::string& result) {
    constexpr std::string_view kSigns = "ntrbf/\\'\"", kMeant = "\n\t\r\b\f/\\'\"";
    const char sign = text_[at_++];
    if (const std::size_t k = kSigns.find(sign); k != std::string_view::npos) {
      result += kMeant[k];
      return;
    }
    const std::size_t digits = sign == 'x' ? 2 : sign == 'u' ? 4 : sign == 'U' ? 8 : 0;
    auto code = digits > 0 ? hexadecimal(digits) : std::nullopt;
    constexpr std::uint32_t kHigh = 0xD800, kLow = 0xDC00, kEnd = 0xE000;
    if (code && *code >= kHigh && *code < kLow && text_.substr(at_, 2) == "\\u") {  // half of a character
      at_ += 2;
      const auto low = hexadecimal(4);
      if (low && *low >= kLow && *low < kEnd) code = 0x10000 + ((*code - kHigh) << 10) + (*low - kLow);
    }
    if (code) return append_utf8(result, *code);
    result += '\\';
    result += sign;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

using Named = std::map<std::size_t, std::string>;  // by number

std::optional<std::size_t> number_in(const LiteralReader::Item& item) {
  if (const auto* number = std::get_if<std::size_t>(&item)) return *number;
  const auto* const text = std::get_if<std::string>(&item);
  if (!text || text->empty()) return {};
  std::size_t number = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return number;
}

void add_name(LiteralReader& reader, Named& names, const LiteralReader::Item& key,
              const LiteralReader::Item& value) {
  const auto* const name = std::get_if<std::string>(&value);
  const auto number = name ? number_in(key) : number_in(value);
  const auto* const text = name ? name : std::get_if<std::string>(&key);
  reader.expect(text && number && *number < kMostClasses && names.size() < kMostClasses &&
                names.emplace(number.value_or(0), *text).second);
}

std::optional<Named> literal_names(std::string_view text) {
  LiteralReader reader(text);
  Named names;
  const bool has_keys = reader.take('{');
  const char close = has_keys ? '}' : reader.take('[') ? ']' : ')';
  if (close == ')' && !reader.take('(')) return {};
  while (reader.ok() && !reader.take(close)) {
    LiteralReader::Item key = has_keys ? reader.item() : LiteralReader::Item(names.size());
    if (has_keys) reader.expect(reader.take(':'));
    add_name(reader, names, key, reader.item());
    if (reader.take(',')) continue;
    reader.expect(reader.take(close));
    break;
  }
  reader.expect(reader.is_at_end());
  if (!reader.ok()) return {};
  return names;
}

}  // namespace

std::optional<std::vector<std::string>> parse_class_names(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::vector<std::string>();
  std::vector<std::string> names;
  if (std::string_view("{[(").find(text.front()) == std::string_view::npos) {
    for (const std::string& line :
         split(std::string(text), text.find('\n') == std::string_view::npos ? ',' : '\n'))
      names.emplace_back(trimmed(line));
    if (names.size() > kMostClasses) return {};
    return names;
  }
  const auto numbered = literal_names(text);
  if (!numbered) return {};
  for (const auto& [number, name] : *numbered) {
    names.resize(number);
    names.push_back(name);
  }
  return names;
}

}  // namespace sightline::network
