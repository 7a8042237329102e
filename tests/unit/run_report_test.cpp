// Sums over the frames of a run.
#include "pipeline/session/run_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kOneMillisecond = 1'000'000;

void add_device_work(RunAccounts& accounts, std::int64_t start, std::int64_t end) {
  const Span span{
      .activity = Activity::run, .processor = 1, .start = start * kOneMillisecond, .end = end * kMillisecond};
  FrameTrace trace;
  trace.spans = {&span, 1};
  accounts.add(FrameResult(), trace);
}

TEST(RunAccounts, OverlappingWorkOfADeviceCountsOnce) {
  const TraceInfo info{.stages = {"filter"}, .processors = {"CPU", "GPU", "another GPU"}};
  RunAccounts accounts(info);
  add_device_work(accounts, 0, 10);
  add_device_work(accounts, 5, 15);
  add_device_work(accounts, 6, 14);
  add_device_work(accounts, 20, 30);
  const RunReport report = accounts.report();
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].name, "GPU");
  EXPECT_NEAR(report.devices[0].seconds, 0.025, 1e-9);
  EXPECT_NEAR(report.stages[1].seconds, 0.038, 1e-9);
}

TEST(RunReport, AddsTimesOfDevicesByName) {
  RunReport one, other;
  one.devices = {{"GPU", 1}};
  other.devices = {{"another GPU", 2}, {"GPU", 3}};
  one.add(other);
  ASSERT_EQ(one.devices.size(), 2U);
  EXPECT_EQ(one.devices[0].seconds, 4);
  EXPECT_EQ(one.devices[1].seconds, 2);
}

}  // namespace
}  // namespace sightline::pipeline
