#pragma once
/// Live source: a camera, a stream, or a file played at its own speed.

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "frame/frame_source.hpp"
#include "frame/stream_info.hpp"
#include "pipeline/session/capture_state.hpp"
#include "pipeline/session/frame_queue.hpp"

namespace sightline::pipeline {

/// One opening of an input. Used by the capture thread only.
class LiveInput {
 public:
  virtual ~LiveInput() = default;
  /// The next frame, or none at the end or when stopped. Throws Error if the input is lost. Numbers and
  /// times rise within the opening.
  virtual std::optional<Frame> read() = 0;
  virtual StreamInfo info() const = 0;
  virtual std::int64_t decode_errors() const { return 0; }
};

/// Opens an input; throws Error. `stop` ends opening and reading once it is set, and outlives what is opened.
using LiveOpener = std::function<std::unique_ptr<LiveInput>(const std::atomic<bool>& stop)>;

struct LiveOptions {
  std::string name;  ///< input's name for messages
  /// A camera or a stream: opened again when it is lost. False for a file: its end is the end, an error is
  /// one, and a pause holds it.
  bool live = true;
  /// Files only: playback speed relative to the file's own; 0: as fast as it decodes.
  double pace = 0;
  DropPolicy drop = DropPolicy::oldest;
  int queue = 1;           ///< frames that may wait for the detector
  int every = 1;           ///< the detector gets the 1st, (1 + every)th, ... frame only
  double stall_after = 1;  ///< seconds without a frame until the state is `stalled`
  /// Seconds without data until a live input counts as lost; the opener's to keep to.
  double reopen_after = 3;
  double first_pause =
      0.25;  ///< seconds before the first attempt to open again; doubles from attempt to attempt
  double longest_pause = 5;
  /// Seconds without any frame after which `read` throws; 0: at the first loss; none: never. If it is given,
  /// the first opening may fail, too, for so long.
  std::optional<double> give_up_after;
  /// Gets every captured frame, in order, on the capture thread, which waits for it: must be quick, must not
  /// throw. May be empty.
  std::function<void(const Frame&)> on_frame;
  const std::atomic<bool>* stop = nullptr;  ///< flag like `stop()`, for signal handlers; may be null
};

/// Captures on its own thread, which never waits for the detector (except with drop policy `none`), and hands
/// out the newest frames. A lost input is reopened after growing pauses. Frame numbers and times continue to
/// rise; the gap counts by the wall clock.
///
/// Frames have times: a live one's are its own, or else the moment at which it was read; a file's are the
/// moment at which it was released.
///
/// While paused, live frames are dropped; a file is held and its clock with it.
///
/// Errors: `start` and `read` throw Error (input; usage where the options or the input refuse what is asked).
/// Thread-safety: `read` and `start` one thread at a time; the rest any thread.
class LiveSource : public FrameSource {
 public:
  /// Throws Error (usage) for options out of range.
  LiveSource(LiveOpener opener, LiveOptions options);
  /// Stops, and waits for the capture thread.
  ~LiveSource() override;
  LiveSource(const LiveSource&) = delete;
  LiveSource& operator=(const LiveSource&) = delete;

  /// Begins to capture. Waits for the first opening and throws its Error, but where `give_up_after` allows
  /// for more attempts: then it returns at once. Returns early when stopped.
  void start();
  /// The next frame for the detector; waits for it. None at the end, or when stopped. Starts if need be.
  std::optional<Frame> read() override;
  Reading reading() const override { return Reading::announces; }
  bool try_read(std::optional<Frame>& frame) override;
  void on_announcement(std::function<void()> call) override { queue_.on_change(std::move(call)); }
  /// Ends everything at once. Waiting frames are dropped.
  void stop();

  void pause(bool paused) { queue_.pause(paused); }
  bool paused() const { return queue_.paused(); }
  /// Pauses, and lets one frame through: the newest at that moment, or the next to come; a file's next.
  void step() { queue_.step(); }
  void set_drop(DropPolicy policy) { queue_.set_drop(policy); }
  DropPolicy drop() const { return queue_.drop(); }

  CaptureStatus status() const;
  CaptureCounts counts() const;
  std::int64_t dropped() const override { return counts().dropped_in_all(); }
  std::int64_t decode_errors() const override { return damaged_; }
  /// A file's; known once it is open.
  std::optional<std::int64_t> frames() const override;

 private:
  std::future<void> begin();
  void capture();
  bool capture_once();
  std::unique_ptr<LiveInput> open(std::string& reason);
  std::optional<Frame> read(LiveInput& input, std::string& reason);
  void opened(const LiveInput& input);
  void release(Frame frame);
  bool hold_until_due(double time);
  Frame in_sequence(const Frame& frame, CaptureClock::time_point now);
  bool is_complete(const LiveInput& input) const;
  bool wait_to_reopen(const std::string& reason);
  bool may_retry(const std::exception& error) const;
  bool stopping() const;

  const LiveOpener opener_;
  const LiveOptions options_;
  FrameQueue queue_;
  CaptureWatch watch_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> damaged_{0};
  std::promise<void> first_opening_;

  // The capture thread's own.
  bool opened_before_ = false;  ///< `first_opening_` is kept
  int attempt_ = 0;             ///< attempts to reopen since the last frame
  bool first_of_opening_ = true;
  std::int64_t damaged_before_ = 0;  ///< damage in former openings
  std::int64_t number_ = 0;          ///< number of the last frame
  std::int64_t number_shift_ = 0;
  double time_ = 0;        ///< time of the last frame
  double input_time_ = 0;  ///< the input's time of the last frame
  double time_shift_ = 0;
  CaptureClock::time_point released_{};                 ///< when the last frame was
  std::optional<CaptureClock::time_point> play_start_;  ///< when the file's time 0 was
  std::thread thread_;                                  ///< last: it uses the others
};

}  // namespace sightline::pipeline
