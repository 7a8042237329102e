#pragma once
/// State of a capture: whether frames arrive, the cause if they do not, and the time of the next attempt.

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "frame/stream_info.hpp"
#include "pipeline/session/frame_queue.hpp"

namespace sightline::pipeline {

enum class CaptureState {
  opening,    ///< first opening; no frame yet
  streaming,  ///< frames come
  stalled,    ///< open, but no frame has come for too long
  reopening,  ///< lost; it is opened again, or that is waited for
  failed,     ///< given up
  ended,      ///< the input was over, or the capture was stopped
};
std::string_view to_string(CaptureState state);

struct CaptureStatus {
  CaptureState state = CaptureState::opening;
  std::string reason;       ///< cause of stalling, reopening or failure; else empty
  double since_frame = 0;   ///< seconds since the last frame, or since the start where there was none
  double next_attempt = 0;  ///< reopening: seconds until then; 0: going on
  int reopened = 0;         ///< number of recoveries after a loss
  double frame_rate = 0;    ///< measured capture rate, frames/s
  bool paused = false;      ///< set by LiveSource
  StreamInfo info;          ///< info of the current or last opening; see `opened`
  bool opened = false;      ///< it was open at least once
};

/// Seconds to wait before the `attempt`th attempt (from 0) to open an input again: `first`, then twice as
/// much each time, `longest` at most.
double reopen_pause(int attempt, double first, double longest);

/// Keeps the state of a capture. The capture tells what happens; `status` works out from the time whether it
/// stalls, so that this shows although the capture itself hangs. Times are arguments, no clock is read.
/// Thread-safe.
class CaptureWatch {
 public:
  using Time = CaptureClock::time_point;

  /// @param stall_after  seconds without a frame that are a stall; three periods of a slow source are none
  CaptureWatch(double stall_after, Time start) : stall_after_(stall_after), last_frame_(start) {}

  void attempts();  ///< number of attempts to open the input
  void opened(const StreamInfo& info);
  void reads(Time at);  ///< a read begins: only in it a stall is one
  void frame(Time at);
  void lost(const std::string& reason, Time next_attempt);
  void failed(const std::string& reason);
  void ended();

  CaptureStatus status(Time now) const;
  /// Time of the last frame, or of the start where there was none.
  Time last_frame() const;
  /// Frame interval in seconds: measured, else the input's, else 1/25.
  double period() const;

 private:
  double period_locked() const;
  double rate_locked(Time now) const;

  mutable std::mutex mutex_;
  const double stall_after_;
  CaptureState state_ = CaptureState::opening;
  std::string reason_;
  Time last_frame_;
  std::optional<Time> reading_;  ///< since when
  Time next_attempt_{};
  bool reopening_ = false;  ///< no frame since the last loss
  int reopened_ = 0;
  std::optional<StreamInfo> info_;
  std::deque<Time> arrivals_;  ///< arrivals of the current opening's last frames
};

}  // namespace sightline::pipeline
