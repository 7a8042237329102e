// A device as awkward as devices get: it answers out of order, at once, with failure, or not at all.

#include "support/fake_device.hpp"

#include <gmock/gmock.h>

#include <random>

#include "support/log_capture.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using test::Collector;
using test::expect_ordered;
using test::FakeDetector;
using test::FakeStages;
using test::Fate;
using test::NumberedSource;
using testing::HasSubstr;
using Kind = Fate::Kind;

class FakeDevice : public ::testing::Test {
 protected:
  void SetUp() override { detector_.partitionable = 1; }
  std::unique_ptr<FakeStages> device(std::function<Fate(int)> decide) const {
    return std::make_unique<FakeStages>(StageSet(3), std::move(decide));
  }
  // The first stage on the device, the second, both, or a part of the first one's work.
  static std::vector<Schedule> schedules(int in_flight) {
    std::vector<Schedule> all(4);
    for (std::size_t i = 0; i < 3; ++i) all[i].on_device = StageSet(i + 1);
    all[3].split = 0.5;
    for (Schedule& schedule : all) schedule.in_flight = in_flight;
    return all;
  }
  int times_disabled() {
    const std::string text = log_.str();
    int count = 0;
    for (std::size_t at = text.find("disabled"); at != std::string::npos; at = text.find("disabled", at + 1))
      ++count;
    return count;
  }

  FakeDetector detector_;
  sightline::test::LogCapture log_;
};

TEST_F(FakeDevice, AnswersOutOfOrder) {
  for (const int in_flight : {1, 2, 4, 8}) {
    for (const Schedule& schedule : schedules(in_flight)) {
      // The later the frame, the sooner it is done, again and again.
      const auto stages = device([](int index) { return Fate{Kind::done, 800us - (index % 4) * 250us}; });
      Pipeline pipeline(detector_, stages.get(), schedule, {3});
      const RunReport report = test::run_in_order(pipeline, 60);
      EXPECT_EQ(report.failed + report.retried, 0);
      EXPECT_EQ(times_disabled(), 0);
      EXPECT_LE(stages->most_at_once(), in_flight);
      if (in_flight >= 4) {
        EXPECT_GT(stages->most_at_once(), 1);
      }
    }
  }
}

TEST_F(FakeDevice, AnswersBeforeSubmitReturns) {
  for (const Schedule& schedule : schedules(4)) {
    const auto stages = device([](int) { return Fate{Kind::done_early, 0us}; });
    Pipeline pipeline(detector_, stages.get(), schedule, {2});
    const RunReport report = test::run_in_order(pipeline, 500);
    EXPECT_EQ(report.failed + report.retried, 0);
  }
}

TEST_F(FakeDevice, Fails) {
  for (const Kind kind : {Kind::fails, Kind::refused, Kind::spoilt}) {
    for (const int bad : {0, 1, 7, 19}) {
      if (kind == Kind::fails && bad != 7) continue;  // may take the watchdog, and so its time
      for (const Schedule& schedule : schedules(4)) {
        log_.clear();
        const auto stages = device([&](int index) {
          return index == bad ? Fate{kind, 300us} : Fate{Kind::done, 100us * (index % 3)};
        });
        PipelineOptions options;
        options.threads = 3;
        options.stall_limit = 0.2;
        Pipeline pipeline(detector_, stages.get(), schedule, options);
        const RunReport report = test::run_in_order(pipeline, 20);
        EXPECT_EQ(report.failed, 0) << report.first_failure;
        EXPECT_GE(report.retried, 1);
        EXPECT_LE(report.retried, 8) << "more than were in flight, and that entered just then";
        EXPECT_TRUE(pipeline.device_lost());
        EXPECT_EQ(times_disabled(), 1) << log_.str();
        EXPECT_FALSE(pipeline.schedule().uses_device());
      }
    }
  }
}

