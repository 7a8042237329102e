#include "model/description.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/json_problem.hpp"

namespace sightline {
namespace {

constexpr std::size_t kNameWidth = 14;
constexpr std::size_t kDetailWidth = 18;
constexpr std::size_t kLineWidth = 100;

// Words in lines, those after the first under the first one's values.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = kLineWidth - kNameWidth - 1;
  std::istringstream words(text);
  std::string lines;
  std::size_t length = 0;
  for (std::string word; words >> word;) {
    if (length > 0 && length + 1 + word.size() > kWidth) {
      lines += '\n' + std::string(kNameWidth + 1, ' ');
      length = 0;
    } else if (length > 0) {
      lines += ' ';
      ++length;
    }
    lines += word;
    length += word.size();
  }
  return lines;
}

}  // namespace

std::string property_line(const std::string& name, const std::string& value) {
  return fmt::format("{:<{}} {}\n", name, kNameWidth, value);
}

std::string detail_line(const std::string& name, const std::string& value) {
  return fmt::format("  {:<{}} {}\n", name, kDetailWidth, value);
}

std::string provenance_lines(const std::string& name, const std::string& text) {
  nlohmann::ordered_json json;
  try {
    check_json_limits(text);
    json = nlohmann::ordered_json::parse(text, nullptr, false);
  } catch (const Error&) {  // it is shown as it is
  }
  if (!json.is_object()) return property_line(name, text.empty() ? "none" : wrapped(text));
  std::string lines = property_line(name, json.empty() ? "none" : "");
  for (const auto& [key, value] : json.items()) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    lines += detail_line(key, shown.empty() ? "-" : shown);
  }
  return lines;
}

}  // namespace sightline
