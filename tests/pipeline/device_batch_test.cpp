// Several frames in one submission to a device.

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "detection/composite_detector.hpp"
#include "pipeline/planning/planner.hpp"
#include "support/errors.hpp"
#include "support/fake_device.hpp"
#include "support/log_capture.hpp"
#include "support/temp_dir.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using sightline::test::expect_error;
using sightline::test::LogCapture;
using sightline::test::TempDir;
using test::Collector;
using test::FakeDetector;
using test::FakeStages;
using test::Fate;
using test::NumberedSource;
using Kind = Fate::Kind;

Schedule batched(int batch, unsigned long stages = 3) {
  Schedule schedule{"custom", StageSet(stages), 2 * batch, 0};
  schedule.batch = batch;
  return schedule;
}

std::unique_ptr<FakeStages> device(std::function<Fate(int)> decide, std::size_t together = 8) {
  auto stages = std::make_unique<FakeStages>(StageSet(3), std::move(decide));
  stages->together = together;
  return stages;
}

class Traces : public TraceSink {
 public:
  void begin(const TraceInfo&) override {}
  void accept(const FrameTrace& trace) override {
    for (const Span& span : trace.spans)
      if (span.activity == Activity::upload) shared.push_back(span);
    ++frames;
  }
  std::vector<Span> shared;  ///< the commands for whole batches
  int frames = 0;
};

// Frame 1 is on the device, alone, until a batch has followed it.
class OneAhead {
 public:
  OneAhead() : stages(device([this](int i) { return decide(i); })) {
    stages->on_batch = [this](const std::vector<int>& indices) {
      largest = std::max(largest, indices.size());
      stages->release();
    };
  }
  Fate decide(int index) {
    if (index == 3) return {bad, 0us};
    if (index != 0 || is_ahead_) return {Kind::done, delay};
    is_ahead_ = true;
    ahead_.set_value();
    return {Kind::held, 0us};
  }
  // To be called before any other frame is read.
  void wait() const { is_on_device_.wait(); }

  std::size_t largest = 0;
  Kind bad = Kind::done;               ///< fate of the fourth frame
  std::chrono::microseconds delay{0};  ///< of the others

 private:
  bool is_ahead_ = false;
  std::promise<void> ahead_;
  std::shared_future<void> is_on_device_ = ahead_.get_future().share();

 public:
  std::unique_ptr<FakeStages> stages;  ///< last: its thread uses the others
};

TEST(DeviceBatch, FormsWhileTheDeviceIsBusy) {
  const FakeDetector detector;
  for (const int batch : {2, 4, 8}) {
    OneAhead ahead;
    Pipeline pipeline(detector, ahead.stages.get(), batched(batch), {3});
    Collector collector;
    NumberedSource source(61);
    source.on_read = [&](std::int64_t number) {
      if (number > 1) ahead.wait();
    };
    Traces traces;
    RunOptions options;
    options.traces = {&traces};
    const RunReport report = test::run(pipeline, source, collector, options);
    test::expect_ordered(collector.results, 61);
    EXPECT_EQ(report.failed + report.retried, 0);
    EXPECT_EQ(ahead.largest, static_cast<std::size_t>(batch));

    std::multiset<std::size_t> in_traces, submitted;
    for (const Span& span : traces.shared) {
      in_traces.insert(static_cast<std::size_t>(span.frames));
      EXPECT_LE(span.frames * span.share(), span.end - span.start);
      EXPECT_GT(span.frames * (span.share() + 1), span.end - span.start);
    }
    for (const std::vector<int>& one : ahead.stages->batches())
      for (std::size_t i = 0; i < one.size(); ++i) submitted.insert(one.size());
    EXPECT_EQ(in_traces, submitted);
  }
}

