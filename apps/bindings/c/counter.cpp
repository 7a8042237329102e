// Lines and zones.
#include <fmt/format.h>

#include <utility>

#include "apps/bindings/c/call.hpp"
#include "apps/bindings/c/result.hpp"
#include "apps/common/count_rules.hpp"
#include "base/json_text.hpp"
#include "detection/track_counter.hpp"

namespace sightline::api {
namespace {

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
  mutable std::atomic<bool> is_busy{false};
};

using namespace sightline::api;

sl_status sl_counter_open(const char* zones_and_lines, sl_counter** counter, sl_error* error) {
  return guarded(error, [&] {
    checked(counter, "counter") = nullptr;
    const TomlOptions given(zones_and_lines);
    *counter = new sl_counter{sightline::TrackCounter(sightline::apps::count_rules(given))};
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
                      "pass the results of a tracker, or of a stream with track = true"};
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
    const OneAtATime alone(checked(counter, "counter").is_busy, "counter");
    *json = copy_text(totals_text(counter->counter));
  });
}

void sl_counter_free(sl_counter* counter) {
  if (!is_forked()) delete counter;
}
