#pragma once
/// What a window shows over the picture. Plain data, filled by whoever runs the detection.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "processing/frame_result.hpp"

namespace sightline::display {

/// For how long a message is shown that says what has been done.
inline constexpr std::chrono::seconds kMessageTime{4};

/// How much of the head-up display is shown.
enum class HudMode { off, compact, full };

/// The next in the order compact, full, off.
constexpr HudMode next(HudMode mode) {
  return mode == HudMode::compact ? HudMode::full : mode == HudMode::full ? HudMode::off : HudMode::compact;
}

/// Frames a second. What is not known is left out.
struct Rates {
  std::optional<double> in;  ///< the source's
  std::optional<double> detected;
  std::optional<double> shown;
};

/// Milliseconds from capture to screen.
struct Latency {
  std::optional<double> now;  ///< of the frame shown
  std::optional<double> p50;  ///< of the last while
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

/// How important Overlay::state is.
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
  std::string mapping;      ///< which stages run where
  std::string drop_policy;  ///< newest, oldest, none
  std::string setting;      ///< of several, the one that searches now; empty where there is one
  std::string setting_by;   ///< who chose it: "by hand", "hold 30 frames/s"

  std::vector<Lane> lanes;
  std::vector<std::string> processors;     ///< names: "CPU", "device"
  std::int64_t lane_window = 500'000'000;  ///< nanoseconds that the bars span
};

}  // namespace sightline::display
