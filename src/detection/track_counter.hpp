#pragma once
/// Counts tracked objects that cross lines, or enter and leave zones. The same tracks give the same counts on
/// every machine, so that counts can be checked afterwards.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "frame/frame_result.hpp"
#include "image/point.hpp"

namespace sightline {

/// Point of a box that stands for the object.
enum class CountAnchor {
  bottom,  ///< middle of the lower edge: where somebody stands
  center,
};

/// Directed line segment. Points are shares of the upright frame, 0 to 1.
struct CountLine {
  std::string name;
  Point from;
  Point to;
  int frames = 2;  ///< consecutive frames on a side until an object is settled there
  CountAnchor anchor = CountAnchor::bottom;
  std::vector<std::string> labels = {};  ///< labels that count; empty: all
};

/// Polygon of at least three points, in shares of the frame. Inside by the even-odd rule; edges are inside.
struct CountZone {
  std::string name;
  std::vector<Point> polygon;
  int inertia = 3;   ///< consecutive frames inside or outside until an object has entered or left
  double dwell = 0;  ///< seconds from the entry to CountEvent::dwell; 0: no such event
  CountAnchor anchor = CountAnchor::bottom;
  std::vector<std::string> labels = {};
};

struct CountRules {
  std::vector<CountLine> lines;
  std::vector<CountZone> zones;
  /// Seconds without an object after which its track has ended: it has left its zones. Longer than the
  /// tracker keeps a lost track.
  double lost = 5;
};

struct CountEvent {
  enum class Kind { in, out, entered, left, dwell };
  Kind kind = Kind::in;
  std::size_t rule = 0;  ///< index of the line (in, out) or of the zone
  std::int64_t track = 0;
  int label = 0;
  double time = 0;  ///< seconds, of the frame that settled it
  friend bool operator==(const CountEvent&, const CountEvent&) = default;
};

/// "in", "out", "entered", "left" or "dwell".
const char* to_string(CountEvent::Kind kind);
/// Whether it is an event of a line; otherwise of a zone.
bool is_of_line(const CountEvent& event);
/// Name of the event's line or zone.
const std::string& name_of(const CountEvent& event, const CountRules& rules);

/// Totals of a line or a zone.
struct CountTotals {
  std::int64_t in = 0;   ///< crossings from the left of somebody who walks from `from` to `to` to the right
  std::int64_t out = 0;  ///< the other way
  std::int64_t entered = 0;
  std::int64_t left = 0;
  std::int64_t inside = 0;  ///< entered and not left
  friend bool operator==(const CountTotals&, const CountTotals&) = default;
};

/// Counts the objects of one stream.
///
/// **Line.** The side of an anchor is the sign of (to - from) x (anchor - from), in pixels, where y points
/// down: negative is to the left of somebody who walks from `from` to `to`. A track is settled on a side
/// after `frames` consecutive frames there; an anchor on the (infinite) line changes nothing. It crosses when
/// it settles on the other side and the path from its last anchor on the old side to the first one of the new
/// meets the segment, ends included. `in` is from negative to positive. Its first settled side is no
/// crossing.
///
/// **Zone.** A track has entered after `inertia` consecutive frames inside, and left after as many outside,
/// or when it has ended.
///
/// Only frames that were searched count; pass no others. Thread-safety: one thread at a time.
class TrackCounter {
 public:
  /// Throws Error (usage) for lines without length, polygons of fewer than three points, numbers that are not
  /// finite, and names that are empty or used twice.
  explicit TrackCounter(CountRules rules);

  /// Adds a frame. Returns what happened, valid until the next call: by rising rule, lines first, and by
  /// track.
  /// @param time     seconds, rising
  /// @param objects  those without a track are ignored
  /// @param labels   names of Detection::label
  const std::vector<CountEvent>& update(double time, Size frame, std::span<const Detection> objects,
                                        const std::vector<std::string>& labels);

  const CountRules& rules() const { return rules_; }
  /// By line and by zone.
  std::span<const CountTotals> line_totals() const { return line_totals_; }
  std::span<const CountTotals> zone_totals() const { return zone_totals_; }

 private:
  /// Where a track is, seen from a line.
  struct LineState {
    int settled = 0;           ///< side; 0: none yet
    int pending = 0;           ///< other side, or the first one, that it was last seen on; 0: none
    int frames = 0;            ///< consecutive frames on the pending side
    bool has_met = false;      ///< the path since the last anchor on the settled side met the segment
    bool pending_met = false;  ///< up to the first anchor on the pending side
    Point last;                ///< end of that path
  };
  struct ZoneState {
    bool is_inside = false;  ///< has entered
    int frames = 0;          ///< consecutive frames on the other side of the edge
    double since = 0;        ///< time of the entry
    bool has_dwelt = false;
  };
  struct Track {
    double seen = 0;
    int label = 0;
    std::vector<LineState> lines;
    std::vector<ZoneState> zones;
  };

  void follow_line(std::size_t index, LineState& state, Point anchor, Size frame, const CountEvent& event);
  void follow_zone(std::size_t index, ZoneState& state, Point anchor, Size frame, CountEvent event);
  void leave_zone(std::size_t index, CountEvent event);
  void end_lost_tracks(double time);

  CountRules rules_;
  std::vector<CountTotals> line_totals_, zone_totals_;
  std::map<std::int64_t, Track> tracks_;
  std::vector<CountEvent> events_;
};

}  // namespace sightline
