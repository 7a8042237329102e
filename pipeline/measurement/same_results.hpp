#pragma once
/// Sink that compares the results of several runs over the same frames.

#include <limits>
#include <string>
#include <vector>

#include "pipeline/session/sinks.hpp"

namespace sightline::pipeline {

/// Keeps the first result of each frame, and the first difference of a later one. Thread-safety: as Sink.
class SameResults : public Sink {
 public:
  /// @param frames  number of frames that the source repeats
  explicit SameResults(std::size_t frames = std::numeric_limits<std::size_t>::max()) : frames_(frames) {}

  /// Starts a run, whose first frame is the first one again.
  void restart() { next_ = 0; }
  void accept(const Frame&, const FrameResult& result) override {
    const std::size_t frame = next_++ % frames_;
    if (frame == expected_.size()) {
      FrameResult& kept = expected_.emplace_back();  // without the texts
      kept.objects = result.objects;
      kept.output = result.output;
    } else if (different_.empty()) {
      different_ = difference(result, expected_[frame]);
      if (!different_.empty()) different_ = "frame " + std::to_string(frame + 1) + ": " + different_;
    }
  }
  /// Number of frames since `restart`.
  std::size_t frames() const { return next_; }
  /// Frame and difference; empty if all results are the same.
  const std::string& different() const { return different_; }

 private:
  const std::size_t frames_;
  std::vector<FrameResult> expected_;  ///< by frame
  std::size_t next_ = 0;
  std::string different_;
};

}  // namespace sightline::pipeline
