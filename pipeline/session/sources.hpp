#pragma once
/// Sources of frames in memory, and of frames that were read ahead.

#include <deque>
#include <exception>
#include <utility>
#include <vector>

#include "frame/frame_source.hpp"

namespace sightline::pipeline {

/// Frames held in memory, repeated: decoding costs nothing, and when they were captured means nothing any
/// more.
class MemorySource : public FrameSource {
 public:
  /// @param count  frames to deliver, numbered from 1
  MemorySource(std::vector<Frame> frames, std::int64_t count) : frames_(std::move(frames)), count_(count) {}
  Reading reading() const override { return Reading::computes; }
  std::optional<Frame> read() override {
    if (next_ >= count_) return std::nullopt;
    const auto index = static_cast<std::size_t>(next_++) % frames_.size();
    return frames_[index].renumbered(next_).stamped({});
  }
  std::optional<std::int64_t> frames() const override { return count_; }
  /// From the first frame again.
  void rewind() { next_ = 0; }

 private:
  std::vector<Frame> frames_;
  std::int64_t count_;
  std::int64_t next_ = 0;
};

/// A source whose first frames were read before the run; it still delivers them. `source` must outlive it.
class PeekedSource : public FrameSource {
 public:
  /// Reads up to `count` frames ahead.
  PeekedSource(FrameSource& source, int count) : source_(source) {
    try {
      while (static_cast<int>(ahead_.size()) < count) {
        std::optional<Frame> frame = source_.read();
        if (!frame) break;
        ahead_.push_back(std::move(*frame));
      }
    } catch (...) {
      failure_ = std::current_exception();  // thrown after the good frames before it
    }
  }
  /// The frames read ahead that have pixels, and the size of the first of these.
  std::vector<Frame> peeked() const {
    std::vector<Frame> frames;
    for (const Frame& frame : ahead_) {
      if (!frame.empty() && (frames.empty() || frame.size() == frames.front().size()))
        frames.push_back(frame);
    }
    return frames;
  }
  std::optional<Frame> read() override {
    if (ahead_.empty() && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (ahead_.empty()) return source_.read();
    std::optional<Frame> frame = std::move(ahead_.front());
    ahead_.pop_front();
    return frame;
  }
  std::int64_t decode_errors() const override { return source_.decode_errors(); }
  std::int64_t dropped() const override { return source_.dropped(); }
  std::optional<std::int64_t> frames() const override { return source_.frames(); }

 private:
  FrameSource& source_;
  std::deque<Frame> ahead_;
  std::exception_ptr failure_;  ///< exception that ended reading ahead
};

}  // namespace sightline::pipeline
