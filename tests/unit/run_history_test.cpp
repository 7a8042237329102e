// How a run went over time, in memory that does not grow with it.

#include "pipeline/session/run_history.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kStart = 5'000'000'000;

void deliver(RunHistory& history, double seconds, int setting) {
  FrameTrace trace;
  trace.delivered = kStart + static_cast<std::int64_t>(1e9 * seconds);
  trace.setting = setting;
  history.accept(trace);
}

TEST(RunHistory, KeepsRatesAndTurns) {
  RunHistory history;
  TraceInfo info;
  info.start = kStart;
  info.settings = {{"slow", "", {}}, {"fast", "", {}}};
  history.begin(info);
  for (int i = 0; i < 40; ++i) deliver(history, 0.05 + 0.1 * i, i >= 15 && i < 25);
  const RunHistory::Summary summary = history.summary();
  EXPECT_EQ(summary.frames, (std::vector<std::int64_t>{10, 10, 10, 10}));
  EXPECT_NEAR(summary.seconds, 3.95, 1e-6);
  ASSERT_EQ(summary.turns.size(), 3u);
  EXPECT_EQ(summary.turns[0].seconds, 0);
  EXPECT_NEAR(summary.turns[1].seconds, 1.55, 1e-6);
  EXPECT_EQ(summary.turns[1].setting, 1);
  EXPECT_EQ(summary.turns[2].setting, 0);
  EXPECT_EQ(summary.settings.size(), 2u);
}

TEST(RunHistory, PointsBecomeCoarserInLongRuns) {
  RunHistory history;
  TraceInfo info;
  info.start = kStart;
  history.begin(info);
  constexpr int kSeconds = 10'000;
  for (int i = 0; i < kSeconds; ++i) {
    deliver(history, i + 0.5, 0);
    if (i == 100) history.begin(info);  // the next source
  }
  const RunHistory::Summary summary = history.summary();
  EXPECT_EQ(summary.interval, 16);
  EXPECT_LE(summary.frames.size(), RunHistory::kMostPoints);
  EXPECT_EQ(std::accumulate(summary.frames.begin(), summary.frames.end(), std::int64_t{0}), kSeconds);
  EXPECT_EQ(summary.frames[3], 16);
  EXPECT_EQ(summary.turns.size(), 1u);
}

}  // namespace
}  // namespace sightline::pipeline
