#pragma once
/// Live inputs that do as a script says, and what their frames are compared by.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "pipeline/session/live_source.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline::test {

using Time = CaptureClock::time_point;

inline double seconds_since(Time start) {
  return std::chrono::duration<double>(CaptureClock::now() - start).count();
}

inline std::int64_t now_ns() {
  return CaptureClock::now().time_since_epoch().count();
}

/// Frame n of an opening, at (n - 1) / rate.
inline Frame frame_of(int n, double rate) {
  static const std::vector<Frame> all = numbered_frames();
  return all[static_cast<std::size_t>((n - 1) % kValues)].renumbered(n).retimed((n - 1) / rate);
}

/// State that a script may examine.
struct Moment {
  int opening = 1;  ///< opening, from 1
  int frame = 1;    ///< frame of this opening, from 1
  const std::atomic<bool>& stop;

  /// Delivers nothing for `patience` seconds, then throws an error; or is stopped.
  [[noreturn]] void silence(double patience) const {
    for (const Time start = CaptureClock::now(); !stop && seconds_since(start) < patience;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw Error(ExitCode::input, stop ? "stopped" : "no data");
  }
};

using Script = std::function<std::optional<Frame>(const Moment&)>;

class ScriptedInput : public LiveInput {
 public:
  ScriptedInput(Script script, int opening, const std::atomic<bool>& stop, StreamInfo info)
      : script_(std::move(script)), opening_(opening), stop_(stop), info_(std::move(info)) {}
  std::optional<Frame> read() override {
    if (stop_) return std::nullopt;
    return script_({opening_, ++frame_, stop_});
  }
  StreamInfo info() const override { return info_; }
  std::int64_t decode_errors() const override { return frame_; }  // one for each read

 private:
  Script script_;
  int opening_;
  int frame_ = 0;
  const std::atomic<bool>& stop_;
  StreamInfo info_;
};

/// Counts the openings; `refuse` may throw in place of one.
struct Scripted {
  Script script;
  std::function<void(int opening, const std::atomic<bool>& stop)> refuse = {};
  StreamInfo info = {};
  std::shared_ptr<std::atomic<int>> openings = std::make_shared<std::atomic<int>>(0);

  LiveOpener opener() const {
    return [*this](const std::atomic<bool>& stop) {
      const int opening = ++*openings;
      if (refuse) refuse(opening, stop);
      return std::make_unique<ScriptedInput>(script, opening, stop, info);
    };
  }
};

inline LiveOptions camera() {
  LiveOptions options;
  options.name = "cam";
  options.first_pause = 0.01;
  options.longest_pause = 0.05;
  return options;
}

inline LiveOptions file() {
  LiveOptions options = camera();
  options.live = false;
  options.drop = DropPolicy::none;
  return options;
}

/// Frames at a steady rate, `count` of them in each opening.
inline Script steady(double rate, int count) {
  return [=, due = Time{}](const Moment& at) mutable -> std::optional<Frame> {
    if (at.frame == 1) due = CaptureClock::now();
    std::this_thread::sleep_until(due);
    due += std::chrono::nanoseconds(std::llround(1e9 / rate));
    if (at.frame > count) return std::nullopt;
    return frame_of(at.frame, rate);
  };
}

/// At once, as from a file.
inline Script instant(double rate, int count) {
  return [=](const Moment& at) -> std::optional<Frame> {
    if (at.frame > count) return std::nullopt;
    return frame_of(at.frame, rate);
  };
}

inline std::vector<Frame> read_all(LiveSource& source) {
  std::vector<Frame> frames;
  while (std::optional<Frame> frame = source.read()) frames.push_back(std::move(*frame));
  return frames;
}

inline void expect_rising(const std::vector<Frame>& frames) {
  for (std::size_t i = 1; i < frames.size(); ++i) {
    EXPECT_GT(frames[i].number(), frames[i - 1].number());
    EXPECT_GT(frames[i].time(), frames[i - 1].time());
    EXPECT_GE(frames[i].times().captured, frames[i - 1].times().captured);
  }
}

/// For any thread, also while frames come: two calls then see two moments.
inline void expect_all_accounted_for(const LiveSource& source) {
  const CaptureCounts counts = source.counts();
  const std::int64_t dropped = source.dropped();
  EXPECT_EQ(counts.captured, counts.taken + counts.left_out + counts.dropped_in_all() + counts.waiting);
  EXPECT_GE(dropped, counts.dropped_in_all());
  EXPECT_LE(dropped, source.counts().dropped_in_all());
}

/// Whether something comes true in time.
inline bool soon(const std::function<bool()>& what, double limit = 2) {
  const Time start = CaptureClock::now();
  while (!what()) {
    if (seconds_since(start) > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Seconds from release to release.
inline std::vector<double> gaps(const std::vector<Frame>& frames) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < frames.size(); ++i)
    gaps.push_back(1e-9 * static_cast<double>(frames[i].times().captured - frames[i - 1].times().captured));
  return gaps;
}

/// From the first release to the last.
inline double seconds_released(const std::vector<Frame>& frames) {
  return 1e-9 * static_cast<double>(frames.back().times().captured - frames.front().times().captured);
}

}  // namespace sightline::pipeline::test
