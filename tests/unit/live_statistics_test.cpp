#include "pipeline/session/live_statistics.hpp"

#include <gmock/gmock.h>

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TraceInfo info() {
  TraceInfo info;
  info.stages = {"pyramid", "classify"};
  info.processors = {"CPU, 2 threads", "a device"};
  return info;
}

// A frame of 10 ms decoding, 20 ms waiting, 30 ms of pyramid, 15 ms of classifying on the device of which 5
// ms are at the same time as the pyramid, and 2 ms of output.
struct MadeUpFrame {
  MadeUpFrame(std::int64_t number, std::int64_t at) {
    spans = {{Activity::decode, 0, 0, 0, at, at + 10 * kMs, 0},
             {Activity::wait, 0, 0, 0, at + 10 * kMs, at + 30 * kMs, 0},
             {Activity::run, 0, 0, 0, at + 30 * kMs, at + 60 * kMs, 0},
             {Activity::run, 1, 1, 0, at + 55 * kMs, at + 70 * kMs, 0},
             {Activity::output, 0, 0, 0, at + 70 * kMs, at + 72 * kMs, 0}};
    trace.frame = number;
    trace.admitted = at;
    trace.delivered = at + 72 * kMs;
    trace.spans = spans;
  }
  std::vector<Span> spans;
  FrameTrace trace;
};

TEST(DurationHistogram, PercentilesWithinOnePercent) {
  DurationHistogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.add(1e-3 * i);
  EXPECT_EQ(histogram.count(), 1000);
  EXPECT_NEAR(histogram.percentile(0.5), 0.5, 0.005);
  EXPECT_NEAR(histogram.percentile(0.95), 0.95, 0.0095);
  EXPECT_NEAR(histogram.percentile(0), 1e-3, 1e-5);
  EXPECT_EQ(histogram.percentile(1), 1.0);
  EXPECT_EQ(histogram.largest(), 1.0);
}

TEST(DurationHistogram, NoneAndExtremes) {
  DurationHistogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0);
  histogram.add(0);
  histogram.add(1e9);
  EXPECT_NEAR(histogram.percentile(0.5), 1e-5, 1e-7);
  EXPECT_GT(histogram.percentile(1), 900);
}

TEST(RateMeter, CountsTheLastSeconds) {
  RateMeter meter;
  EXPECT_EQ(meter.rate(0), 0);
  for (int i = 0; i <= 100; ++i) meter.tick(i * 40 * kMs);
  EXPECT_NEAR(meter.rate(4000 * kMs), 25, 0.1);
  EXPECT_LT(meter.rate(5000 * kMs), 14);  // a second without any
  EXPECT_EQ(meter.rate(6001 * kMs), 0);
}

TEST(WorkingSeconds, CountsWhatOverlapsOnce) {
  const MadeUpFrame frame(1, 1000 * kMs);
  EXPECT_NEAR(working_seconds(frame.spans), 0.050, 1e-9);  // 10, 30, and 10 that are the classifier's alone
}

TEST(LiveStatistics, LatencyToTheResultWhereNothingIsShown) {
  LiveStatistics statistics(false);
  statistics.begin(info());
  statistics.accept(MadeUpFrame(1, 0).trace);
  const LatencySummary whole = statistics.whole();
  EXPECT_EQ(whole.frames, 1);
  EXPECT_NEAR(whole.median, 0.072, 0.001);
  EXPECT_NEAR(whole.own, 0.050, 1e-9);
  EXPECT_NEAR(whole.added_median, 0.022, 0.0003);
}

TEST(LiveStatistics, TilesAreNotFrames) {
  LiveStatistics statistics(false);
  statistics.begin(info());
  MadeUpFrame first(1, 0), last(1, 50 * kMs);
  first.trace.ends_frame = false;
  last.trace.admitted = 0;
  statistics.accept(first.trace);
  EXPECT_EQ(statistics.whole().frames, 0);
  statistics.accept(last.trace);
  EXPECT_EQ(statistics.whole().frames, 1);
  EXPECT_EQ(statistics.snapshot(200 * kMs, 100 * kMs).detected, 1);
  EXPECT_NEAR(statistics.whole().median, 0.122, 0.0015);
  EXPECT_NEAR(statistics.whole().own, 0.100, 0.001);
}

