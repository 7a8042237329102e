// How long frames keep a device busy.
#include "pipeline/session/device_throughput.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sightline::pipeline {
namespace {

Span span(std::int64_t start, std::int64_t end, Activity activity = Activity::run) {
  constexpr std::int64_t kMs = 1'000'000;
  return {activity, 0, 1, 0, start * kMs, end * kMs, 0};
}

// Of which a frame of 40 ms is known, twice.
DeviceThroughput known() {
  DeviceThroughput throughput;
  for (int i = 0; i < 2; ++i) throughput.add(0.040, 1);
  return throughput;
}

void add_frame(DeviceThroughput& throughput, const std::vector<Span>& spans) {
  throughput.add(throughput.busy(spans), 1);
}

// Two queues, that of the second detector listed last although it is done first.
TEST(DeviceThroughput, AFrameEndsWithItsLatestSpan) {
  DeviceThroughput throughput;
  EXPECT_NEAR(throughput.busy(
                  std::vector{span(90, 100, Activity::wait), span(102, 110), span(110, 140), span(100, 104)}),
              0.040, 1e-9);
}

TEST(DeviceThroughput, WhatRanBesideOthersCountsOnce) {
  DeviceThroughput throughput;
  add_frame(throughput, std::vector{span(100, 140), span(100, 104)});
  EXPECT_EQ(throughput.seconds_a_frame(), 0);  // one says too little
  add_frame(throughput, std::vector{span(120, 180), span(110, 130)});
  EXPECT_NEAR(throughput.seconds_a_frame(), 0.040, 1e-9);
  add_frame(throughput, std::vector{span(150, 170)});  // inside: adds nothing
  add_frame(throughput, std::vector<Span>{});
  add_frame(throughput, std::vector{span(200, 300, Activity::wait)});
  EXPECT_NEAR(throughput.seconds_a_frame(), 0.040, 1e-9);
  add_frame(throughput, std::vector{span(300, 420)});
  EXPECT_NEAR(throughput.seconds_a_frame(), 0.050, 1e-9);
}

TEST(DeviceThroughput, FramesOfASubmissionShareItsTime) {
  DeviceThroughput throughput = known();
  double seconds = 0;
  // The frames' kernels are the same, and their downloads follow one after the other.
  for (const std::int64_t end : {141, 142, 143, 144})
    seconds += throughput.busy(std::vector{span(100, 140), span(end - 1, end, Activity::download)});
  throughput.add(seconds, 4);
  EXPECT_NEAR(throughput.seconds_a_frame(), 0.040 + (0.011 - 0.040) / 8, 1e-9);
}

TEST(DeviceThroughput, ASlowMomentIsForgotten) {
  DeviceThroughput slow_first;
  slow_first.add(5, 1);
  slow_first.add(0.040, 1);
  EXPECT_NEAR(slow_first.seconds_a_frame(), 0.040, 1e-9);

  DeviceThroughput slow_later = known();
  slow_later.add(8.040, 1);
  EXPECT_NEAR(slow_later.seconds_a_frame(), 1.040, 1e-9);
  for (int i = 0; i < 4096; ++i) slow_later.pass_over();
  EXPECT_LT(slow_later.seconds_a_frame(), 0.040);
  slow_later.add(0.040, 1);
  EXPECT_NEAR(slow_later.seconds_a_frame(), 0.915, 1e-9);  // measured frames alone
}

}  // namespace
}  // namespace sightline::pipeline
