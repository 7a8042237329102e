#pragma once
/// The sources that the program uses.

#include <deque>
#include <exception>
#include <utility>
#include <vector>

#include "media/frame_source.hpp"
#include "media/reader.hpp"

namespace sightline::pipeline {

/// Reads a file, a stream or a folder. The reader must outlive it.
class ReaderSource : public media::FrameSource {
 public:
  explicit ReaderSource(media::Reader& reader) : reader_(reader) {}
  std::optional<media::Frame> read() override { return reader_.read(); }
  std::int64_t decode_errors() const override { return reader_.decode_errors(); }
  std::optional<std::int64_t> frames() const override { return reader_.info().frames; }

 private:
  media::Reader& reader_;
};

/// Frames held in memory, repeated: decoding costs nothing, and when they were captured means nothing any
/// more.
class MemorySource : public media::FrameSource {
 public:
  /// @param count  frames to deliver, numbered from 1
  MemorySource(std::vector<media::Frame> frames, std::int64_t count)
      : frames_(std::move(frames)), count_(count) {}
  std::optional<media::Frame> read() override {
    if (next_ >= count_) return std::nullopt;
    const auto index = static_cast<std::size_t>(next_++) % frames_.size();
    return frames_[index].renumbered(next_).stamped({});
  }
  std::optional<std::int64_t> frames() const override { return count_; }
  /// From the first frame again.
  void rewind() { next_ = 0; }

 private:
  std::vector<media::Frame> frames_;
  std::int64_t count_;
  std::int64_t next_ = 0;
};

/// A source whose first frames were read before the run; it still delivers them. `source` must outlive it.
class PeekedSource : public media::FrameSource {
 public:
  /// Reads up to `count` frames ahead.
  PeekedSource(media::FrameSource& source, int count) : source_(source) {
    try {
      while (static_cast<int>(ahead_.size()) < count) {
        std::optional<media::Frame> frame = source_.read();
        if (!frame) break;
        ahead_.push_back(std::move(*frame));
      }
    } catch (...) {
      failure_ = std::current_exception();  // thrown after the good frames before it
    }
  }
  /// The frames read ahead that have pixels, and the size of the first of these.
  std::vector<media::Frame> peeked() const {
    std::vector<media::Frame> frames;
    for (const media::Frame& frame : ahead_) {
      if (!frame.empty() && (frames.empty() || frame.size() == frames.front().size()))
        frames.push_back(frame);
    }
    return frames;
  }
  std::optional<media::Frame> read() override {
    if (ahead_.empty() && failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (ahead_.empty()) return source_.read();
    std::optional<media::Frame> frame = std::move(ahead_.front());
    ahead_.pop_front();
    return frame;
  }
  std::int64_t decode_errors() const override { return source_.decode_errors(); }
  std::int64_t dropped() const override { return source_.dropped(); }
  std::optional<std::int64_t> frames() const override { return source_.frames(); }

 private:
  media::FrameSource& source_;
  std::deque<media::Frame> ahead_;
  std::exception_ptr failure_;  ///< exception that ended reading ahead
};

}  // namespace sightline::pipeline
