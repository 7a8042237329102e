#include "model/description.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/columns.hpp"
#include "base/error.hpp"
#include "base/json_problem.hpp"

namespace sightline {
namespace {

constexpr std::size_t kNameWidth = 14;
constexpr std::size_t kDetailWidth = 18;

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
  if (!json.is_object()) {
    constexpr std::size_t kIndent = kNameWidth + 1;
    return property_line(name, text.empty() ? "none" : wrapped(text, output_columns(), kIndent, kIndent));
  }
  std::string lines = property_line(name, json.empty() ? "none" : "");
  for (const auto& [key, value] : json.items()) {
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    lines += detail_line(key, shown.empty() ? "-" : shown);
  }
  return lines;
}

}  // namespace sightline
