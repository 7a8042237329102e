// Schedule `auto` while it runs: made-up times of frames go in, schedules come out.

#include "pipeline/planning/controller.hpp"

#include <gmock/gmock.h>

#include <deque>

#include "pipeline/session/now.hpp"
#include "support/fake_device.hpp"
#include "support/log_capture.hpp"

namespace sightline::pipeline {
namespace {

using test::Collector;
using test::expect_ordered;
using test::FakeDetector;
using test::FakeStages;
using test::Fate;
using test::NumberedSource;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kBetweenFrames = kSecond / 20;
constexpr int kWindow = 21;  // frames: the first of them starts the second that the others fill

// How many times as long as planned the processors take.
struct Load {
  double cpu = 1;
  double device = 1;
  double waiting = 1;  ///< on the CPU, from start to end, with no more work
  double second = 1;   ///< the second stage alone, on the CPU
};

FrameCosts scaled(FrameCosts costs, Load load) {
  for (StageCost& stage : costs.stages) {
    stage.cpu *= load.cpu * load.waiting;
    stage.work *= load.cpu;
    if (&stage == &costs.stages.back()) {
      stage.cpu *= load.second;
      stage.work *= load.second;
    }
    stage.device *= load.device;
    stage.upload *= load.device;
    stage.download *= load.device;
  }
  return costs;
}

// 250 frames/s with the first stage on the device, 91 without it, 143 with both on the device.
FrameCosts made_up_costs(std::size_t partitionable) {
  FrameCosts costs;
  costs.threads = 4;
  costs.partitionable = partitionable;
  costs.stages = {{10e-3, 40e-3, 4e-3, 0.5e-3, 0.5e-3}, {1e-3, 4e-3, 3e-3, 0.5e-3, 0.1e-3}};
  return costs;
}

Schedule mapped(unsigned stages, int in_flight = 4) {
  Schedule schedule;
  schedule.name = stages == 0 ? "cpu" : "gpu";
  schedule.on_device = StageSet(stages);
  schedule.in_flight = in_flight;
  return schedule;
}

// What a frame's stages took where `schedule` has them, and what must not count as work of a processor.
std::vector<Span> spans_of(const FrameCosts& costs, const Schedule& schedule, std::int64_t at) {
  std::vector<Span> spans;
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(1e9 * seconds); };
  spans.push_back({Activity::decode, 0, 0, 0, at, at + kSecond, kSecond});
  for (std::size_t i = 0; i < costs.stages.size(); ++i) {
    const StageCost& cost = costs.stages[i];
    const auto stage = static_cast<std::uint8_t>(i);
    const bool divided = i < costs.partitionable && schedule.split > 0;
    const double share = divided ? schedule.split : schedule.on_device[i] ? 1 : 0;
    if (share > 0) {
      spans.push_back({Activity::wait, stage, 1, 0, at, at + kSecond, 0});
      spans.push_back({Activity::upload, stage, 1, 0, at, at + ns(cost.upload), 0});
      spans.push_back({Activity::run, stage, 1, 0, at, at + ns(share * cost.device), 0});
    }
    if (share < 1)
      spans.push_back(
          {Activity::run, stage, 0, 0, at, at + ns((1 - share) * cost.cpu), ns((1 - share) * cost.work)});
  }
  spans.push_back({Activity::output, 0, 0, 0, at, at + kSecond, kSecond});
  return spans;
}

class ScheduleControl : public ::testing::Test {
 protected:
  // Begins a run under `home`; without one, under what the costs promise most for.
  void start(StageSet supported, std::size_t partitionable, std::optional<Schedule> home = {},
             Goal goal = Goal::throughput) {
    log_.clear();
    changes_.clear();
    controller_.reset();
    pipeline_.reset();
    goal_ = goal;
    detector_.partitionable = partitionable;
    device_ = std::make_unique<FakeStages>(supported, [](int) { return Fate{Fate::Kind::refused}; });
    Planned planned;
    planned.costs = costs_ = made_up_costs(partitionable);
    planned.schedule = home_ = home ? *home : best_for({});
    planned.objective = {goal, in_flight_};
    PipelineOptions options;
    options.threads = 2;
    pipeline_ = std::make_unique<Pipeline>(detector_, device_.get(), home_, options);
    controller_ = std::make_unique<Controller>(*pipeline_, detector_, device_.get());
    controller_->follow_plan(planned);
    TraceInfo info;
    info.start = now_;
    controller_->begin(info);
  }
  Schedule best_for(Load load) const {
    return weigh(scaled(costs_, load), detector_, device_.get(), {goal_, in_flight_}).front().schedule;
  }