TEST(DeviceBatch, AnIdleDeviceWaitsForNoFrame) {
  const FakeDetector detector;
  const auto stages = device([](int) { return Fate{Kind::done, 100us}; });
  Pipeline pipeline(detector, stages.get(), batched(8), {2});
  std::atomic<std::int64_t> delivered{0};
  Collector collector;
  collector.on_result = [&](const FrameResult&) { ++delivered; };
  NumberedSource source(10);
  source.on_read = [&](std::int64_t number) {
    while (delivered < number - 1) std::this_thread::yield();
  };
  test::run(pipeline, source, collector);
  test::expect_ordered(collector.results, 10);
  EXPECT_TRUE(stages->batches().empty());
}

TEST(DeviceBatch, ChangesNoResult) {
  const FakeDetector detector;
  for (const int frames : {1, 7, 16, 30}) {
    for (const int batch : {1, 2, 8}) {
      for (const unsigned long mapping : {1, 2, 3}) {
        const auto stages = device([](int index) { return Fate{Kind::done, 400us - (index % 4) * 100us}; });
        Pipeline pipeline(detector, stages.get(), batched(batch, mapping), {3});
        const RunReport report = test::run_in_order(pipeline, frames);
        EXPECT_EQ(report.failed + report.retried, 0);
        EXPECT_TRUE(batch > 1 || stages->batches().empty());
      }
    }
  }
}

// Both sources have at most four frames in flight, so that six are of both.
TEST(DeviceBatch, MixesSources) {
  const FakeDetector detector;
  OneAhead ahead;
  Schedule schedule = batched(6);
  schedule.in_flight = 8;
  Pipeline pipeline(detector, ahead.stages.get(), schedule, {3});
  constexpr std::int64_t kOther = 100;
  NumberedSource one(25), other(kOther + 25);
  for (int i = 0; i < kOther; ++i) other.read();
  one.on_read = [&](std::int64_t number) {
    if (number > 1) ahead.wait();
  };
  other.on_read = [&](std::int64_t) { ahead.wait(); };
  Collector results, other_results;
  std::vector<Stream> streams(2);
  streams[0].source = &one;
  streams[0].sinks = {&results};
  streams[1].source = &other;
  streams[1].sinks = {&other_results};
  for (const RunReport& report : pipeline.run(streams)) EXPECT_EQ(report.failed + report.retried, 0);
  test::expect_ordered(results.results, 25);
  ASSERT_EQ(other_results.results.size(), 25u);
  for (std::size_t i = 0; i < 25; ++i)
    EXPECT_EQ(other_results.results[i].objects.at(0).score,
              static_cast<double>(kOther) + static_cast<double>(i));
  EXPECT_EQ(ahead.largest, 6u);
  std::size_t mixed = 0;
  for (const std::vector<int>& batch : ahead.stages->batches()) {
    const auto others = std::ranges::count_if(batch, [](int index) { return index >= kOther; });
    mixed += others > 0 && others < std::ssize(batch);
  }
  EXPECT_GT(mixed, 0u);
}

// One frame of the first full batch fails; the others of the batch are not lost.
TEST(DeviceBatch, AFailureCostsNoFrame) {
  const FakeDetector detector;
  for (const Kind kind : {Kind::fails, Kind::refused, Kind::spoilt, Kind::no_answer}) {
    const LogCapture log;
    OneAhead ahead;
    ahead.bad = kind;
    ahead.delay = 5ms;
    PipelineOptions options;
    options.threads = 3;
    options.stall_limit = 0.2;
    Pipeline pipeline(detector, ahead.stages.get(), batched(4), options);
    Collector collector;
    NumberedSource source(30);
    source.on_read = [&](std::int64_t number) {
      if (number > 1) ahead.wait();
    };
    const RunReport report = test::run(pipeline, source, collector);
    test::expect_ordered(collector.results, 30);
    EXPECT_EQ(report.failed, 0) << report.first_failure;
    EXPECT_GE(report.retried, 1);
    EXPECT_TRUE(pipeline.device_lost());
    EXPECT_EQ(pipeline.schedule().batch, 1);
    ASSERT_FALSE(ahead.stages->batches().empty());
    EXPECT_EQ(ahead.stages->batches().front().size(), 4u);
  }
}

