// Sums over the frames of a run.
#include "pipeline/session/run_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kOneMillisecond = 1'000'000;

void add_device_work(RunAccounts& accounts, std::int64_t start, std::int64_t end) {
  Span span;
  span.processor = 1;
  span.start = start * kOneMillisecond;
  span.end = end * kOneMillisecond;
  FrameTrace trace;
  trace.spans = {&span, 1};
  accounts.add(trace);
}

TEST(RunAccounts, OverlappingWorkOfADeviceCountsOnce) {
  TraceInfo info;
  info.stages = {"filter"};
  info.processors = {"CPU", "GPU", "another GPU"};
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

TEST(DeviceUse, CountsWhatSeveralStreamsCoverInAnyNearbyOrder) {
  constexpr std::int64_t kLength = 20'000;
  std::mt19937 random(7);
  std::vector<bool> is_covered(kLength + 100);
  DeviceUse use;
  TraceInfo info;
  info.processors = {"CPU", "GPU"};
  use.begin(info);
  for (std::int64_t at = 50; at < kLength; at += static_cast<std::int64_t>(random() % 30)) {
    Span span;
    span.processor = 1;
    span.start = at - static_cast<std::int64_t>(random() % 50);
    span.end = span.start + static_cast<std::int64_t>(random() % 20);
    FrameTrace trace;
    trace.spans = {&span, 1};
    use.accept(trace);
    for (std::int64_t i = span.start; i < span.end; ++i) is_covered[static_cast<std::size_t>(i)] = true;
  }
  ASSERT_EQ(use.times().size(), 1U);
  EXPECT_NEAR(use.times()[0].seconds, 1e-9 * static_cast<double>(std::ranges::count(is_covered, true)),
              1e-12);
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
