// Any number of devices: frames are dealt out to them or shared by them, a device that fails leaves its
// frames to the others, and results do not depend on how many there are.
#include <gmock/gmock.h>

#include "detectors/waldboost/detector.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/fake_device.hpp"
#include "support/log_capture.hpp"
#include "support/same_boxes.hpp"
#include "support/waldboost.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using test::Collector;
using test::expect_ordered;
using test::FakeDetector;
using test::FakeStages;
using test::Fate;
using test::NumberedSource;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Fate::Kind;

class SeveralFakeDevices : public testing::Test {
 protected:
  void SetUp() override { detector_.partitionable = 1; }
  // The frames that each has had are counted.
  void add_device(std::function<Fate(int)> decide) {
    auto& count = counts_.emplace_back(std::make_unique<std::atomic<int>>(0));
    devices_.push_back(std::make_unique<FakeStages>(StageSet(3), [decide, &n = *count](int index) {
      ++n;
      return decide(index);
    }));
  }
  Devices devices() const {
    std::vector<const DeviceStages*> all;
    for (const auto& one : devices_) all.push_back(one.get());
    return Devices(all);
  }
  static Schedule all_on_device(int in_flight) {
    Schedule schedule;
    schedule.on_device = StageSet(3);
    schedule.in_flight = in_flight;
    return schedule;
  }
  RunReport expect_all(const Schedule& schedule, std::size_t frames) {
    PipelineOptions options;
    options.threads = 3;
    options.stall_limit = 0.2;
    Pipeline pipeline(detector_, devices(), schedule, options);
    Collector collector;
    NumberedSource source(static_cast<std::int64_t>(frames));
    const RunReport report = test::run(pipeline, source, collector);
    expect_ordered(collector.results, frames);
    EXPECT_EQ(report.failed, 0) << report.first_failure;
    left_ = pipeline.schedule();
    return report;
  }

  FakeDetector detector_;
  std::vector<std::unique_ptr<std::atomic<int>>> counts_;
  std::vector<std::unique_ptr<FakeStages>> devices_;
  Schedule left_;  ///< when the last run was over
  sightline::test::LogCapture log_;
};

TEST_F(SeveralFakeDevices, AllGetFrames) {
  for (int i = 0; i < 3; ++i)
    add_device([](int index) { return Fate{Kind::done, 500us + 100us * (index % 3)}; });
  const RunReport report = expect_all(all_on_device(12), 240);
  EXPECT_EQ(report.retried, 0);
  int sum = 0;
  for (const auto& count : counts_) {
    EXPECT_GT(*count, 20);
    sum += *count;
  }
  EXPECT_EQ(sum, 240);
}

TEST_F(SeveralFakeDevices, OnlyThoseOfTheScheduleGetFrames) {
  for (int i = 0; i < 3; ++i) add_device([](int) { return Fate{Kind::done, 100us}; });
  Schedule schedule = all_on_device(6);
  schedule.devices.set(1);
  expect_all(schedule, 60);
  EXPECT_EQ(*counts_[0] + *counts_[2], 0);
  EXPECT_EQ(*counts_[1], 60);
}

TEST_F(SeveralFakeDevices, StagesArePinnedToDevices) {
  for (int i = 0; i < 2; ++i) add_device([](int) { return Fate{Kind::done, 100us}; });
  Schedule schedule = all_on_device(4);
  schedule.pinned[0] = 2;
  schedule.pinned[1] = 1;
  expect_all(schedule, 60);
  EXPECT_EQ(*counts_[0], 60);
  EXPECT_EQ(*counts_[1], 60);
}

TEST_F(SeveralFakeDevices, OneThatFailsLeavesItsFramesToTheOthers) {
  for (const Kind kind : {Kind::refused, Kind::spoilt, Kind::no_answer}) {
    devices_.clear();
    counts_.clear();
    log_.clear();
    add_device([](int) { return Fate{Kind::done, 200us}; });
    add_device([kind](int index) { return index >= 20 ? Fate{kind, 100us} : Fate{Kind::done, 200us}; });
    const RunReport report = expect_all(all_on_device(8), 100);
    EXPECT_GE(report.retried, 1);
    EXPECT_LE(report.retried, 12);
    EXPECT_TRUE(left_.uses_device());
    EXPECT_EQ(left_.devices, DeviceSet(1));
  }
}

TEST_F(SeveralFakeDevices, WhenAllHaveFailedTheCpuGoesOn) {
  for (int i = 0; i < 3; ++i)
    add_device([i](int index) {
      return index >= 10 + 5 * i ? Fate{Kind::refused, 0us} : Fate{Kind::done, 200us};
    });
  expect_all(all_on_device(12), 80);
  EXPECT_FALSE(left_.uses_device());
  EXPECT_THAT(log_.str(), HasSubstr("CPU"));
}

TEST_F(SeveralFakeDevices, OnePinnedThatFailsLeavesItsStagesToTheCpu) {
  add_device([](int) { return Fate{Kind::done, 200us}; });
  add_device([](int index) { return index >= 20 ? Fate{Kind::refused, 0us} : Fate{Kind::done, 200us}; });
  Schedule schedule = all_on_device(4);
  schedule.pinned[0] = 1;
  schedule.pinned[1] = 2;
  expect_all(schedule, 60);
  EXPECT_TRUE(left_.on_device[0]);
  EXPECT_FALSE(left_.on_device[1]);
}

// --- the same to the bit -----------------------------------------------------------------------------------