TEST(LiveStatistics, LatencyToTheScreenWhicheverIsKnownFirst) {
  LiveStatistics statistics(true);
  statistics.begin(info());
  statistics.shown(1, 0, 80 * kMs, true);  // before its trace
  EXPECT_EQ(statistics.whole().frames, 0);
  statistics.accept(MadeUpFrame(1, 0).trace);
  statistics.accept(MadeUpFrame(2, 100 * kMs).trace);
  statistics.shown(2, 100 * kMs, 190 * kMs, true);
  const LatencySummary whole = statistics.whole();
  EXPECT_EQ(whole.frames, 2);
  EXPECT_NEAR(whole.largest, 0.090, 1e-9);
  EXPECT_NEAR(whole.added_p95, 0.040, 0.0005);
  EXPECT_NEAR(statistics.snapshot(200 * kMs, 100 * kMs).latest, 0.090, 1e-9);
  EXPECT_EQ(statistics.snapshot(200 * kMs, 100 * kMs).shown, 2);
}

TEST(LiveStatistics, FramesWithoutTheirBoxesAreNotWaitedFor) {
  LiveStatistics statistics(true);
  statistics.begin(info());
  statistics.shown(1, 0, 20 * kMs, false);
  EXPECT_NEAR(statistics.whole().median, 0.020, 0.0003);
}

TEST(LiveStatistics, IntervalsBeginAnewAndTheWholeDoesNot) {
  LiveStatistics statistics(false);
  statistics.begin(info());
  statistics.accept(MadeUpFrame(1, 0).trace);
  EXPECT_EQ(statistics.take_interval().frames, 1);
  EXPECT_EQ(statistics.take_interval().frames, 0);
  statistics.accept(MadeUpFrame(2, 100 * kMs).trace);
  EXPECT_EQ(statistics.take_interval().frames, 1);
  EXPECT_EQ(statistics.whole().frames, 2);
}

TEST(LiveStatistics, TellsWhichStageWasAtWorkWhen) {
  LiveStatistics statistics(false);
  statistics.begin(info());
  statistics.accept(MadeUpFrame(7, 0).trace);
  statistics.accept(MadeUpFrame(8, 100 * kMs).trace);
  const auto stages = statistics.snapshot(172 * kMs, 500 * kMs).stages;
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].name, "decode");
  EXPECT_EQ(stages[1].name, "pyramid");
  EXPECT_EQ(stages[1].processor, 0U);
  ASSERT_EQ(stages[1].intervals.size(), 2U);
  EXPECT_EQ(stages[1].intervals[1].begin, 130 * kMs);
  EXPECT_EQ(stages[1].intervals[1].frame, 8);
  EXPECT_EQ(stages[2].name, "classify");
  EXPECT_EQ(stages[2].processor, 1U);
  // A short look back leaves out the first frame.
  EXPECT_EQ(statistics.snapshot(172 * kMs, 100 * kMs).stages[1].intervals.size(), 1U);
  // A stage that rests keeps its place.
  EXPECT_EQ(statistics.snapshot(1000 * kMs, 100 * kMs).stages.size(), 3U);
  EXPECT_TRUE(statistics.snapshot(1000 * kMs, 100 * kMs).stages[2].intervals.empty());
}

TEST(LiveStatistics, ForgetsFramesThatAreNeverShown) {
  LiveStatistics statistics(true);
  statistics.begin(info());
  for (int i = 1; i <= 1000; ++i) statistics.accept(MadeUpFrame(i, 0).trace);
  statistics.shown(1, 0, 80 * kMs, true);
  EXPECT_EQ(statistics.whole().frames, 0);
  statistics.shown(1000, 0, 80 * kMs, true);
  EXPECT_EQ(statistics.whole().frames, 1);
}

}  // namespace
}  // namespace sightline::pipeline
