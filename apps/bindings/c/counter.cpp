// Lines and zones.
#include <fmt/format.h>

#include <utility>

#include "apps/bindings/c/call.hpp"
#include "apps/bindings/c/options.hpp"
#include "apps/bindings/c/result.hpp"
#include "base/json_text.hpp"
#include "detection/track_counter.hpp"

namespace sightline::api {
namespace {

constexpr std::size_t kMostCorners = 1000;
constexpr double kFarthest = 100;  // of a point, in shares of the frame

Point point_of(const ConfigNode& node, const std::string& key) {
  const auto* const list = node.as<std::vector<ConfigNode>>();
  const auto refuse = [&]() {
    Options::fail(node, fmt::format("'{}' needs points of two numbers", key),
                  "write a point as shares of the frame's width and height: [0.2, 0.8]");
  };
  if (!list || list->size() != 2) refuse();
  double values[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* const value = (*list)[i].as<double>();
    if (!value || !(*value >= -kFarthest && *value <= kFarthest)) refuse();
    values[i] = *value;
  }
  return {values[0], values[1]};
}

const ConfigNode& needed(const Options& options, const std::string& key, const std::string& rule,
                         const ConfigNode& at) {
  if (const ConfigNode* const node = options.find(key)) return *node;
  Options::fail(at, fmt::format("'{}' has no '{}'", rule, key));
}

CountAnchor anchor_of(const Options& options) {
  const std::string anchor = options.text("anchor").value_or("bottom");
  if (anchor == "center") return CountAnchor::center;
  if (anchor != "bottom")
    Options::fail(*options.find("anchor"), fmt::format("there is no anchor '{}'", anchor),
                  "give \"bottom\" or \"center\"");
  return CountAnchor::bottom;
}

const ConfigTable& table_of(const ConfigNode& node, const std::string& name) {
  const auto* const table = node.as<ConfigTable>();
  if (!table) Options::fail(node, fmt::format("'{}' must be a table", name));
  return *table;
}

CountLine line_of(const std::string& name, const ConfigNode& node) {
  const Options given(table_of(node, name));
  CountLine line;
  line.name = name;
  line.from = point_of(needed(given, "from", name, node), "from");
  line.to = point_of(needed(given, "to", name, node), "to");
  line.frames = given.whole_number("frames", 1, 1000).value_or(line.frames);
  line.anchor = anchor_of(given);
  line.labels = given.texts("labels").value_or(std::vector<std::string>());
  given.expect_all_known();
  return line;
}

CountZone zone_of(const std::string& name, const ConfigNode& node) {
  const Options given(table_of(node, name));
  CountZone zone;
  zone.name = name;
  const ConfigNode& polygon = needed(given, "polygon", name, node);
  const auto* const corners = polygon.as<std::vector<ConfigNode>>();
  if (!corners || corners->size() > kMostCorners)
    Options::fail(polygon, fmt::format("'polygon' must be a list of up to {} points", kMostCorners));
  for (const ConfigNode& corner : *corners) zone.polygon.push_back(point_of(corner, "polygon"));
  zone.inertia = given.whole_number("inertia", 1, 1000).value_or(zone.inertia);
  zone.dwell = given.number("dwell", 0, 1e6).value_or(0);
  zone.anchor = anchor_of(given);
  zone.labels = given.texts("labels").value_or(std::vector<std::string>());
  given.expect_all_known();
  return zone;
}

CountRules rules_of(const Options& options) {
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

sl_count_kind kind_of(CountEvent::Kind kind) {
  switch (kind) {
    case CountEvent::Kind::in:
      return SL_IN;
    case CountEvent::Kind::out:
      return SL_OUT;
    case CountEvent::Kind::entered:
      return SL_ENTERED;
    case CountEvent::Kind::left:
      return SL_LEFT;
    case CountEvent::Kind::dwell:
      break;
  }
  return SL_DWELL;
}

std::string totals_text(const TrackCounter& counter) {
  std::string lines, zones;
  for (std::size_t i = 0; i < counter.rules().lines.size(); ++i) {
    const CountTotals& totals = counter.line_totals()[i];
    lines += fmt::format(R"({}{}:{{"in":{},"out":{}}})", lines.empty() ? "" : ",",
                         json_string(counter.rules().lines[i].name), totals.in, totals.out);
  }
  for (std::size_t i = 0; i < counter.rules().zones.size(); ++i) {
    const CountTotals& totals = counter.zone_totals()[i];
    zones +=
        fmt::format(R"({}{}:{{"entered":{},"left":{},"inside":{}}})", zones.empty() ? "" : ",",
                    json_string(counter.rules().zones[i].name), totals.entered, totals.left, totals.inside);
  }
  return fmt::format(R"({{"lines":{{{}}},"zones":{{{}}}}})", lines, zones);
}

}  // namespace
}  // namespace sightline::api

struct sl_counter {
  sightline::TrackCounter counter;
  std::vector<sl_count> events{};
  std::atomic<bool> is_busy{false};
};

using namespace sightline::api;

sl_status sl_counter_open(const char* zones_and_lines, sl_counter** counter, sl_error* error) {
  return guarded(error, [&] {
    checked(counter, "counter") = nullptr;
    const Options given(zones_and_lines);
    *counter = new sl_counter{sightline::TrackCounter(rules_of(given))};
  });
}

sl_status sl_counter_update(sl_counter* counter, const sl_result* tracked, const sl_count** events, size_t* n,
                            sl_error* error) {
  return guarded(error, [&] {
    checked(events, "events") = nullptr;
    checked(n, "n") = 0;
    const sl_result& in = checked(tracked, "tracked");
    const OneAtATime alone(checked(counter, "counter").is_busy, "counter");
    counter->events.clear();
    if (!(in.flags & SL_TRACKED)) {
      throw CallError{SL_E_ARGUMENT,
                      "the result comes from no tracker",
                      {},
                      "pass the results of sl_tracker_update, or of a stream with track = true"};
    }
    if (in.result.status != sightline::FrameStatus::ok || (in.flags & SL_ESTIMATED)) return;
    const sightline::Size size{in.result.width, in.result.height};
    const sightline::CountRules& rules = counter->counter.rules();
    for (const sightline::CountEvent& event :
         counter->counter.update(in.result.time, size, in.result.objects, in.facts->labels)) {
      sl_count count{};
      count.struct_size = sizeof count;
      count.kind = kind_of(event.kind);
      count.label = event.label;
      count.name = name_of(event, rules).c_str();
      count.track = event.track;
      count.time = event.time;
      counter->events.push_back(count);
    }
    *n = counter->events.size();
    if (*n > 0) *events = counter->events.data();
  });
}

sl_status sl_counter_totals(const sl_counter* counter, char** json, sl_error* error) {
  return guarded(error, [&] {
    checked(json, "json") = nullptr;
    *json = copy_text(totals_text(checked(counter, "counter").counter));
  });
}

void sl_counter_free(sl_counter* counter) {
  if (!is_forked()) delete counter;
}
