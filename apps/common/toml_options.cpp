#include "apps/common/toml_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/nearest.hpp"

namespace sightline::apps {
namespace {

constexpr const char* kOptions = "options";
constexpr std::size_t kMaxOptionBytes = std::size_t{64} << 10;

}  // namespace

TomlOptions::TomlOptions(const char* text, const std::string& name) {
  const std::string_view given = text ? text : "";
  if (given.size() > kMaxOptionBytes)
    throw Error(ExitCode::usage, fmt::format("{} of {} bytes, more than 64 KiB", name, given.size()));
  root_ = parse_toml(given, name);
  table_ = root_.as<ConfigTable>();
}

void TomlOptions::fail(const ConfigNode& node, const std::string& problem, const std::string& remedy) {
  throw Error(ExitCode::usage, problem, remedy).about(fmt::format("{}:{}", kOptions, node.line));
}

const ConfigNode* TomlOptions::find(const std::string& key) const {
  known_.insert(key);
  const auto found = table_->find(key);
  return found == table_->end() ? nullptr : &found->second;
}

std::optional<double> TomlOptions::number(const std::string& key, double lowest, double highest) const {
  const ConfigNode* const node = find(key);
  if (!node) return std::nullopt;
  const auto* const value = node->as<double>();
  if (!value) fail(*node, fmt::format("'{}' must be a number", key));
  if (!(*value >= lowest && *value <= highest)) {
    fail(*node, fmt::format("'{}' is {:g}, out of range", key, *value),
         fmt::format("give a number from {:g} to {:g}", lowest, highest));
  }
  return *value;
}

std::optional<int> TomlOptions::whole_number(const std::string& key, int lowest, int highest) const {
  const std::optional<double> value = number(key, lowest, highest);
  if (!value) return std::nullopt;
  if (*value != std::floor(*value)) fail(*find(key), fmt::format("'{}' must be a whole number", key));
  return static_cast<int>(*value);
}

std::optional<std::string> TomlOptions::text(const std::string& key) const {
  const ConfigNode* const node = find(key);
  if (!node) return std::nullopt;
  const auto* const value = node->as<std::string>();
  if (!value) fail(*node, fmt::format("'{}' must be a text", key), "write it in quotation marks");
  return *value;
}

std::optional<bool> TomlOptions::flag(const std::string& key) const {
  const ConfigNode* const node = find(key);
  if (!node) return std::nullopt;
  const auto* const value = node->as<bool>();
  if (!value) fail(*node, fmt::format("'{}' must be true or false", key));
  return *value;
}

std::optional<std::vector<std::string>> TomlOptions::texts(const std::string& key) const {
  const ConfigNode* const node = find(key);
  if (!node) return std::nullopt;
  if (const auto* const one = node->as<std::string>()) return std::vector{*one};
  const auto* const list = node->as<std::vector<ConfigNode>>();
  if (!list) fail(*node, fmt::format("'{}' must be a list of texts", key));
  std::vector<std::string> texts;
  for (const ConfigNode& one : *list) {
    const auto* const value = one.as<std::string>();
    if (!value) fail(one, fmt::format("'{}' must be a list of texts", key));
    texts.push_back(*value);
  }
  return texts;
}

const ConfigTable* TomlOptions::section(const std::string& key) const {
  const ConfigNode* const node = find(key);
  if (!node) return nullptr;
  const auto* const table = node->as<ConfigTable>();
  if (!table) fail(*node, fmt::format("'{}' must be a table", key));
  return table;
}

void TomlOptions::expect_all_known() const {
  for (const auto& [key, node] : *table_) {
    if (known_.contains(key)) continue;
    fail(node, fmt::format("there is no option '{}'", key),
         nearest_or_all(key, {known_.begin(), known_.end()}));
  }
}

}  // namespace sightline::apps
