#include "apps/common/count_rules.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

constexpr std::size_t kMostCorners = 1000;
constexpr double kFarthest = 100;  // of a point, in shares of the frame

Point point_of(const ConfigNode& node, const std::string& key) {
  const auto* const list = node.as<std::vector<ConfigNode>>();
  const auto refuse = [&](const char* what) {
    TomlOptions::fail(node, fmt::format("'{}' {}", key, what),
                      "write a point as shares of the frame's width and height: [0.2, 0.8]");
  };
  if (!list || list->size() != 2) refuse("needs points of two numbers");
  double values[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* const value = (*list)[i].as<double>();
    if (!value) refuse("needs points of two numbers");
    if (!(std::abs(*value) <= kFarthest)) refuse("has a point far outside the frame, as of pixels");
    values[i] = *value;
  }
  return {values[0], values[1]};
}

// @param at  of the rule, for the error if there is no such node
const ConfigNode& needed(const ConfigNode* node, const std::string& key, const std::string& rule,
                         const ConfigNode& at) {
  if (!node) TomlOptions::fail(at, fmt::format("'{}' has no '{}'", rule, key));
  return *node;
}

CountAnchor anchor_of(const TomlOptions& options) {
  const std::string anchor = options.text("anchor").value_or("bottom");
  if (anchor == "center") return CountAnchor::center;
  if (anchor != "bottom")
    TomlOptions::fail(*options.find("anchor"), fmt::format("there is no anchor '{}'", anchor),
                      "give \"bottom\" or \"center\"");
  return CountAnchor::bottom;
}

const ConfigTable& table_in(const ConfigNode& node, const std::string& name) {
  const auto* const table = node.as<ConfigTable>();
  if (!table) TomlOptions::fail(node, fmt::format("'{}' must be a table", name));
  return *table;
}

CountLine line_of(const std::string& name, const ConfigNode& node) {
  const TomlOptions given(table_in(node, name));
  CountLine line;
  line.name = name;
  line.frames = given.whole_number("frames", 1, 1000).value_or(line.frames);
  line.anchor = anchor_of(given);
  line.labels = given.texts("labels").value_or(std::vector<std::string>());
  const ConfigNode *const from = given.find("from"), *const to = given.find("to");
  given.expect_all_known();  // before keys are missed: one may be misspelt
  line.from = point_of(needed(from, "from", name, node), "from");
  line.to = point_of(needed(to, "to", name, node), "to");
  return line;
}

CountZone zone_of(const std::string& name, const ConfigNode& node) {
  const TomlOptions given(table_in(node, name));
  CountZone zone;
  zone.name = name;
  zone.inertia = given.whole_number("inertia", 1, 1000).value_or(zone.inertia);
  zone.dwell = given.number("dwell", 0, 1e6).value_or(0);
  zone.anchor = anchor_of(given);
  zone.labels = given.texts("labels").value_or(std::vector<std::string>());
  const ConfigNode* const given_polygon = given.find("polygon");
  given.expect_all_known();
  const ConfigNode* const polygon = &needed(given_polygon, "polygon", name, node);
  const auto* const corners = polygon->as<std::vector<ConfigNode>>();
  if (!corners || corners->size() > kMostCorners)
    TomlOptions::fail(*polygon, fmt::format("'polygon' must be a list of up to {} points", kMostCorners));
  for (const ConfigNode& corner : *corners) zone.polygon.push_back(point_of(corner, "polygon"));
  return zone;
}

}  // namespace

CountRules count_rules(const TomlOptions& options) {
  CountRules rules;
  if (const ConfigTable* const lines = options.section("lines")) {
    for (const auto& [name, node] : *lines) rules.lines.push_back(line_of(name, node));
  }
  if (const ConfigTable* const zones = options.section("zones")) {
    for (const auto& [name, node] : *zones) rules.zones.push_back(zone_of(name, node));
  }
  rules.lost = options.number("lost", 1e-3, 1e6).value_or(rules.lost);
  options.expect_all_known();
  if (rules.lines.empty() && rules.zones.empty())
    throw Error(ExitCode::usage, "there is no line and no zone",
                "give one, such as: lines.door = { from = [0.2, 0.8], to = [0.8, 0.8] }");
  return rules;
}

CountRules read_count_rules(const std::string& file) {
  const std::string text = read_text_file(file);
  const TomlOptions options(text.c_str(), file);
  try {
    return TrackCounter(count_rules(options)).rules();
  } catch (const Error& error) {
    const std::string& object = error.fields().object;  // "options:LINE"
    const auto colon = object.rfind(':');
    throw error.at(file + (colon == std::string::npos ? "" : object.substr(colon)));
  }
}

}  // namespace sightline::apps
