#pragma once
/// Limits for untrusted JSON text, and readable messages for its errors.

#include <exception>
#include <string>
#include <string_view>

namespace sightline {

/// Message of an exception of nlohmann's library, without its prefix ("[json.exception.parse_error.101]") and
/// shortened: "line 3, column 7: syntax error while parsing value - ...", "key 'textures' not found". Other
/// exceptions: their own message. The caller adds the file's name.
std::string json_problem(const std::exception& error);

/// Throws Error (input) if a text is nested deeper than kMaxTextDepth or has more than 4 million values.
/// Must be called before nlohmann's library builds a tree of a text from outside: the library copies and
/// writes trees recursively, so that a deep one overflows the stack.
void check_json_limits(std::string_view text);

}  // namespace sightline