  int setting_ = 0;  ///< of the frames

  void feed(const Schedule& schedule, std::int64_t admitted, Load load,
            FrameStatus status = FrameStatus::ok) {
    const std::vector<Span> spans = spans_of(scaled(costs_, load), schedule, admitted);
    FrameTrace trace;
    trace.admitted = admitted;
    trace.delivered = now_;
    trace.status = status;
    trace.setting = setting_;
    trace.spans = spans;
    const Schedule before = pipeline_->schedule();
    controller_->accept(trace);
    if (pipeline_->schedule() != before) changes_.push_back({now_, pipeline_->schedule()});
  }
  // A frame after the other, under the schedule that there is when they enter.
  void frames(int count, Load load, FrameStatus status = FrameStatus::ok) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t admitted = now_;
      now_ += kBetweenFrames;
      feed(pipeline_->schedule(), admitted, load, status);
    }
  }
  void windows(int count, Load load = {}) { frames(count * kWindow, load); }

  struct Change {
    std::int64_t at = 0;
    Schedule to;
  };
  // Seconds between a change and the one before it.
  double pause(std::size_t change) const {
    return 1e-9 * static_cast<double>(changes_.at(change).at - changes_.at(change - 1).at);
  }
  int switches() const { return controller_->switches(); }

  FakeDetector detector_;
  std::unique_ptr<FakeStages> device_;
  FrameCosts costs_;
  Schedule home_;
  Goal goal_ = Goal::throughput;
  int in_flight_ = 0;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Controller> controller_;
  std::int64_t now_ = 1000 * kSecond;
  std::vector<Change> changes_;
  sightline::test::LogCapture log_;
};

constexpr double kWindowSeconds = 1e-9 * kWindow * kBetweenFrames;

TEST_F(ScheduleControl, SteadyLoadNeverSwitches) {
  for (const std::size_t partitionable : {0, 1}) {
    start(1, partitionable);
    EXPECT_TRUE(home_.uses_device());
    windows(3);
    for (int i = 0; i < 40; ++i) {  // neither does one that varies a little
      windows(2, {1.25, 0.8});
      windows(2, {0.8, 1.25});
      windows(2, {1, 1, 5});
    }
    EXPECT_TRUE(changes_.empty());
    EXPECT_EQ(switches(), 0);
    EXPECT_EQ(log_.str(), "");
  }
}

TEST_F(ScheduleControl, SlowDeviceIsRelievedOnce) {
  for (const std::size_t partitionable : {0, 1}) {
    start(1, partitionable);
    const Schedule expected = best_for({1, 4});
    ASSERT_NE(expected, home_);
    EXPECT_EQ(expected.uses_device(), partitionable == 1);
    windows(2);
    windows(2, {1, 4});
    ASSERT_EQ(changes_.size(), 1u);
    EXPECT_EQ(changes_[0].to, expected);
    EXPECT_THAT(log_.str(), HasSubstr("the CPU takes 1 times and the device 4 times"));
    EXPECT_THAT(log_.str(), HasSubstr(describe(expected, detector_)));
    windows(7, {1, 4});  // what now is slow is known
    EXPECT_EQ(changes_.size(), 1u);
    EXPECT_EQ(switches(), 1);
  }
}

// Another setting is lighter on all processors. It is what runs from then on, and what drifts is seen against
// it.
TEST_F(ScheduleControl, AnotherSettingIsNoDrift) {
  start(1, 1);
  windows(3);
  for (int i = 0; i < 5; ++i) {
    setting_ = 1;
    windows(3, {0.4, 0.4});
    setting_ = 0;
    windows(3);
  }
  EXPECT_TRUE(changes_.empty());
  setting_ = 1;
  windows(3, {0.4, 0.4});
  windows(2, {0.4, 1.6});
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].to, best_for({1, 4}));
  windows(2, {0.4, 1.6});
  EXPECT_EQ(changes_.size(), 1u);
  windows(2, {0.4, 0.4});
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_EQ(changes_[1].to, home_);
}

