#include "base/text_rows.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/input_file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/text_encoding.hpp"

namespace sightline::text_rows {

std::string Row::place() const {
  return file.string() + ':' + std::to_string(number);
}

void Row::refuse(const std::string& reason) const {
  throw Error(ExitCode::input, reason).at(place());
}

std::vector<std::string_view> split_at_blanks(std::string_view text) {
  std::vector<std::string_view> fields;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::size_t quote = text[0] == '"' ? text.find('"', 1) : std::string_view::npos;
    const bool is_quoted = quote != std::string_view::npos && quote > 1;
    const std::size_t end = is_quoted ? quote + 1 : std::min(text.find_first_of(" \t"), text.size());
    fields.push_back(is_quoted ? text.substr(1, quote - 1) : text.substr(0, end));
    text.remove_prefix(end);
  }
  return fields;
}

std::string take_csv_field(std::string_view& text, const Row& row) {
  std::string name;
  std::size_t i = 0;
  if (text.starts_with('"')) {
    for (i = 1; i < text.size(); ++i) {
      if (text[i] == '"' && !text.substr(i + 1).starts_with('"')) break;
      if (text[i] == '"') ++i;
      name += text[i];
    }
    ++i;
  } else {
    i = std::min(text.find(','), text.size());
    name = text.substr(0, i);
  }
  if (i >= text.size() || text[i] != ',') row.refuse("the name at its beginning does not end");
  text.remove_prefix(i + 1);
  return std::string(without_formula_guard(name));
}

double number(std::string_view text, const char* what, const Row& row) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    row.refuse(std::string(what) + " '" + std::string(text) + "' is not a number");
  }
  return value;
}

std::int64_t whole_number(std::string_view text, const char* what, std::int64_t least, const Row& row) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least) {
    row.refuse(std::string(what) + " '" + std::string(text) + "' is not a whole number from " +
               std::to_string(least) + " upwards");
  }
  return value;
}

bool EmptyBoxes::has_area(double width, double height, const std::string& place) {
  if (width > 0 && height > 0) {
    ++kept_;
    return true;
  }
  if (empty_++ == 0) first_ = place;
  if ((width < 0 || height < 0) && inverted_++ == 0) first_inverted_ = place;
  return false;
}

void EmptyBoxes::report() const {
  if (inverted_ > kept_)
    throw Error(ExitCode::input, first_inverted_ + ": the box has no area",
                "check that the columns have the meaning and order that this format has");
  if (empty_ > 0)
    logger().warn("{}: the box has no area; {} left out", first_,
                  empty_ == 1 ? "it is" : "it and " + std::to_string(empty_ - 1) + " more" + " are");
}

void check_size(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 30;
  std::error_code error;
  if (const std::uintmax_t bytes = std::filesystem::file_size(file, error); !error && bytes > kMaxBytes) {
    throw Error(ExitCode::input,
                "'" + file.string() + "' is larger than " + std::to_string(kMaxBytes >> 30) + " GiB");
  }
}

void for_each_row(const std::filesystem::path& file, const char* what,
                  const std::function<void(std::string_view, const Row&)>& take) {
  refuse_special_file(file);
  // Opening a folder succeeds on Linux, and reading it would look like an empty file.
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file)) {
    const int error = in ? EISDIR : errno;
    throw Error(ExitCode::input,
                std::string("cannot read ") + what + " '" + file.string() + "': " + std::strerror(error));
  }
  check_size(file);
  Row row{file};
  std::string text;
  while (std::getline(in, text)) {
    ++row.number;
    std::string_view line = text;
    if (row.number == 1) {
      refuse_wide_text(line, file);
      line = without_byte_order_mark(line);
    }
    if (!trimmed(line).empty()) take(trimmed(line), row);
  }
  if (in.bad() || fault::strikes(fault::Kind::read, what)) row.refuse("the file cannot be read further");
}

}  // namespace sightline::text_rows