class SeveralDevices : public testing::Test, public test::SameBoxes {
 protected:
  void SetUp() override {
    waldboost::Options options;
    options.scale_step = 1.2;
    options.threshold = options.window_threshold = -1e6;
    options.border = 3;
    search_with(
        std::make_unique<waldboost::WaldboostDetector>(sightline::test::random_waldboost(3, 30), options));
    for (const opencl::DeviceInfo& device : opencl::list_devices()) {
      if (!stages_.empty() || !device.correctly_rounded_divide_sqrt || !device.compiler_available) continue;
      // Twice the same where it has no parts: two contexts know nothing of each other.
      const int units = device.type == opencl::DeviceType::cpu && device.compute_units > 1 ? 1 : 0;
      stages_.push_back(make_device_stages(*detector_, {device, units, "", {}}));
      const std::vector<int> before = units > 0 ? std::vector<int>{units} : std::vector<int>{};
      stages_.push_back(make_device_stages(*detector_, {device, units, "", before}));
    }
    if (stages_.empty()) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  }
  Devices devices() const { return Devices({stages_[0].get(), stages_[1].get()}); }

  std::vector<std::unique_ptr<DeviceStages>> stages_;
};

TEST_F(SeveralDevices, FindTheSameUnderEverySchedule) {
  for (const std::string_view name : schedule_names())
    expect_the_same(devices(), named_schedule(name, *detector_, devices(), 2));
  for (const double split : {0.3, 0.8, 1.0}) {
    Schedule schedule{"split", {}, 3, split};
    schedule.shares = {1, 2.5};
    expect_the_same(devices(), schedule);
  }
}

TEST_F(SeveralDevices, FindTheSameWithStagesOnDifferentDevices) {
  for (const char* map : {"pyramid=gpu1,scan=gpu0", "pyramid=gpu0,scan=gpu1", "pyramid=cpu,scan=gpu1",
                          "pyramid=gpu1,scan=cpu", "pyramid=gpu,scan=gpu1"}) {
    expect_the_same(devices(), map);
  }
}

TEST_F(SeveralDevices, ArePlanned) {
  Pipeline pipeline(*detector_, devices(), Schedule(), {1});
  PlanOptions options;
  options.trial_seconds = 0.01;
  const Planned planned = plan_schedule(pipeline, *detector_, devices(), frames_, options);
  EXPECT_EQ(planned.costs.size(), 2u);
  // Each alone, and both.
  const auto weighed = [&](unsigned long some) {
    return std::ranges::any_of(planned.alternatives, [&](const Alternative& a) {
      return a.schedule.uses_device() && a.schedule.devices == DeviceSet(some);
    });
  };
  EXPECT_TRUE(weighed(0b01));
  EXPECT_TRUE(weighed(0b10));
  EXPECT_TRUE(weighed(0));
}

// --- schedules ---------------------------------------------------------------------------------------------

TEST(DeviceShares, AreCutOneAfterTheOther) {
  Schedule schedule{"split", {}, 1, 0.9};
  EXPECT_EQ(device_partitions(schedule, 1), (std::vector<Partition>{{0, 0.9}}));
  schedule.split = 1;
  EXPECT_EQ(device_partitions(schedule, 2), (std::vector<Partition>{{0, 0.5}, {0.5, 1}}));
  schedule.shares = {1, 0, 3};
  EXPECT_EQ(device_partitions(schedule, 3), (std::vector<Partition>{{0, 0.25}, {0.25, 0.25}, {0.25, 1}}));
  schedule.devices = DeviceSet(0b001);
  EXPECT_EQ(device_partitions(schedule, 3), (std::vector<Partition>{{0, 1}, {1, 1}, {1, 1}}));
  schedule.devices = DeviceSet(0b010);  // whose share is nothing, but it is all there is
  EXPECT_EQ(device_partitions(schedule, 3), (std::vector<Partition>{{0, 0}, {0, 1}, {1, 1}}));
}

TEST(SeveralDeviceCosts, FramesAreDealtOutBySpeed) {
  FrameCosts one;
  one.threads = 2;
  one.partitionable = 1;
  one.stages = {{0.02, 0.04, 0.006, 0.001, 0.001}, {0.001, 0.002, -1, 0, 0}};
  FrameCosts slower = one;
  slower.stages[0].device = 0.012;
  const DeviceCosts costs(std::vector<FrameCosts>{one, slower});
  Schedule schedule{"gpu", StageSet(1), 8, 0};
  // A frame in 6 ms and one in 12 ms: three in 12.
  EXPECT_NEAR(bound_of(costs, schedule).fps, 250, 1e-6);
  EXPECT_NEAR(latency_of(costs, schedule), 0.006 + 0.002 + 0.001, 1e-9);
  schedule.devices = DeviceSet(0b10);
  EXPECT_NEAR(bound_of(costs, schedule).fps, 1 / 0.012, 1e-6);
  schedule.devices = {};
  schedule.pinned[0] = 2;
  EXPECT_NEAR(bound_of(costs, schedule).fps, 1 / 0.012, 1e-6);

  const Schedule even = even_split(costs, DeviceSet(0b11));
  ASSERT_EQ(even.shares.size(), 2u);
  EXPECT_NEAR(even.shares[0], 2.0 / 3, 1e-9);
  EXPECT_NEAR(even.split, (1 / 0.006 + 1 / 0.012) / (1 / 0.006 + 1 / 0.012 + 1 / 0.02), 1e-9);
}

}  // namespace
}  // namespace sightline::pipeline