// One frame after which nothing is answered any more, whatever was on the device with it.
TEST_F(FakeDevice, NeverAnswers) {
  for (const int bad : {0, 5}) {
    for (const Schedule& schedule : schedules(5)) {
      log_.clear();
      const auto stages = device([&](int index) {
        return index >= bad ? Fate{Kind::no_answer, 0us} : Fate{Kind::done, 50us};
      });
      PipelineOptions options;
      options.threads = 3;
      options.stall_limit = 0.3;
      Pipeline pipeline(detector_, stages.get(), schedule, options);
      Collector collector;
      NumberedSource source(40);
      const auto start = std::chrono::steady_clock::now();
      const RunReport report = test::run(pipeline, source, collector);
      EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
      expect_ordered(collector.results, 40);
      EXPECT_EQ(report.failed, 0) << report.first_failure;
      EXPECT_GE(report.retried, 1);
      EXPECT_LE(report.retried, 10);
      EXPECT_GT(stages->most_at_once(), 1);
      EXPECT_EQ(times_disabled(), 1) << log_.str();
      const char* stage = schedule.on_device == StageSet(2) ? "stage 'second' on '" : "stage 'first' on '";
      EXPECT_THAT(log_.str(), HasSubstr(stage));
      EXPECT_THAT(log_.str(), HasSubstr("0.3 s"));

      stages->answer_late();  // nobody is told
      EXPECT_EQ(test::run_in_order(pipeline, 30).retried, 0);
      EXPECT_EQ(times_disabled(), 1);
    }
  }
}

// Late answers while the run goes on: every frame is delivered once all the same.
TEST_F(FakeDevice, AnswersTooLate) {
  Schedule schedule;
  schedule.on_device.set(0);
  schedule.in_flight = 4;
  const auto stages = device([](int) { return Fate{Kind::no_answer, 0us}; });
  PipelineOptions options;
  options.threads = 2;
  options.stall_limit = 0.1;
  Pipeline pipeline(detector_, stages.get(), schedule, options);
  Collector collector;
  collector.on_result = [&](const FrameResult& result) {
    if (result.frame == 2) stages->answer_late();
    std::this_thread::sleep_for(1ms);
  };
  NumberedSource source(50);
  const RunReport report = test::run(pipeline, source, collector);
  expect_ordered(collector.results, 50);
  EXPECT_LE(report.retried, 8);
}

// Slow, but within the limit: nobody is given up.
TEST_F(FakeDevice, MayTakeItsTime) {
  for (const Schedule& schedule : schedules(3)) {
    const auto stages = device([](int) { return Fate{Kind::done, 150ms}; });
    PipelineOptions options;
    options.threads = 2;
    options.stall_limit = 0.4;
    Pipeline pipeline(detector_, stages.get(), schedule, options);
    EXPECT_EQ(test::run_in_order(pipeline, 5).retried, 0);
    EXPECT_FALSE(pipeline.device_lost());
  }
}

// Drivers that compile kernels when they are launched first: that is no hang, and neither is the wait behind
// it.
TEST_F(FakeDevice, MayCompileLongerThanItMayWork) {
  const auto stages = device([](int index) {
    return index == 0 ? Fate{Kind::done, 1000ms, true} : Fate{Kind::done, index < 4 ? 1050ms : 1ms};
  });
  PipelineOptions options;
  options.threads = 2;
  options.stall_limit = 0.5;
  Pipeline pipeline(detector_, stages.get(), schedules(4).front(), options);
  EXPECT_EQ(test::run_in_order(pipeline, 6).retried, 0);
  EXPECT_FALSE(pipeline.device_lost());
  EXPECT_GE(stages->device().compilations, 1) << "nobody is told";
  EXPECT_EQ(stages->device().running, 0);
  EXPECT_EQ(stages->device().successes, 1);
}

TEST_F(FakeDevice, IsGivenUpWhereCompilingNeverEnds) {
  const auto stages = device([](int) { return Fate{Kind::no_answer, 0us, true}; });
  PipelineOptions options;
  options.threads = 2;
  options.stall_limit = 0.1;
  Pipeline pipeline(detector_, stages.get(), schedules(2).front(), options);
  EXPECT_GE(test::run_in_order(pipeline, 3).retried, 1);
  EXPECT_TRUE(pipeline.device_lost());
  EXPECT_EQ(stages->device().running, 0);
  EXPECT_EQ(stages->device().successes, 0);
}