TEST_F(ScheduleControl, ASettingThatComesWhileThePlanIsAwayIsNoDrift) {
  start(1, 0);
  windows(2);
  windows(3, {1, 4});
  ASSERT_EQ(changes_.size(), 1u);
  setting_ = 1;
  windows(3, {0.4, 1.6});
  EXPECT_EQ(changes_.size(), 1u);
  windows(12, {0.4, 1.6});  // the plan is tried again, and is as slow as it was
  ASSERT_EQ(changes_.size(), 3u);
  EXPECT_EQ(changes_[1].to, home_);
  EXPECT_FALSE(changes_[2].to.uses_device());
}

TEST_F(ScheduleControl, OneSlowWindowIsNothing) {
  start(1, 1);
  windows(2);
  for (int i = 0; i < 10; ++i) {
    windows(1, {1, 4});
    windows(1);
  }
  EXPECT_TRUE(changes_.empty());
  EXPECT_EQ(log_.str(), "");
}

TEST_F(ScheduleControl, APlanThatIsNoLongerFollowedIsLeft) {
  start(1, 1);
  EXPECT_TRUE(controller_->is_active());
  windows(2);
  controller_->follow_plan({});
  EXPECT_FALSE(controller_->follows_plan());
  EXPECT_FALSE(controller_->is_active());
  windows(10, {1, 4});
  EXPECT_EQ(switches(), 0);
}

// Drift that no other mapping mends is accepted, until there is more of it.
TEST_F(ScheduleControl, SwitchesOnlyWhereItPays) {
  start(1, 0);
  windows(2);
  windows(6, {1, 2.85});  // the CPU would be better by four hundredths
  EXPECT_GT(predicted_fps(costs_, best_for({1, 2.85})), predicted_fps(scaled(costs_, {1, 2.85}), home_));
  EXPECT_TRUE(changes_.empty());
  windows(2, {1, 4});
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].to, best_for({1, 4}));
  EXPECT_THAT(log_.str(), HasSubstr("the device 4 times"));
}

// What was accepted is what was weighed, not what came after.
TEST_F(ScheduleControl, DriftThatGoesOnIsSeen) {
  start(1, 0);
  windows(2);
  windows(2, {1, 1.5});
  EXPECT_TRUE(changes_.empty());
  windows(2, {1, 4});
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_FALSE(changes_[0].to.uses_device());
}

TEST_F(ScheduleControl, ReturnsToThePlan) {
  start(1, 1);
  windows(2);
  windows(4, {1, 4});
  ASSERT_EQ(changes_.size(), 1u);
  windows(1);
  EXPECT_EQ(changes_.size(), 1u);
  windows(1);
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_EQ(changes_[1].to, home_);
  EXPECT_THAT(log_.str(), HasSubstr("the processors are back to"));
  windows(20);
  EXPECT_EQ(switches(), 2);
}

// Trials chose the plan, and they know better than predictions do.
TEST_F(ScheduleControl, KeepsAPlanThatIsNotTheBestByPrediction) {
  start(1, 1, mapped(1));
  ASSERT_GT(predicted_fps(costs_, best_for({})), 1.1 * predicted_fps(costs_, home_));
  windows(2);
  windows(6, {1, 0.5});
  EXPECT_TRUE(changes_.empty());
  windows(20);  // as planned again
  EXPECT_TRUE(changes_.empty());
  EXPECT_EQ(switches(), 0);
}

TEST_F(ScheduleControl, GivenUpDeviceIsTriedAgain) {
  start(1, 0);
  windows(2);
  const std::vector<double> pauses{10, 20, 40, 80, 120, 120};
  for (int i = 0; i < 420; ++i) windows(1, {1, 4});
  // Given up, and then there and back again after each pause.
  ASSERT_EQ(changes_.size(), 1 + 2 * pauses.size());
  for (std::size_t i = 0; i < pauses.size(); ++i) {
    EXPECT_EQ(changes_[2 * i].to, best_for({1, 4}));
    EXPECT_EQ(changes_[2 * i + 1].to, home_);
    EXPECT_GE(pause(2 * i + 1), pauses[i]);
    EXPECT_LE(pause(2 * i + 1), pauses[i] + kWindowSeconds);
    EXPECT_NEAR(pause(2 * i + 2), kWindowSeconds, 1e-6) << "longer than it takes to see";
  }
  EXPECT_EQ(switches(), 1 + 2 * static_cast<int>(pauses.size()));
  EXPECT_THAT(log_.str(), Not(HasSubstr("the plan is back")));
}

