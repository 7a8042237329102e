#pragma once
/// Sinks for results.

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "detection/result_writer.hpp"
#include "detection/tracker.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

/// Every frame into a detections file. The writer must outlive the sink.
class ResultSink : public Sink {
 public:
  explicit ResultSink(ResultWriter& writer) : writer_(writer) {}
  void accept(const Frame&, const FrameResult& result) override { writer_.write(result); }

 private:
  ResultWriter& writer_;
};

/// Assigns identities to the objects of one stream and passes the frames to other sinks, which must outlive
/// it. A frame that was not searched (skipped, failed) does not count as a miss; it passes on with the
/// predicted objects.
class TrackingSink : public Sink {
 public:
  TrackingSink(const TrackerOptions& options, std::vector<Sink*> sinks)
      : tracker_(options), sinks_(std::move(sinks)) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    tracked_ = result;
    tracked_.objects = result.status == FrameStatus::ok ? tracker_.update(result.time, result.objects)
                                                        : tracker_.predict(result.time);
    for (Sink* sink : sinks_) sink->accept(frame, tracked_);
  }

 private:
  Tracker tracker_;
  std::vector<Sink*> sinks_;
  FrameResult tracked_;  // keeps its buffers from frame to frame
};

/// Passes results on in their order, with empty frames: for sinks that need no pixels.
inline void pass_on(std::span<const FrameResult> results, std::span<Sink* const> sinks) {
  for (const FrameResult& result : results) {
    const Frame frame(nullptr, result.frame, result.time);
    for (Sink* const sink : sinks) sink->accept(frame, result);
  }
}

/// A sink that several streams share: it gets one frame at a time. The mutex must outlive it.
class LockedSink : public Sink {
 public:
  LockedSink(std::unique_ptr<Sink> sink, std::mutex& mutex) : sink_(std::move(sink)), mutex_(mutex) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    const std::lock_guard lock(mutex_);
    sink_->accept(frame, result);
  }

 private:
  std::unique_ptr<Sink> sink_;
  std::mutex& mutex_;
};

}  // namespace sightline::pipeline