// Programs that are built meanwhile, for batches say, hold up what the device has.
TEST_F(FakeDevice, IsNotGivenUpWhileProgramsAreBuilt) {
  std::atomic<bool> answers{true};
  const auto stages = device([&](int) { return Fate{answers ? Kind::done : Kind::no_answer, 500ms}; });
  PipelineOptions options;
  options.threads = 2;
  options.stall_limit = 0.2;
  Pipeline pipeline(detector_, stages.get(), schedules(1).front(), options);
  std::shared_ptr<void> building = stages->device().compiling();
  EXPECT_EQ(test::run_in_order(pipeline, 1).retried, 0);
  building.reset();
  answers = false;
  EXPECT_GE(test::run_in_order(pipeline, 1).retried, 1);
}

TEST_F(FakeDevice, LeavesFramesToTheCpuWhileItCompiles) {
  for (const Schedule& schedule : schedules(4)) {
    std::atomic<bool> is_compiled{false};
    std::atomic<int> first{100}, last{-1};
    const auto stages = device([&](int index) {
      first = std::min<int>(first, index);
      last = std::max<int>(last, index);
      return Fate{Kind::done, 50us};
    });
    stages->is_compiled = [&] { return is_compiled.load(); };
    Pipeline pipeline(detector_, stages.get(), schedule, {2});
    Collector collector;
    collector.on_result = [&](const FrameResult& result) { is_compiled = is_compiled || result.frame == 10; };
    NumberedSource source(40);
    const RunReport report = test::run(pipeline, source, collector);
    expect_ordered(collector.results, 40);
    EXPECT_EQ(report.failed + report.retried, 0);
    EXPECT_GE(first, 10);  // frame 11's value: frame 10 was found on the CPU
    EXPECT_EQ(last, 39);
    EXPECT_TRUE(pipeline.schedule().uses_device());
  }
}

TEST_F(FakeDevice, IsDisabledWhereKernelsCannotBeCompiled) {
  std::atomic<bool> has_failed{false};
  const auto stages = device([](int) { return Fate{Kind::done, 50us}; });
  stages->is_compiled = [&] { return has_failed ? throw Error(ExitCode::failed, "no such type") : false; };
  Pipeline pipeline(detector_, stages.get(), schedules(4).front(), {2});
  Collector collector;
  collector.on_result = [&](const FrameResult& result) { has_failed = has_failed || result.frame == 10; };
  NumberedSource source(40);
  const RunReport report = test::run(pipeline, source, collector);
  expect_ordered(collector.results, 40);
  EXPECT_EQ(report.failed + report.retried, 0);
  EXPECT_TRUE(pipeline.device_lost());
  EXPECT_EQ(times_disabled(), 1) << log_.str();
  EXPECT_THAT(log_.str(), HasSubstr("no such type"));
}

TEST_F(FakeDevice, IsWaitedForBeforeMeasurements) {
  Schedule schedule = schedules(4).front();
  schedule.batch = 2;
  const auto stages = device([](int) { return Fate{Kind::done, 50us}; });
  stages->together = 2;
  int asked = 0;
  stages->is_compiled = [&] { return ++asked > 3; };
  Pipeline pipeline(detector_, stages.get(), schedule, {2});
  pipeline.wait_until_ready();
  EXPECT_EQ(stages->waited_for, 2U);
  EXPECT_EQ(asked, 4);
  stages->is_compiled = []() -> bool { throw Error(ExitCode::failed, "no such type"); };
  pipeline.wait_until_ready();
  EXPECT_TRUE(pipeline.device_lost());
}

// Errors of the CPU's stages around the device's cost their frame alone.
TEST_F(FakeDevice, StagesOnTheCpuFailAroundIt) {
  for (const bool typed : {true, false}) {
    detector_.on_stage = [&](std::size_t, int index) {
      if (index % 5 != 2) return;
      if (typed) throw std::runtime_error("no luck");
      throw 7;  // not even an exception
    };
    for (const Schedule& schedule : schedules(4)) {
      if (schedule.on_device == StageSet(3)) continue;  // no stage on the CPU
      const auto stages = device([](int index) { return Fate{Kind::done, 100us * (index % 3)}; });
      Pipeline pipeline(detector_, stages.get(), schedule, {3});
      const RunReport report = test::run_in_order(pipeline, 30);
      EXPECT_EQ(report.failed, 6);
      EXPECT_EQ(report.retried, 0);
      EXPECT_FALSE(pipeline.device_lost());
    }
  }
}

}  // namespace
}  // namespace sightline::pipeline
