// The pipeline as a library, with a detector that does as the test says.

#include "pipeline/pipeline.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "program.hpp"

namespace sightline::pipeline {
namespace {

using testing::HasSubstr;

// Frames whose pixels all are the frame's index, from 0.
std::string numbered(int frames) {
  return "lavfi:nullsrc=size=32x32:rate=10,format=gray,geq=lum=N,trim=end_frame=" + std::to_string(frames);
}

struct FakeWorkspace : Workspace {
  int index = -1;
  bool busy = false;
};

// Finds one object a frame, whose score is the frame's index.
class FakeDetector : public Detector {
 public:
  std::function<void(std::size_t stage, int index)> on_stage;
  int skip_every = 0;

  const DetectorInfo& info() const override { return info_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override {
    ++workspaces_;
    return std::make_unique<FakeWorkspace>();
  }
  bool prepare(Workspace& workspace, GrayView frame) const override {
    auto& own = static_cast<FakeWorkspace&>(workspace);
    own.index = frame.at(0, 0);
    return skip_every == 0 || own.index % skip_every != 0;
  }
  void run_stage(std::size_t stage, Workspace& workspace) const override {
    auto& own = static_cast<FakeWorkspace&>(workspace);
    EXPECT_FALSE(own.busy) << "two frames in one slot";
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
    --inside_;
    own.busy = false;
  }
  std::vector<Detection> take_detections(Workspace& workspace) const override {
    const int index = static_cast<FakeWorkspace&>(workspace).index;
    return {{{0, 0, 1, 1}, static_cast<double>(index), 0}};
  }
  int workspaces() const { return workspaces_; }
  int most_at_once() const { return most_; }

 private:
  DetectorInfo info_{"fake", "none", {"thing"}, 1, 0};
  std::vector<StageInfo> stages_{{"first", "frame", "half"}, {"second", "half", "detections"}};
  mutable std::atomic<int> workspaces_{0};
  mutable std::atomic<int> inside_{0};
  mutable std::atomic<int> most_{0};
};

class Collector : public Sink {
 public:
  int fail_at = -1;
  std::vector<FrameResult> results;
  void accept(const media::Frame& frame, const FrameResult& result) override {
    const std::unique_lock lock(alone_, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock()) << "two threads in one sink";
    EXPECT_EQ(frame.number(), result.frame);
    if (static_cast<int>(results.size()) == fail_at) throw Error(ExitCode::failed, "the sink is full");
    results.push_back(result);
  }

 private:
  std::mutex alone_;
};

RunReport run(Pipeline& pipeline, const std::string& input, Collector& collector,
              const RunOptions& options = {}) {
  media::Reader reader(input);
  Sink* sinks[] = {&collector};
  return pipeline.run(reader, sinks, options);
}

void expect_ordered(const std::vector<FrameResult>& results, std::size_t count) {
  ASSERT_EQ(results.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(results[i].frame, static_cast<std::int64_t>(i + 1));
    if (results[i].status != FrameStatus::ok) continue;
    ASSERT_EQ(results[i].objects.size(), 1u);
    EXPECT_EQ(results[i].objects[0].score, static_cast<double>(i)) << "the result of another frame";
  }
}

TEST(Pipeline, KeepsOrderWhateverFramesTake) {
  for (const Schedule schedule : {Schedule{1, 1}, {1, 4}, {2, 2}, {4, 8}, {0, 0}}) {
    FakeDetector detector;
    std::mutex mutex;
    std::mt19937 random(7);
    detector.on_stage = [&](std::size_t, int) {
      int microseconds = 0;
      {
        const std::lock_guard lock(mutex);
        microseconds = std::uniform_int_distribution<int>(0, 3000)(random);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    };
    Pipeline pipeline(detector, schedule);
    Collector collector;
    const RunReport report = run(pipeline, numbered(60), collector);
    expect_ordered(collector.results, 60);
    EXPECT_EQ(report.frames, 60);
    EXPECT_EQ(report.objects, 60);
    EXPECT_EQ(report.failed, 0);
    EXPECT_FALSE(report.stopped);
    EXPECT_EQ(detector.workspaces(), pipeline.frames_in_flight());
    EXPECT_LE(detector.most_at_once(), pipeline.threads());
    EXPECT_LE(detector.most_at_once(), pipeline.frames_in_flight());
  }
}

TEST(Pipeline, FramesAreWorkedOnAtOnce) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t, int) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  Pipeline pipeline(detector, {2, 4});
  EXPECT_EQ(pipeline.threads(), 2);
  EXPECT_EQ(pipeline.frames_in_flight(), 4);
  Collector collector;
  run(pipeline, numbered(40), collector);
  EXPECT_EQ(detector.most_at_once(), 2);
}

TEST(Pipeline, FrameThatFailsIsReportedAndTheRunGoesOn) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t stage, int index) {
    if (stage == 1 && index % 4 == 1) throw std::runtime_error("no luck with " + std::to_string(index));
  };
  Pipeline pipeline(detector, {2, 3});
  Collector collector;
  const RunReport report = run(pipeline, numbered(20), collector);
  expect_ordered(collector.results, 20);
  EXPECT_EQ(report.failed, 5);
  EXPECT_EQ(report.objects, 15);
  EXPECT_EQ(report.first_failure, "no luck with 1");
  for (const FrameResult& result : collector.results) {
    const bool failed = (result.frame - 1) % 4 == 1;
    EXPECT_EQ(result.status, failed ? FrameStatus::failed : FrameStatus::ok);
    EXPECT_EQ(result.message, failed ? "no luck with " + std::to_string(result.frame - 1) : "");
    EXPECT_EQ(result.objects.size(), failed ? 0u : 1u);
  }
}