// A detector among several, whose stages all run on a device.
class BatchedMember : public FakeDetector {
 public:
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice>) const override {
    auto stages = device([](int) { return Fate{Kind::done, 0us}; });
    made = stages.get();
    return stages;
  }
  mutable const FakeStages* made = nullptr;
};

// The first detector takes no even frames.
TEST(DeviceBatch, ReachesEachDetectorOfSeveral) {
  auto first = std::make_unique<BatchedMember>(), second = std::make_unique<BatchedMember>();
  first->skip_every = 2;
  const BatchedMember &odd = *first, &all = *second;
  std::vector<CompositeBranch> both;
  both.emplace_back(std::move(first));
  both.emplace_back(std::move(second));
  const CompositeDetector detector(std::move(both));
  const auto stages = detector.make_stages_on(std::make_shared<test::FakeDevice>());
  EXPECT_EQ(stages->most_together(), 8u);
  const std::size_t last = detector.stages().size();

  struct InFlight {
    Frame frame;
    std::unique_ptr<Workspace> workspace;
    std::unique_ptr<DeviceSlot> slot;
  };
  std::vector<InFlight> flights;
  std::vector<DeviceWork> works;
  NumberedSource source(5);
  while (auto frame = source.read()) {
    InFlight& one =
        flights.emplace_back(InFlight{std::move(*frame), detector.make_workspace(), stages->make_slot()});
    ASSERT_TRUE(detector.prepare(*one.workspace, one.frame.view()));
    stages->prepare(*one.slot, *one.workspace, StageSet((1UL << last) - 1));
    works.push_back({one.slot.get(), one.workspace.get()});
  }
  stages->submit(works, 0, last, SubmitParts::all);
  using Batches = std::vector<std::vector<int>>;
  EXPECT_EQ(odd.made->batches(), (Batches{{1, 3}}));
  EXPECT_EQ(all.made->batches(), (Batches{{0, 1, 2, 3, 4}}));
  for (std::size_t i = 0; i < flights.size(); ++i) {
    flights[i].slot->done.wait("fake device");
    stages->complete(*flights[i].slot, *flights[i].workspace);
    EXPECT_EQ(detector.take_detections(*flights[i].workspace).size(), i % 2 == 0 ? 1u : 2u);
  }
}

TEST(DeviceBatch, SplitFramesGoAlone) {
  FakeDetector detector;
  detector.partitionable = 1;
  const auto stages = device([](int) { return Fate{Kind::done, 100us}; });
  Schedule schedule;
  schedule.split = 0.5;
  schedule.in_flight = 8;
  Pipeline pipeline(detector, stages.get(), schedule, {3});
  EXPECT_EQ(test::run_in_order(pipeline, 20).failed, 0);
  EXPECT_TRUE(stages->batches().empty());
  schedule.batch = 4;
  expect_error(ExitCode::usage, [&] { pipeline.set_schedule(schedule); });
}

TEST(DeviceBatch, IsRefusedWhereItGainsNothing) {
  const FakeDetector detector;
  const auto alone = device([](int) { return Fate{}; }, 1);
  const auto four = device([](int) { return Fate{}; }, 4);
  const auto resolved = [&](ScheduleRequest request, const Devices& devices) {
    return resolve(request, detector, devices, 2);
  };
  const auto refused = [&](const ScheduleRequest& request, const Devices& devices) {
    expect_error(ExitCode::usage, [&] { resolved(request, devices); });
  };
  ScheduleRequest request;
  request.name = "gpu";
  request.batch = 4;
  refused(request, alone.get());
  EXPECT_EQ(resolved(request, four.get()).batch, 4);
  EXPECT_EQ(resolved(request, four.get()).in_flight, 8);
  request.in_flight = 3;  // a batch would never be full
  refused(request, four.get());
  request.in_flight = 4;
  EXPECT_EQ(resolved(request, four.get()).in_flight, 4);
  request.batch = 8;
  request.in_flight = 0;
  refused(request, four.get());
  request.batch = 1;
  EXPECT_EQ(resolved(request, alone.get()).batch, 1);
  request.batch = 2;
  for (const char* name : {"cpu", "specialized"}) {
    request.name = name;
    refused(request, four.get());
  }
}

