#pragma once
// Support for tests of the pipeline library: frames with their number in them, a scripted detector, and a
// sink that stores results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "detection/detector.hpp"
#include "pipeline/session/pipeline.hpp"
#include "pipeline/session/sources.hpp"

namespace sightline::pipeline::test {

/// Frame k has value k in all its pixels, and so repeats after this many.
inline constexpr std::int64_t kValues = 251;

/// Small frames numbered from 1: pixels of frame n are (n - 1) % kValues.
inline std::vector<Frame> numbered_frames(std::int64_t count = kValues) {
  std::vector<Frame> frames;
  for (std::int64_t i = 0; i < std::min(count, kValues); ++i) {
    Image<std::uint8_t> picture(8, 8);
    for (int y = 0; y < 8; ++y) std::fill_n(picture.view().row(y), 8, static_cast<std::uint8_t>(i));
    frames.push_back(frame_from_gray(picture.view()));
  }
  return frames;
}

/// Numbered frames, and an error or a stop in their place where the test wants one.
class NumberedSource : public FrameSource {
 public:
  explicit NumberedSource(std::int64_t count) : count_(count) {}
  std::function<void(std::int64_t number)> on_read;  ///< before frame `number`, from 1; may throw

  std::optional<Frame> read() override {
    if (next_ >= count_) return std::nullopt;
    if (on_read) on_read(next_ + 1);
    const auto index = static_cast<std::size_t>(next_ % kValues);
    ++next_;
    return all_frames()[index].renumbered(next_);
  }
  std::int64_t delivered() const { return next_; }

 private:
  static const std::vector<Frame>& all_frames() {
    static const std::vector<Frame> all = numbered_frames();
    return all;
  }
  std::int64_t count_;
  std::atomic<std::int64_t> next_{0};
};

struct FakeWorkspace : Workspace {
  int index = -1;
  bool busy = false;
  Partition partition;
  int stages_done = 0;  ///< by any processor
  int prepared = 0;     ///< number of times
};

/// Finds one object a frame, whose score is the frame's value. Stages: first, second.
class FakeDetector : public Detector {
 public:
  std::function<void(std::size_t stage, int index)> on_stage;
  int skip_every = 0;
  std::size_t partitionable = 0;

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override {
    ++workspaces_;
    return std::make_unique<FakeWorkspace>();
  }
  bool prepare(Workspace& workspace, PictureView frame, Partition partition) const override {
    auto& own = static_cast<FakeWorkspace&>(workspace);
    own.index = frame.gray().at(0, 0);
    own.partition = partition;
    own.stages_done = 0;
    ++own.prepared;
    return skip_every == 0 || own.index % skip_every != 0;
  }
  void run_stage(std::size_t stage, Workspace& workspace) const override {
    auto& own = static_cast<FakeWorkspace&>(workspace);
    EXPECT_FALSE(own.busy) << "two frames in one slot";
    EXPECT_EQ(own.stages_done, static_cast<int>(stage)) << "a stage out of order";
    own.busy = true;
    const int inside = ++inside_;
    int most = most_.load();
    while (inside > most && !most_.compare_exchange_weak(most, inside)) {
    }
    try {
      if (on_stage) on_stage(stage, own.index);
    } catch (...) {
      --inside_;
      own.busy = false;
      throw;
    }
    ++own.stages_done;
    --inside_;
    own.busy = false;
  }
  std::size_t partitionable_stages() const override { return partitionable; }
  void merge(Workspace& workspace, Workspace& other) const override {
    auto& own = static_cast<FakeWorkspace&>(workspace);
    auto& more = static_cast<FakeWorkspace&>(other);
    EXPECT_EQ(own.index, more.index) << "partitions of two frames merged";
    EXPECT_EQ(own.partition.begin, more.partition.end);
    EXPECT_EQ(own.stages_done, more.stages_done);
  }
  std::vector<Detection> take_detections(Workspace& workspace) const override {
    auto& own = static_cast<FakeWorkspace&>(workspace);
    EXPECT_EQ(own.stages_done, static_cast<int>(stages_.size()));
    return {{{0, 0, 1, 1}, static_cast<double>(own.index), 0}};
  }
  int workspaces() const { return workspaces_; }
  int most_at_once() const { return most_; }

 private:
  DetectorInfo info_{{"fake", "none", "fake", "", "", ""}, {"thing"}, {1}, 0};
  std::vector<std::string_view> resources_{"frame", "half", "detections"};
  std::vector<StageInfo> stages_{{"first", {0}, {1}, true}, {"second", {1}, {2}, false}};
  mutable std::atomic<int> workspaces_{0};
  mutable std::atomic<int> inside_{0};
  mutable std::atomic<int> most_{0};
};

class Collector : public Sink {
 public:
  int fail_at = -1;
  std::function<void(const FrameResult&)> on_result;  ///< before the result is kept; may throw
  std::vector<FrameResult> results;
  void accept(const Frame& frame, const FrameResult& result) override {
    const std::unique_lock lock(alone_, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock()) << "two threads in one sink";
    EXPECT_EQ(frame.number(), result.frame);
    if (static_cast<int>(results.size()) == fail_at) throw Error(ExitCode::failed, "the sink is full");
    if (on_result) on_result(result);
    results.push_back(result);
  }

 private:
  std::mutex alone_;
};

/// Results 1 to `count`, in order, each with its own frame's object.
inline void expect_ordered(const std::vector<FrameResult>& results, std::size_t count) {
  ASSERT_EQ(results.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(results[i].frame, static_cast<std::int64_t>(i + 1));
    if (results[i].status != FrameStatus::ok) continue;
    ASSERT_EQ(results[i].objects.size(), 1u);
    ASSERT_EQ(results[i].objects[0].score, static_cast<double>(i % kValues)) << "the result of another frame";
  }
}

/// A schedule without a device.
inline Schedule on_cpu(int in_flight) {
  Schedule schedule;
  schedule.in_flight = in_flight;
  return schedule;
}

inline RunReport run(Pipeline& pipeline, FrameSource& source, Sink& sink, const RunOptions& options = {}) {
  Stream stream;
  stream.source = &source;
  stream.sinks = {&sink};
  return pipeline.run(stream, options);
}

/// Runs numbered frames, whose results must come in order.
inline RunReport run_in_order(Pipeline& pipeline, std::int64_t frames) {
  NumberedSource source(frames);
  Collector collector;
  const RunReport report = run(pipeline, source, collector);
  expect_ordered(collector.results, static_cast<std::size_t>(frames));
  return report;
}

}  // namespace sightline::pipeline::test
