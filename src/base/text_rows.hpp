#pragma once
/// Readers of text files with one row per line, such as ground truth and stored curves.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sightline::text_rows {

/// A line of a file, for messages.
struct Row {
  const std::filesystem::path& file;
  int number = 0;

  /// `file:line`.
  std::string place() const;
  /// Throws Error(input) with the file's name and the line's number.
  [[noreturn]] void refuse(const std::string& reason) const;
};

/// The marked boxes of a file that have no area: one of them is no reason to refuse the others.
class EmptyBoxes {
 public:
  /// False if the box must be left out.
  /// @param place  place of the box: file and line, or entry of the file
  bool has_area(double width, double height, const std::string& place);
  /// Warns once with the number of boxes left out and the place of the first. Throws Error(input) where more
  /// boxes have a negative side than an area: then the file has another format.
  void report() const;

 private:
  std::int64_t kept_ = 0, empty_ = 0, inverted_ = 0;
  std::string first_, first_inverted_;
};

/// Splits at every run of blanks. A field in double quotes may hold blanks; the quotes are left out.
std::vector<std::string_view> split_at_blanks(std::string_view text);

/// Takes the first field of a table's row, quoted where it must be (csv_field), and the comma
/// behind it. Throws Error(input) if there is none.
std::string take_csv_field(std::string_view& text, const Row& row);

/// A finite number, and a whole one of at least `least`. Throw Error(input) with `what`, its name.
double number(std::string_view text, const char* what, const Row& row);
std::int64_t whole_number(std::string_view text, const char* what, std::int64_t least, const Row& row);

/// Throws Error(input) if a file is larger than 1 GiB.
void check_size(const std::filesystem::path& file);

/// Takes the lines that are not blank, without the blanks around them.
/// @param what  the file is, for messages
/// Throws Error(input) if it cannot be read, or is larger than check_size allows.
void for_each_row(const std::filesystem::path& file, const char* what,
                  const std::function<void(std::string_view, const Row&)>& take);

}  // namespace sightline::text_rows
