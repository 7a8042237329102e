#pragma once
/// Statistics of a live run: rates, latencies, and the activity of each stage over time.

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "pipeline/session/trace.hpp"

namespace sightline::pipeline {

/// Durations counted by size, in steps of 2%: their percentiles, for any number of them, in constant memory.
/// Thread-safety: one thread at a time.
class DurationHistogram {
 public:
  /// Seconds; below 10 microseconds and above 1000 s the first and the last step take them.
  void add(double seconds);
  std::int64_t count() const { return count_; }
  /// Percentile `share` (0 to 1) in seconds, within 1%; 0 if there are none.
  double percentile(double share) const;
  double largest() const { return largest_; }

 private:
  static constexpr std::size_t kSteps = 932;  // 1.02 ^ 931 > 1e8
  std::array<std::int64_t, kSteps> counts_{};
  std::int64_t count_ = 0;
  double largest_ = 0;
};

/// Latency of frames from capture to screen or delivery, in seconds.
struct LatencySummary {
  std::int64_t frames = 0;
  double median = 0;
  double p95 = 0;
  double p99 = 0;
  double largest = 0;
  /// Median time in which a frame was worked on: decoding, stages, copies. Never above `median`.
  double own = 0;
  /// The rest of each frame's latency: waiting, sinks, drawing.
  double added_median = 0;
  double added_p95 = 0;
};

/// Latencies, for the whole run and for the time since the last look.
class LatencyRecord {
 public:
  void add(double total, double own);
  LatencySummary summary() const;
  void clear() { *this = {}; }

 private:
  DurationHistogram total_;
  DurationHistogram added_;
  DurationHistogram own_;
};

/// Events a second over the last two seconds.
class RateMeter {
 public:
  void tick(std::int64_t now);
  double rate(std::int64_t now) const;

 private:
  std::deque<std::int64_t> times_;
};

/// Recent activity of one stage, to show overlaps.
struct StageActivity {
  struct Interval {
    std::int64_t begin = 0;  ///< std::chrono::steady_clock, nanoseconds
    std::int64_t end = 0;
    std::int64_t frame = 0;
  };
  std::string name;
  std::size_t processor = 0;        ///< 0: the CPU
  std::vector<Interval> intervals;  ///< empty while it is idle
};

/// Collects the traces of a run and the display's times.
///
/// Latency is from the capture of a frame (Frame::times) to the screen, or to the delivery of its result
/// without a display. Thread-safety: any thread.
class LiveStatistics : public TraceSink {
 public:
  /// @param on_screen  whether `shown` will be called
  explicit LiveStatistics(bool on_screen) : on_screen_(on_screen) {}

  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  /// A frame appeared on the screen, at `now` (steady_clock, nanoseconds).
  /// @param searched  whether it was shown with its own boxes; else its result is not awaited
  void shown(std::int64_t frame, std::int64_t captured, std::int64_t now, bool searched);

  static constexpr std::int64_t kLongestWindow = 1'000'000'000;
  struct Snapshot {
    double detected_rate = 0;  ///< frames/s
    double shown_rate = 0;     ///< frames/s
    std::int64_t detected = 0;
    std::int64_t shown = 0;
    double latest = 0;      ///< latency of the last frame, seconds
    LatencySummary recent;  ///< last few seconds
    std::vector<StageActivity> stages;
  };
  /// @param window  reported time before `now` in nanoseconds, at most kLongestWindow
  Snapshot snapshot(std::int64_t now, std::int64_t window) const;

  /// Since the last call.
  LatencySummary take_interval();
  /// Since the beginning.
  LatencySummary whole() const;

 private:
  struct Waiting {
    std::optional<double> total;
    std::optional<double> own;
  };
  struct Recent {
    std::int64_t at = 0;
    double total = 0;
    double own = 0;
  };
  struct Work {
    Span span;
    std::int64_t frame = 0;
  };
  std::size_t rows_per_processor() const;
  std::size_t row_of(const Span& span) const;
  std::string name_of(std::size_t row) const;
  void join(std::int64_t frame, const Waiting& part, std::int64_t now);
  void record(double total, double own, std::int64_t now);

  const bool on_screen_;
  mutable std::mutex mutex_;
  TraceInfo info_;
  std::map<std::int64_t, Waiting> waiting_;  ///< by frame: shown but not delivered, or vice versa
  std::deque<Recent> recent_;
  std::deque<Work> work_;
  std::vector<bool> seen_;  ///< by processor and row: true after any activity, so that the row stays
  RateMeter detected_rate_;
  RateMeter shown_rate_;
  std::int64_t detected_ = 0;
  std::int64_t shown_ = 0;
  double latest_ = 0;
  double own_ = 0;  ///< working seconds of the tiles so far of a frame; those at the same time count each
  LatencyRecord interval_;
  LatencyRecord whole_;
};

/// Seconds in which a frame was being worked on: decoding, stages and copies, those at the same time once.
double working_seconds(std::span<const Span> spans);

}  // namespace sightline::pipeline
