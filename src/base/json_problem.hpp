#pragma once
/// Limits of a JSON text from outside, and what is wrong with one, for people.

#include <exception>
#include <string>
#include <string_view>

namespace sightline {

/// What nlohmann's library throws of a text, without its own mark in front
/// ("[json.exception.parse_error.101]") and no longer than a person reads: "line 3, column 7: syntax error
/// while parsing value - ...", "key 'textures' not found". Of any other exception what it says. Whoever shows
/// it says which file it is of.
std::string json_problem(const std::exception& error);

/// Throws Error (input) where a text is nested deeper than kMaxTextDepth or has more than 4 million values.
/// Must be called before nlohmann's library builds a tree of a text from outside: the library copies and
/// writes trees recursively, so that a deep one overflows the stack.
void check_json_limits(std::string_view text);

}  // namespace sightline
