#pragma once
/// Pieces of text, and text files from outside.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sightline {

/// Limits for text from outside (JSON, TOML). Parsers build a tree that takes up to 16 times the file's size,
/// and recurse when they copy, write or destroy it.
inline constexpr std::uintmax_t kMaxTextBytes = std::uintmax_t{64} << 20;
inline constexpr int kMaxTextDepth = 64;

/// Reads a whole text file. Throws Error (input) if it cannot be read, or has more than kMaxTextBytes.
std::string read_text_file(const std::filesystem::path& file);

/// Without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

/// With small letters for the capitals of ASCII.
std::string lower_case(std::string text);

/// Order of names as people count: img2 before img10. Runs of digits compare by value, the rest byte by byte;
/// equal values by their length.
bool natural_less(std::string_view a, std::string_view b);

/// Pieces between separators. A trailing separator adds no piece, a leading one adds an empty piece. An empty
/// text has no pieces.
std::vector<std::string> split(const std::string& text, char separator);

/// The fields of a row, trimmed: one more than there are commas. Parts of `text`.
std::vector<std::string_view> split_at_commas(std::string_view text);

/// Text as a field of a CSV table: quoted where it holds commas, quotation marks or line ends. A text that a
/// spreadsheet would run as a formula (it begins with = + - @, a tab or a carriage return) gets a single
/// quotation mark in front, which spreadsheets take as "this is text".
std::string csv_field(std::string_view text);

/// The text that such a field stood for, without the quotation marks around it.
std::string_view without_formula_guard(std::string_view field);

/// A number in the shortest form that reads back as the same number.
std::string shortest(double value);

/// Digits in groups of three: "2,160,000".
std::string grouped(std::uint64_t value);

/// A share as a percentage of at most three significant digits: 0.0648 is "6.5%".
std::string percent(double share);

/// "people", "faces".
std::string plural(const std::string& one);

/// A count and its noun: "1 picture", "3 pictures", "2 people".
std::string counted(std::int64_t count, const std::string& one);

/// Several objects of a class: "people" and "faces"; other labels, which may be of any language, as they are.
std::string several_of(const std::string& label);

/// A number of objects of a class: "2 people", "1 face"; "Mensch: 2".
std::string counted_objects(std::int64_t count, const std::string& label);

}  // namespace sightline
