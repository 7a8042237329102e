#include "base/json_text.hpp"

#include <nlohmann/json.hpp>

#include "base/utf8.hpp"

namespace sightline {

std::string escape_controls(std::string_view json) {
  // The escapes of `printable` are those of JSON, but for "\x7f".
  std::string text = printable(json, "\n\t\x7f");
  for (std::size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos;) text.replace(at, 1, "\\u007f");
  return text;
}

namespace {

template <typename Json>
std::string text_of_json(const Json& json, int indent) {
  return escape_controls(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string json_text(const nlohmann::json& json, int indent) {
  return text_of_json(json, indent);
}
std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return text_of_json(json, indent);
}

std::string json_string(std::string_view text) {
  return json_text(nlohmann::json(text));
}

}  // namespace sightline
