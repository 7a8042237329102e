#include "detection/track_counter.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace sightline {
namespace {

Point in_pixels(Point share, Size frame) {
  return {share.x * frame.width, share.y * frame.height};
}

// Twice the area of the triangle a, b, c; positive if c is to the right of somebody who walks from a to b.
double turn(Point a, Point b, Point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

int side_of(Point a, Point b, Point c) {
  const double area = turn(a, b, c);
  return area > 0 ? 1 : area < 0 ? -1 : 0;
}

// Whether c, which is on the line through a and b, is between them.
bool is_between(Point a, Point b, Point c) {
  return std::min(a.x, b.x) <= c.x && c.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= c.y &&
         c.y <= std::max(a.y, b.y);
}

bool segments_meet(Point a, Point b, Point c, Point d) {
  const int c_side = side_of(a, b, c), d_side = side_of(a, b, d);
  const int a_side = side_of(c, d, a), b_side = side_of(c, d, b);
  if (c_side * d_side < 0 && a_side * b_side < 0) return true;
  return (c_side == 0 && is_between(a, b, c)) || (d_side == 0 && is_between(a, b, d)) ||
         (a_side == 0 && is_between(c, d, a)) || (b_side == 0 && is_between(c, d, b));
}

bool is_inside(const std::vector<Point>& polygon, Point point, Size frame) {
  bool inside = false;
  Point before = in_pixels(polygon.back(), frame);
  for (const Point share : polygon) {
    const Point corner = in_pixels(share, frame);
    const int side = side_of(before, corner, point);
    if (side == 0 && is_between(before, corner, point)) return true;  // on the edge
    const bool goes_down = before.y <= point.y && point.y < corner.y;
    const bool goes_up = corner.y <= point.y && point.y < before.y;
    // Edges that a ray to the right of the point meets.
    if ((goes_down && side > 0) || (goes_up && side < 0)) inside = !inside;
    before = corner;
  }
  return inside;
}

Point anchor_of(const Box& box, CountAnchor anchor) {
  const double y = anchor == CountAnchor::bottom ? box.y + box.height : box.y + box.height / 2;
  return {box.x + box.width / 2, y};
}

bool counts(const std::vector<std::string>& wanted, const std::string& label) {
  return wanted.empty() || std::ranges::find(wanted, label) != wanted.end();
}

bool is_finite(Point point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

void check_name(std::set<std::string>& names, const std::string& name) {
  if (name.empty()) throw Error(ExitCode::usage, "a line or a zone has no name", "give each a name");
  if (!names.insert(name).second)
    throw Error(ExitCode::usage, "two lines or zones are named '" + name + "'",
                "give each a name of its own");
}

CountRules checked_rules(CountRules rules) {
  std::set<std::string> names;
  for (const CountLine& line : rules.lines) {
    check_name(names, line.name);
    if (!is_finite(line.from) || !is_finite(line.to) || line.from == line.to)
      throw Error(ExitCode::usage, "line '" + line.name + "' has no length",
                  "give two different points, as shares of the frame's width and height");
    if (line.frames < 1)
      throw Error(ExitCode::usage, "line '" + line.name + "' needs 'frames' of at least 1");
  }
  for (const CountZone& zone : rules.zones) {
    check_name(names, zone.name);
    if (zone.polygon.size() < 3 || !std::ranges::all_of(zone.polygon, is_finite))
      throw Error(ExitCode::usage, "zone '" + zone.name + "' has fewer than three points",
                  "give the corners of a polygon, as shares of the frame's width and height");
    if (zone.inertia < 1 || !(zone.dwell >= 0))
      throw Error(ExitCode::usage,
                  "zone '" + zone.name + "' needs 'inertia' of at least 1, and no 'dwell' below 0");
  }
  if (!(rules.lost > 0)) throw Error(ExitCode::usage, "'lost' must be above 0 s");
  return rules;
}

}  // namespace

const char* to_string(CountEvent::Kind kind) {
  switch (kind) {
    case CountEvent::Kind::in:
      return "in";
    case CountEvent::Kind::out:
      return "out";
    case CountEvent::Kind::entered:
      return "entered";
    case CountEvent::Kind::left:
      return "left";
    case CountEvent::Kind::dwell:
      break;
  }
  return "dwell";
}

bool is_of_line(const CountEvent& event) {
  return event.kind == CountEvent::Kind::in || event.kind == CountEvent::Kind::out;
}

const std::string& name_of(const CountEvent& event, const CountRules& rules) {
  return is_of_line(event) ? rules.lines[event.rule].name : rules.zones[event.rule].name;
}

TrackCounter::TrackCounter(CountRules rules)
    : rules_(checked_rules(std::move(rules))),
      line_totals_(rules_.lines.size()),
      zone_totals_(rules_.zones.size()) {}

const std::vector<CountEvent>& TrackCounter::update(double time, Size frame,
                                                    std::span<const Detection> objects,
                                                    const std::vector<std::string>& labels) {
  events_.clear();
  end_lost_tracks(time);
  const std::string unnamed;
  for (const Detection& object : objects) {
    if (object.track <= 0) continue;
    const auto index = static_cast<std::size_t>(object.label);
    const std::string& label = index < labels.size() ? labels[index] : unnamed;
    const auto [place, is_new] = tracks_.try_emplace(object.track);
    Track& track = place->second;
    if (is_new) {
      track.lines.resize(rules_.lines.size());
      track.zones.resize(rules_.zones.size());
    }
    track.seen = time;
    track.label = object.label;
    const CountEvent event{{}, 0, object.track, object.label, time};
    for (std::size_t i = 0; i < rules_.lines.size(); ++i) {
      const CountLine& line = rules_.lines[i];
      if (counts(line.labels, label))
        follow_line(i, track.lines[i], anchor_of(object.box, line.anchor), frame, event);
    }
    for (std::size_t i = 0; i < rules_.zones.size(); ++i) {
      const CountZone& zone = rules_.zones[i];
      if (counts(zone.labels, label))
        follow_zone(i, track.zones[i], anchor_of(object.box, zone.anchor), frame, event);
    }
  }
  std::ranges::stable_sort(events_, [](const CountEvent& a, const CountEvent& b) {
    if (is_of_line(a) != is_of_line(b)) return is_of_line(a);
    return a.rule != b.rule ? a.rule < b.rule : a.track < b.track;
  });
  return events_;
}

void TrackCounter::follow_line(std::size_t index, LineState& state, Point anchor, Size frame,
                               const CountEvent& event) {
  const CountLine& line = rules_.lines[index];
  const Point from = in_pixels(line.from, frame), to = in_pixels(line.to, frame);
  const int side = side_of(from, to, anchor);
  const auto move = [&] {  // along the path that decides whether a change of sides is a crossing
    state.has_met = state.has_met || segments_meet(from, to, state.last, anchor);
    state.last = anchor;
  };
  if (side == 0) {
    if (state.settled != 0 && state.pending == 0) move();
    return;
  }
  if (side == state.settled) {
    state.pending = 0;
    state.has_met = false;
    state.last = anchor;
    return;
  }
  if (state.pending != side) {
    if (state.settled != 0) {
      move();
      state.pending_met = state.has_met;
    }
    state.pending = side;
    state.frames = 0;
  }
  if (++state.frames < line.frames) return;
  const bool has_crossed = state.settled != 0 && state.pending_met;
  state = {side, 0, 0, false, false, anchor};
  if (!has_crossed) return;
  CountEvent crossing = event;
  crossing.rule = index;
  crossing.kind = side > 0 ? CountEvent::Kind::in : CountEvent::Kind::out;
  ++(side > 0 ? line_totals_[index].in : line_totals_[index].out);
  events_.push_back(crossing);
}

void TrackCounter::follow_zone(std::size_t index, ZoneState& state, Point anchor, Size frame,
                               CountEvent event) {
  const CountZone& zone = rules_.zones[index];
  event.rule = index;
  state.frames = is_inside(zone.polygon, anchor, frame) == state.is_inside ? 0 : state.frames + 1;
  if (state.frames >= zone.inertia) {
    if (state.is_inside) {
      state = {};
      leave_zone(index, event);
      return;
    }
    state = {true, 0, event.time, false};
    ++zone_totals_[index].entered;
    ++zone_totals_[index].inside;
    event.kind = CountEvent::Kind::entered;
    events_.push_back(event);
  }
  if (!state.is_inside || state.has_dwelt || zone.dwell <= 0 || event.time - state.since < zone.dwell) return;
  state.has_dwelt = true;
  event.kind = CountEvent::Kind::dwell;
  events_.push_back(event);
}

void TrackCounter::leave_zone(std::size_t index, CountEvent event) {
  ++zone_totals_[index].left;
  --zone_totals_[index].inside;
  event.rule = index;
  event.kind = CountEvent::Kind::left;
  events_.push_back(event);
}

void TrackCounter::end_lost_tracks(double time) {
  for (auto place = tracks_.begin(); place != tracks_.end();) {
    const auto& [id, track] = *place;
    if (time - track.seen <= rules_.lost) {
      ++place;
      continue;
    }
    for (std::size_t i = 0; i < track.zones.size(); ++i) {
      if (track.zones[i].is_inside) leave_zone(i, {{}, 0, id, track.label, time});
    }
    place = tracks_.erase(place);
  }
}

}  // namespace sightline
