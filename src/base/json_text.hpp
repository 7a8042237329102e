#pragma once
/// JSON as text for files, pipes and terminals.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sightline {

/// Escapes (`\u009b`) the characters of a JSON text that affect a terminal: DEL, C1 control characters and
/// characters that change the direction of text. The JSON value stays the same.
/// @param json  UTF-8, such as nlohmann's `dump`
std::string escape_controls(std::string_view json);

/// A JSON string with its quotes, as `json_text` writes it.
std::string json_string(std::string_view text);

/// Like `dump`, with `escape_controls`; replaces bytes that are not UTF-8.
/// @param indent  negative: on one line
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace sightline