TEST(Pipeline, FramesThatAreTooSmallAreSkipped) {
  FakeDetector detector;
  detector.skip_every = 3;
  Pipeline pipeline(detector, {2, 3});
  Collector collector;
  const RunReport report = run(pipeline, numbered(10), collector);
  EXPECT_EQ(report.skipped, 4);
  expect_ordered(collector.results, 10);
  EXPECT_EQ(collector.results[3].status, FrameStatus::skipped);
  EXPECT_THAT(collector.results[3].message, HasSubstr("smaller"));
}

TEST(Pipeline, ErrorOfASinkEndsTheRunAndTheSlotsServeAgain) {
  FakeDetector detector;
  Pipeline pipeline(detector, {2, 4});
  for (int round = 0; round < 5; ++round) {
    Collector broken;
    broken.fail_at = 3 * round;
    try {
      run(pipeline, numbered(50), broken);
      ADD_FAILURE() << "the error did not arrive";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::failed);
      EXPECT_THAT(error.what(), HasSubstr("the sink is full"));
    }
    expect_ordered(broken.results, static_cast<std::size_t>(3 * round));
    Collector whole;
    EXPECT_EQ(run(pipeline, numbered(30), whole).frames, 30);
    expect_ordered(whole.results, 30);
  }
  EXPECT_EQ(detector.workspaces(), 4) << "slots were made anew";
}

TEST(Pipeline, ErrorOfTheSourceArrives) {
  test::TempDir folder;
  for (int i = 0; i < 150; ++i) {
    media::test::make_clip(folder / ("p" + std::to_string(i) + ".pgm"),
                           "color=gray:size=32x32:rate=1:duration=1");
    if (i == 2) break;
  }
  for (int i = 3; i < 150; ++i) media::test::store(folder / ("p" + std::to_string(i) + ".pgm"), "no picture");
  FakeDetector detector;
  Pipeline pipeline(detector, {2, 2});
  Collector collector;
  media::test::expect_error(ExitCode::input, "in a row", [&] { run(pipeline, folder.path(), collector); });
  EXPECT_LE(collector.results.size(), 3u);
}

TEST(Pipeline, StopsOnRequest) {
  FakeDetector detector;
  Pipeline pipeline(detector, {2, 4});
  std::atomic<bool> stop{false};
  Collector collector;
  RunOptions options;
  options.stop = &stop;
  options.source = "numbers";
  options.on_progress = [&](const Progress& progress) { stop = progress.frames >= 10; };
  const RunReport report = run(pipeline, numbered(200), collector, options);
  EXPECT_TRUE(report.stopped);
  EXPECT_GE(report.frames, 10);
  EXPECT_LE(report.frames, 10 + 4);  // what was in flight is still delivered
  expect_ordered(collector.results, static_cast<std::size_t>(report.frames));
  EXPECT_EQ(collector.results[0].source, "numbers");
}

TEST(Pipeline, ReportsStagesByName) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t stage, int) {
    if (stage == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  Pipeline pipeline(detector, {1, 1});
  Collector collector;
  std::vector<std::int64_t> progress;
  RunOptions options;
  options.on_progress = [&](const Progress& p) { progress.push_back(p.frames); };
  RunReport report = run(pipeline, numbered(5), collector, options);
  ASSERT_EQ(report.stages.size(), 4u);
  EXPECT_EQ(report.stages[0].name, "decode");
  EXPECT_EQ(report.stages[1].name, "first");
  EXPECT_EQ(report.stages[2].name, "second");
  EXPECT_EQ(report.stages[3].name, "output");
  EXPECT_GE(report.stages[2].seconds, 5 * 0.002);
  EXPECT_GE(report.seconds, report.stages[2].seconds);
  EXPECT_EQ(progress, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));

  const RunReport once = report;
  report.add(once);
  EXPECT_EQ(report.frames, 10);
  EXPECT_EQ(report.stages[2].seconds, 2 * once.stages[2].seconds);
}

}  // namespace
}  // namespace sightline::pipeline
