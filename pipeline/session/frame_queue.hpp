#pragma once
/// Queue between a capture that never waits and the detector.

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

#include "frame/frame.hpp"

namespace sightline::pipeline {

using CaptureClock = std::chrono::steady_clock;

/// Frame that is dropped when the queue is full.
enum class DropPolicy {
  oldest,  ///< the frame that waits longest: the detector gets the latest, latency is bounded
  newest,  ///< the frame that comes
  none,    ///< nothing: capture waits, which a file can do and a camera cannot
};
std::string_view to_string(DropPolicy policy);
/// Throws Error (usage) that names the choices.
DropPolicy parse_drop_policy(std::string_view text);

/// Why a captured frame never reached the detector.
enum class DropCause {
  busy,    ///< the queue was full: the detector had not taken the frames before
  paused,  ///< captured while paused
  ended,   ///< still waiting when the capture was stopped
};
inline constexpr std::array kDropCauses{DropCause::busy, DropCause::paused, DropCause::ended};
/// The one word for it in windows, logs and summaries.
std::string_view to_string(DropCause cause);

/// Accounts of the captured frames. In every snapshot
/// captured == taken + left_out + dropped_in_all() + waiting.
struct CaptureCounts {
  std::int64_t captured = 0;
  std::int64_t taken = 0;                                     ///< taken by the detector
  std::int64_t left_out = 0;                                  ///< left out by `every`
  std::array<std::int64_t, kDropCauses.size()> dropped_by{};  ///< by DropCause
  std::int64_t waiting = 0;                                   ///< neither taken nor dropped yet
  std::int64_t damaged = 0;  ///< decode errors; apart, for what could not be decoded was not captured

  std::int64_t dropped(DropCause cause) const { return dropped_by[static_cast<std::size_t>(cause)]; }
  std::int64_t dropped_in_all() const;
};

struct FrameQueueOptions {
  DropPolicy drop = DropPolicy::oldest;
  int capacity = 1;  ///< frames that wait
  int every = 1;     ///< offer the 1st, (1 + every)th, ... frame only
  /// Mode of a pause. False: all frames but the newest, which `step` takes, are dropped. True: the source is
  /// held, and nothing is lost.
  bool hold = false;
  const std::atomic<bool>* stop = nullptr;  ///< closes the queue within 50 ms of being set; may be null
};

/// A bounded queue of frames that accounts for each. One thread puts, one takes; the rest is for any thread.
/// No lock is held while a picture is freed, but by `close`.
class FrameQueue {
 public:
  explicit FrameQueue(const FrameQueueOptions& options) : options_(options) {}

  /// Waits where the policy is `none` and the queue is full, and where a pause holds the source.
  /// @return how long it waited
  CaptureClock::duration put(Frame frame);
  /// Waits until a frame that was due at `due` may leave the source: for the time itself, and where a pause
  /// holds the source, for its end; the time goes on from there. A step lets a frame through at once.
  /// @return when it was due in the end; none if the queue is closed
  std::optional<CaptureClock::time_point> wait_until_due(CaptureClock::time_point due);
  /// Waits. False at once where the queue is closed.
  bool sleep_until(CaptureClock::time_point time);
  /// Ends the input. Waiting frames are still handed out, then `take` throws `error`, if there is one.
  void finish(std::exception_ptr error = nullptr);

  /// The next frame; waits for it. None at the end and where the queue is closed.
  std::optional<Frame> take();
  /// As `take`, but returns false where that would wait.
  bool try_take(std::optional<Frame>& frame);
  /// Sets what is called, with the queue's mutex held, once `try_take` is worth another call; may be null.
  void on_change(std::function<void()> call);

  /// Ends all waits. The frames that wait are dropped, and so are those that come.
  void close();
  bool closed() const;
  void set_drop(DropPolicy policy);
  DropPolicy drop() const;
  void pause(bool paused);
  bool paused() const;
  /// Lets one frame through the pause: the newest (where a pause holds the source: the next). Pauses first
  /// where that is not so.
  void step();
  CaptureCounts counts() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  bool full() const { return frames_.size() >= static_cast<std::size_t>(options_.capacity); }
  bool put_must_wait() const;
  bool take_locked(std::optional<Frame>& frame);
  void announce();
  void wait(Lock& lock, std::optional<CaptureClock::time_point> until = std::nullopt);
  void look_for_stop();
  void close_locked();
  void pause_locked(bool paused, std::deque<Frame>& gone);
  void drop_all_but(std::size_t keep, DropCause cause, std::deque<Frame>& gone);
  void count(DropCause cause) { ++counts_.dropped_by[static_cast<std::size_t>(cause)]; }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> on_change_;
  FrameQueueOptions options_;
  std::deque<Frame> frames_;
  CaptureCounts counts_;
  bool in_hand_ = false;  ///< `put` waits with a frame
  bool paused_ = false;
  int steps_ = 0;  ///< frames that may still pass the pause
  bool finished_ = false;
  bool closed_ = false;
  std::exception_ptr error_;
};

}  // namespace sightline::pipeline