TEST_F(ScheduleControl, FreeDeviceStays) {
  start(1, 0);
  for (int again = 0; again < 2; ++again) {
    windows(2);
    changes_.clear();
    windows(25, {1, 4});
    ASSERT_EQ(changes_.size(), 3u);  // given up, and tried once
    windows(40);
    ASSERT_EQ(changes_.size(), 4u);
    EXPECT_GE(pause(1), 10);
    EXPECT_LE(pause(1), 10 + kWindowSeconds) << "the pauses begin anew";
    EXPECT_GE(pause(3), 20);
    EXPECT_EQ(changes_[3].to, home_);
    EXPECT_THAT(log_.str(), HasSubstr("the plan is back to"));
    log_.clear();
  }
}

TEST_F(ScheduleControl, SlowCpuIsRelieved) {
  start(1, 1);
  ASSERT_GT(home_.split, 0);
  const Schedule expected = best_for({4, 1});
  ASSERT_NE(expected, home_);
  windows(2);
  windows(1, {4, 1});
  EXPECT_TRUE(changes_.empty());
  windows(4, {4, 1});
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].to, expected);
  EXPECT_THAT(log_.str(), HasSubstr("the CPU takes 4 times and the device 1 times"));
  windows(5);
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_EQ(changes_[1].to, home_);
}

// An emptier scene leaves the last stage little to do. What the CPU would take for the others is as before.
TEST_F(ScheduleControl, LightStageDoesNotSpeakForTheOthers) {
  start(1, 0);
  windows(2);
  windows(40, {1, 1, 1, 0.1});
  EXPECT_TRUE(changes_.empty());
}

// Given up since the CPU became so fast; when it no longer is, the device is back without a trial.
TEST_F(ScheduleControl, NoTrialOfWhatIsInUse) {
  start(1, 1);
  ASSERT_GT(home_.split, 0);  // all stages are seen on the CPU
  windows(2);
  windows(4, {0.03, 1});
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_FALSE(changes_[0].to.uses_device());
  windows(3);
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_EQ(changes_[1].to, home_);
  windows(30);
  EXPECT_EQ(switches(), 2);
  EXPECT_THAT(log_.str(), Not(HasSubstr("the plan is back")));
}

// Drift is two windows in a row under one schedule.
TEST_F(ScheduleControl, DriftBeforeATrialIsNotCarriedOver) {
  start(3, 0);
  windows(2);
  windows(2, {1, 4});
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_FALSE(changes_[0].to.uses_device());
  windows(8, {1, 4});
  windows(1, {10, 4});
  windows(1, {1, 4});
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_EQ(changes_[1].to, home_);
  windows(1, {10, 1});  // the device is free, and the CPU busy for a moment
  windows(5);
  EXPECT_EQ(changes_.size(), 2u);
}

TEST_F(ScheduleControl, FramesFromBeforeASwitchDoNotCount) {
  start(1, 1);
  windows(2);
  windows(2, {1, 4});
  ASSERT_EQ(changes_.size(), 1u);
  const std::int64_t before = now_ - 1;
  for (int i = 0; i < 2 * kWindow; ++i) {
    now_ += kBetweenFrames;
    feed(home_, before, {1, 4});
  }
  windows(4, {1, 4});
  EXPECT_EQ(switches(), 1);
}

TEST_F(ScheduleControl, FailedAndSkippedFramesDoNotCount) {
  for (const FrameStatus status : {FrameStatus::failed, FrameStatus::skipped}) {
    start(1, 1);
    windows(2);
    for (int i = 0; i < 10 * kWindow; ++i) {
      frames(1, {});
      frames(3, {1, 4}, status);
    }
    EXPECT_EQ(switches(), 0);
  }
}

