// Schedule `auto` with the goal energy while it runs: made-up frames and a made-up counter go in, schedules
// come out.

#include "pipeline/planning/controller.hpp"

#include <gmock/gmock.h>

#include "pipeline/measurement/energy.hpp"
#include "support/counted_energy.hpp"
#include "support/fake_device.hpp"
#include "support/log_capture.hpp"

namespace sightline::pipeline {
namespace {

using test::CountedEnergy;
using test::FakeDetector;
using test::FakeStages;
using test::Fate;
using testing::HasSubstr;

constexpr double kIdle = 5;

Schedule schedule_on(unsigned stages, const char* name) {
  Schedule schedule;
  schedule.name = name;
  schedule.on_device = StageSet(stages);
  schedule.in_flight = 4;
  return schedule;
}

// The CPU is frugal and slow, the device fast and hungry.
Planned made_up_plan() {
  FrameCosts costs;
  costs.threads = 4;
  costs.stages = {{10e-3, 40e-3, 4e-3, 0, 0}, {1e-3, 4e-3, -1, 0, 0}};
  StageEnergies energies;
  energies.meter = "RAPL package-0";
  energies.idle_watts = kIdle;
  energies.seen = {true, true};
  energies.copy_watts = {0, 0};
  energies.joules = {{0.05, 0.01}, {0.2, std::nullopt}};
  Planned planned;
  planned.costs = costs;
  planned.objective = {Goal::energy, 4, energies};
  planned.schedule = schedule_on(0, "cpu");
  return planned;
}

class EnergyControl : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = std::make_unique<FakeStages>(StageSet(0b01), [](int) { return Fate{}; });
    energy_.set_seconds(now_);
    PipelineOptions options;
    options.threads = 2;
    pipeline_ = std::make_unique<Pipeline>(detector_, device_.get(), planned_.schedule, options);
    start();
  }
  void start() {
    ControllerOptions options;
    options.plan_energy = std::make_shared<Energy>(energy_.meters());
    controller_ = std::make_unique<Controller>(*pipeline_, detector_, device_.get(), options);
    controller_->follow_plan(planned_);
    TraceInfo info;
    info.start = ns(now_);
    controller_->begin(info);
  }
  static std::int64_t ns(double seconds) { return static_cast<std::int64_t>(1e9 * seconds); }

  // Frames, one after the other, that take what stages are said to take where they run.
  void run_for(double seconds) {
    for (const double end = now_ + seconds; now_ < end;) {
      const bool there = pipeline_->schedule().uses_device();
      const double before = now_;
      now_ += there ? 4e-3 : 11e-3;
      energy_.add(there ? 0.21 : 0.06);
      energy_.set_seconds(now_);
      std::vector<Span> spans;
      if (there) spans.push_back({Activity::run, 0, 1, 0, ns(before), ns(before + 4e-3), 0});
      const double work = there ? 4e-3 : 44e-3;
      spans.push_back({Activity::run, 1, 0, 0, ns(before), ns(before + work / 4), ns(work)});
      FrameTrace trace;
      trace.admitted = ns(before);
      trace.delivered = ns(now_);
      trace.status = FrameStatus::ok;
      trace.spans = spans;
      controller_->accept(trace);
    }
  }
  std::string running() const { return describe(pipeline_->schedule(), detector_); }

  FakeDetector detector_;
  CountedEnergy energy_{kIdle};
  Planned planned_ = made_up_plan();
  double now_ = 1000;
  std::unique_ptr<FakeStages> device_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Controller> controller_;
  sightline::test::LogCapture log_;
};

TEST_F(EnergyControl, WhatIsAsPlannedStays) {
  run_for(30);
  EXPECT_EQ(controller_->switches(), 0);
  EXPECT_EQ(log_.str(), "");
}

// Another program's 60 W make slow frames dear: 0.06 J and 11 ms against 0.21 J and 4 ms.
TEST_F(EnergyControl, PowerOfOthersMakesFastBetterThanFrugal) {
  run_for(5);
  energy_.set_idle(65);
  run_for(4);
  EXPECT_EQ(controller_->switches(), 0) << "a moment's disturbance";
  run_for(6);
  ASSERT_EQ(controller_->switches(), 1);
  EXPECT_EQ(running(), "first=gpu second=cpu");
  EXPECT_THAT(log_.str(), HasSubstr("times as much as planned"));
  EXPECT_THAT(log_.str(), HasSubstr("now first=gpu second=cpu"));
  energy_.set_idle(kIdle);
  run_for(9);
  EXPECT_EQ(running(), "first=cpu second=cpu") << "and back, since that is over";
  EXPECT_EQ(controller_->switches(), 2);
  run_for(30);
  EXPECT_EQ(controller_->switches(), 2);
}

TEST_F(EnergyControl, AGivenUpPlanIsTriedAgain) {
  run_for(5);
  energy_.set_idle(65);
  run_for(10);
  ASSERT_EQ(controller_->switches(), 1);
  const double given_up = now_;
  while (controller_->switches() == 1 && now_ < given_up + 30) run_for(0.1);
  EXPECT_GT(now_, given_up + 5) << "not at once";
  EXPECT_LT(now_, given_up + 13);
  EXPECT_EQ(running(), "first=cpu second=cpu");
  run_for(4);
  EXPECT_EQ(controller_->switches(), 3) << "it is no better than it was";
  EXPECT_EQ(running(), "first=gpu second=cpu");
}

TEST_F(EnergyControl, AMeterThatFailsEndsIt) {
  run_for(5);
  energy_.fail();
  energy_.set_idle(65);
  run_for(30);
  EXPECT_EQ(controller_->switches(), 0);
  EXPECT_THAT(log_.str(), HasSubstr("the energy meter failed"));
}

TEST_F(EnergyControl, IsNothingWithoutTheStagesEnergy) {
  planned_.objective.energies.reset();
  start();
  EXPECT_FALSE(controller_->is_active());
  run_for(5);
  energy_.set_idle(65);
  run_for(30);
  EXPECT_EQ(controller_->switches(), 0);
}

// What is chosen is the best of all that there are, by what each is predicted to take.
TEST_F(EnergyControl, TheBestScheduleHasTheLowestEnergyOfAll) {
  const Schedule cpu = planned_.schedule;
  const auto choose = [&](double seen_joules, double seconds) {
    RunWindow window;
    window.seconds = seconds;
    window.joules = seen_joules;
    return better_schedule(planned_.objective, planned_.costs, cpu, window, detector_, device_.get());
  };
  EXPECT_FALSE(choose(0.06 + 5 * 11e-3, 11e-3)) << "as planned";
  const auto better = choose(0.06 + 65 * 11e-3, 11e-3);
  ASSERT_TRUE(better);
  EXPECT_TRUE(better->schedule.uses_device());
  EXPECT_NEAR(better->running_cost, 0.06 + 65 * 11e-3, 1e-9);
  EXPECT_NEAR(better->cost, 0.21 + 65 * 4e-3, 1e-9);
  // Where the source brings a frame every 40 ms, fast ones wait for it, too.
  EXPECT_FALSE(choose(0.06 + 65 * 40e-3, 40e-3));
  // A tenth less, or it is not worth it.
  const double even = (0.21 - 0.06) / (11e-3 - 4e-3);  // watts at which both take the same
  EXPECT_FALSE(choose(0.06 + 1.1 * even * 11e-3, 11e-3));
}

}  // namespace
}  // namespace sightline::pipeline
