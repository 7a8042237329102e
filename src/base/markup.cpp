#include "base/markup.hpp"

#include <nlohmann/json.hpp>

namespace sightline {

std::string escape_markup(const std::string& text) {
  using nlohmann::json;
  const json clean = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  std::string result;
  for (const char c : clean.get_ref<const std::string&>()) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

}  // namespace sightline