TEST(DeviceBatch, IsDescribedAsAMappingNamesIt) {
  const FakeDetector detector;
  const auto stages = device([](int) { return Fate{}; });
  EXPECT_EQ(describe(batched(1), detector).find("batch"), std::string::npos);
  ScheduleRequest request;
  request.map = describe(batched(4), detector);
  const Schedule schedule = resolve(request, detector, stages.get(), 2);
  EXPECT_EQ(schedule, batched(4));
  request.batch = 2;
  EXPECT_EQ(resolve(request, detector, stages.get(), 2).batch, 2);
  request.map = "batch=65";
  expect_error(ExitCode::usage, [&] { resolve(request, detector, stages.get(), 2); });
}

TEST(DeviceBatch, TakesTwoBatchesInFlight) {
  EXPECT_EQ(default_in_flight(batched(1), 2), 4);
  EXPECT_EQ(default_in_flight(batched(8), 2), 16);
  EXPECT_EQ(default_in_flight(batched(8), 2, 3), 48);
  EXPECT_EQ(default_in_flight(batched(64), 2), kMostInFlight);
}

class DeviceBatchPlans : public ::testing::Test {
 protected:
  DeviceBatchPlans() { options_.file = folder_ / "plans.json"; }
  Planned plan() {
    Pipeline pipeline(detector_, stages_.get(), Schedule{"cpu", {}, 1, 0}, PipelineOptions{1});
    Planned planned = plan_schedule(pipeline, detector_, stages_.get(), test::numbered_frames(2), options_);
    EXPECT_EQ(pipeline.schedule(), planned.schedule);
    return planned;
  }
  // Of the schedules that use the device.
  static std::set<int> batches_of(const Planned& planned, bool tried) {
    std::set<int> batches;
    for (const Alternative& a : planned.alternatives)
      if (a.schedule.uses_device() && (!tried || a.achieved_fps > 0)) batches.insert(a.schedule.batch);
    return batches;
  }

  FakeDetector detector_;
  std::unique_ptr<FakeStages> stages_ = device([](int) { return Fate{Kind::done, 20us}; });
  TempDir folder_;
  PlanOptions options_ = [] {
    PlanOptions options;
    options.trial_seconds = 0.01;
    return options;
  }();
};

TEST_F(DeviceBatchPlans, TryBatchesUpToTheDevicesMost) {
  const Planned planned = plan();
  EXPECT_EQ(batches_of(planned, true), (std::set{1, 4, 8}));
  for (const Alternative& a : planned.alternatives) EXPECT_GE(a.schedule.in_flight, a.schedule.batch);

  const Planned again = plan();
  EXPECT_TRUE(again.remembered);
  EXPECT_EQ(again.schedule, planned.schedule);
  EXPECT_EQ(again.objective.batch, planned.schedule.batch);
  EXPECT_EQ(batches_of(again, true), batches_of(planned, true));
}

TEST_F(DeviceBatchPlans, TakeTheBatchAskedFor) {
  options_.batch = 2;
  const Planned planned = plan();
  EXPECT_FALSE(planned.remembered);
  EXPECT_EQ(batches_of(planned, false), std::set{2});
  options_.batch = 0;
  EXPECT_FALSE(plan().remembered) << "planned for another request";
}

TEST_F(DeviceBatchPlans, LatencyWantsNone) {
  options_.goal = Goal::latency;
  EXPECT_EQ(batches_of(plan(), false), std::set{1});
}

}  // namespace
}  // namespace sightline::pipeline
