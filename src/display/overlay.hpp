#pragma once
/// Overlay of the window. Plain data, filled by the user of the window.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frame/frame.hpp"
#include "frame/frame_result.hpp"

namespace sightline::display {

/// Display time of a message about a finished action.
inline constexpr std::chrono::seconds kMessageTime{4};

/// Extent of the head-up display.
enum class HudMode { off, compact, full };

/// The next in the order compact, full, off.
constexpr HudMode next(HudMode mode) {
  return mode == HudMode::compact ? HudMode::full : mode == HudMode::full ? HudMode::off : HudMode::compact;
}

/// Frames per second; unknown rates are empty.
struct Rates {
  std::optional<double> in;  ///< the source's
  std::optional<double> detected;
  std::optional<double> shown;
};

/// Milliseconds from capture to screen.
struct Latency {
  std::optional<double> now;  ///< latency of the shown frame
  std::optional<double> p50;  ///< median of the recent past
  std::optional<double> p95;
  std::optional<double> stages;  ///< the part that the stages themselves take
};

/// Frames that were not detected, for one reason.
struct DropCount {
  std::string cause;
  std::int64_t count = 0;
};

/// A stretch of time in which a stage worked on a frame.
struct Interval {
  std::int64_t begin = 0;  ///< nanoseconds from the start of Overlay::lane_window
  std::int64_t end = 0;
  std::int64_t frame = 0;  ///< its number, which chooses the colour
};

/// A stage's work over the last while.
struct Lane {
  std::string name;
  int processor = 0;                ///< index into Overlay::processors; lanes are grouped by it
  std::vector<Interval> intervals;  ///< may reach past the window of time, and overlap
};

struct Recording {
  std::string file;
  double seconds = 0;  ///< its length so far
};

/// Severity of Overlay::state.
enum class StateKind { good, waiting, bad };

struct Overlay {
  /// In pixels of the frame that is presented.
  std::vector<Detection> objects;
  std::vector<std::string> labels;
  bool show_boxes = true;
  bool stale = false;  ///< the boxes are an earlier frame's: drawn dimmer and dashed

  HudMode hud = HudMode::full;
  bool help = false;  ///< the panel with all keys
  bool paused = false;

  std::string source;                     ///< its name
  std::string state;                      ///< "stalled for 2.3 s"; empty while all is well
  StateKind state_kind = StateKind::bad;  ///< colour of `state`
  std::string message;                    ///< shown as long as it is set: "saved picture-0001.png"
  std::optional<Recording> recording;

  Rates rates;
  Latency latency;
  std::vector<DropCount> drops;
  std::string schedule;     ///< name of the schedule
  std::string mapping;      ///< processor of each stage
  std::string drop_policy;  ///< newest, oldest, none
  std::string setting;      ///< current operating point; empty if there is only one
  std::string setting_by;   ///< origin of the choice: "by hand", "hold 30 frames/s"

  std::vector<Lane> lanes;
  std::vector<std::string> processors;     ///< names: "CPU", "device"
  std::int64_t lane_window = 500'000'000;  ///< nanoseconds that the bars span
};

/// A source in the window.
struct Tile {
  Frame frame;  ///< empty: a dark picture
  Overlay overlay;
};

}  // namespace sightline::display