TEST_F(ScheduleControl, LostDeviceEndsIt) {
  for (const bool lost : {false, true}) {
    start(3, 0);
    windows(2);
    if (lost) {
      Collector collector;
      NumberedSource source(3);
      test::run(*pipeline_, source, collector);  // the device refuses its work
      ASSERT_TRUE(pipeline_->device_lost());
      EXPECT_FALSE(pipeline_->schedule().uses_device());
    }
    changes_.clear();
    windows(30, {20, 1});
    EXPECT_EQ(switches() > 0, !lost);
    EXPECT_EQ(changes_.empty(), lost);
  }
}

// A load that makes frames later, yet not fewer.
TEST_F(ScheduleControl, GoalLatency) {
  for (const Goal goal : {Goal::throughput, Goal::latency}) {
    for (const int in_flight : {0, 4}) {
      in_flight_ = in_flight;
      start(1, 0, {}, goal);
      EXPECT_EQ(home_.on_device, StageSet(1));
      EXPECT_EQ(home_.in_flight == 1, goal == Goal::latency && in_flight == 0);
      windows(2);
      windows(5, {1, 2.3});
      if (goal == Goal::throughput) {
        EXPECT_TRUE(changes_.empty());
      } else {
        ASSERT_EQ(changes_.size(), 1u);
        EXPECT_EQ(changes_[0].to, mapped(0, in_flight == 0 ? 1 : 4));
      }
    }
  }
}

// Passes a real run's traces on with time made ten thousand times as long, so that a window is twenty frames,
// and with made-up work where the frame's stages really ran. The load of the device comes and goes.
class Stretched : public TraceSink {
 public:
  explicit Stretched(Controller& controller) : controller_(controller) {}
  int on_device = 0;  ///< frames with the first stage there
  int on_cpu = 0;

  void begin(const TraceInfo& info) override {
    start_ = info.start;
    controller_.begin(info);
  }
  void accept(const FrameTrace& real) override {
    Schedule ran = mapped(3);
    for (const Span& span : real.spans)
      if (span.activity == Activity::run && span.processor == 0) ran.on_device.reset(span.stage);
    ++(ran.on_device[0] ? on_device : on_cpu);
    FrameTrace trace = real;
    trace.admitted = stretch(real.admitted);
    trace.delivered = stretch(real.delivered);
    const Load load = count_++ / 200 % 2 == 0 ? Load{} : Load{1, 4};
    const std::vector<Span> spans = spans_of(scaled(made_up_costs(0), load), ran, trace.admitted);
    trace.spans = spans;
    controller_.accept(trace);
  }

 private:
  std::int64_t stretch(std::int64_t time) const { return start_ + 10'000 * (time - start_); }

  Controller& controller_;
  std::int64_t start_ = 0;
  int count_ = 0;
};

TEST_F(ScheduleControl, LosesAndReordersNoFrame) {
  using namespace std::chrono_literals;
  for (const std::size_t streams : {1, 3}) {
    detector_.partitionable = 0;
    const FakeStages device(StageSet(3), [](int index) {
      return Fate{Fate::Kind::done, 100us * (index % 4)};
    });
    Planned planned;
    planned.costs = made_up_costs(0);
    planned.schedule = mapped(1);
    Pipeline pipeline(detector_, &device, planned.schedule, {3});
    Controller controller(pipeline, detector_, &device);
    controller.follow_plan(planned);
    Stretched stretched(controller);

    constexpr std::int64_t kFrames = 3000;
    std::deque<NumberedSource> sources;
    std::vector<Collector> collectors(streams);
    std::vector<Stream> all(streams);
    for (std::size_t i = 0; i < streams; ++i) {
      all[i].source = &sources.emplace_back(kFrames / static_cast<std::int64_t>(streams));
      all[i].sinks = {&collectors[i]};
    }
    RunOptions options;
    options.traces = {&stretched};
    const std::vector<RunReport> reports = pipeline.run(all, options);
    for (std::size_t i = 0; i < streams; ++i) {
      expect_ordered(collectors[i].results, static_cast<std::size_t>(sources[i].delivered()));
      EXPECT_EQ(reports[i].failed + reports[i].retried + reports[i].skipped, 0);
    }
    EXPECT_GE(controller.switches(), 2);
    EXPECT_GE(stretched.on_device, 20);
    EXPECT_GE(stretched.on_cpu, 20);
    EXPECT_EQ(stretched.on_device + stretched.on_cpu, kFrames);
  }
}

}  // namespace
}  // namespace sightline::pipeline
