#pragma once
/// Columns of a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace sightline {

/// Columns that a text in UTF-8 takes: two for the wide letters of East Asia and for emoji, none for marks
/// that join the letter before.
std::size_t columns_of(std::string_view text);

/// The beginning of a text that takes at most so many columns.
std::string_view cut_to_columns(std::string_view text, std::size_t columns);

/// A text without line ends in lines of at most `columns`, broken at blanks; a longer word has a line of its
/// own.
/// @param first   columns that are taken on the first line
/// @param indent  blanks before each other line
std::string wrapped(std::string_view text, std::size_t columns, std::size_t first = 0,
                    std::size_t indent = 0);

/// Columns of the terminal that a file descriptor is: $COLUMNS, else what the terminal says. `otherwise` if
/// it is no terminal, or does not say.
std::size_t terminal_columns(int descriptor, std::size_t otherwise);

/// Columns for tables and texts on standard output: the terminal's, or 100 for a file or a pipe.
std::size_t output_columns();

/// Whether lines may be drawn over and coloured there: a terminal that is not dumb ($TERM).
bool is_terminal(int descriptor);

}  // namespace sightline
