// What made-up traces say, against answers worked out by hand.

#include "pipeline/planning/trace_statistics.hpp"

#include <gtest/gtest.h>

#include "base/median.hpp"
#include "support/made_up_run.hpp"

namespace sightline::pipeline {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

Span cpu(int stage, std::int64_t start, std::int64_t end, std::int64_t work = 0) {
  return {
      Activity::run,      static_cast<std::uint8_t>(stage), 0, 0, start * kMillisecond, end * kMillisecond,
      work * kMillisecond};
}
Span on_device(Activity activity, int stage, std::int64_t start, std::int64_t end) {
  return {activity, static_cast<std::uint8_t>(stage), 1, 0, start * kMillisecond, end * kMillisecond, 0};
}
Span decode(std::int64_t start, std::int64_t end) {
  return {Activity::decode, 0, 0, 0, start * kMillisecond, end * kMillisecond, 0};
}
Span output(std::int64_t start, std::int64_t end) {
  return {Activity::output, 0, 0, 0, start * kMillisecond, end * kMillisecond, (end - start) * kMillisecond};
}

const TraceInfo kInfo{{"first", "second"}, {"CPU, 2 threads", "GPU"}, {"clip"}, 2, 0};

// Rows: 0 decode, 1 first, 2 second, 3 upload, 4 download, 5 output.
void add(TraceStatistics& statistics, std::int64_t number, std::int64_t admitted, std::int64_t delivered,
         const std::vector<Span>& spans) {
  FrameTrace trace;
  trace.frame = number;
  trace.slot = static_cast<int>(number % 2);
  trace.admitted = admitted * kMillisecond;
  trace.delivered = delivered * kMillisecond;
  trace.spans = spans;
  statistics.accept(trace);
}

// Three frames in two slots: the second stage of one on the device while the first of the next runs on the
// CPU. Deliveries at 10, 20 and 30 ms.
TraceStatistics three_frames() {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  add(statistics, 1, 0, 10,
      {decode(0, 1), cpu(0, 1, 4, 6), on_device(Activity::upload, 1, 4, 5), on_device(Activity::run, 1, 5, 8),
       on_device(Activity::download, 1, 8, 9), output(9, 10)});
  add(statistics, 2, 5, 20,
      {decode(5, 6), cpu(0, 11, 14, 4), on_device(Activity::upload, 1, 14, 15),
       on_device(Activity::wait, 1, 15, 16), on_device(Activity::run, 1, 16, 18),
       on_device(Activity::download, 1, 18, 19), output(19, 20)});
  add(statistics, 3, 12, 30,
      {decode(12, 13), cpu(0, 17, 20, 5), on_device(Activity::upload, 1, 20, 21),
       on_device(Activity::run, 1, 21, 25), on_device(Activity::download, 1, 25, 26), output(28, 30)});
  return statistics;
}

TEST(TraceStatistics, RatesAndLatencies) {
  const TraceStatistics statistics = three_frames();
  EXPECT_NEAR(statistics.seconds(), 0.020, 1e-12);
  EXPECT_NEAR(statistics.fps(), 100, 1e-9);  // two intervals in 20 ms
  const std::vector<double> latencies = statistics.latencies();
  ASSERT_EQ(latencies.size(), 3u);
  EXPECT_NEAR(latencies[0], 0.010, 1e-12);
  EXPECT_NEAR(latencies[1], 0.015, 1e-12);
  EXPECT_NEAR(latencies[2], 0.018, 1e-12);
  ASSERT_EQ(statistics.frames().size(), 3u);
  EXPECT_EQ(statistics.frames()[1].number, 2);
  EXPECT_EQ(statistics.frames()[1].slot, 0);
  ASSERT_EQ(statistics.spans(statistics.frames()[1]).size(), 7u);
  EXPECT_EQ(statistics.spans(statistics.frames()[1])[1].start, 11 * kMillisecond);
}

TEST(TraceStatistics, Rows) {
  const TraceStatistics statistics = three_frames();
  EXPECT_EQ(statistics.row_names(),
            (std::vector<std::string>{"decode", "first", "second", "upload", "download", "output"}));
  EXPECT_EQ(statistics.row_of(on_device(Activity::run, 1, 0, 1)), 2u);
  EXPECT_EQ(statistics.row_of(on_device(Activity::upload, 1, 0, 1)), 3u);
  EXPECT_EQ(statistics.row_of(on_device(Activity::wait, 1, 0, 1)), std::nullopt);
  const std::vector<double> seconds = statistics.row_seconds();
  const std::vector<double> expected{0.001, 0.003, 0.003, 0.001, 0.001, 0.004 / 3};
  ASSERT_EQ(seconds.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(seconds[i], expected[i], 1e-12) << i;
  const std::vector<double> work = statistics.row_work();
  EXPECT_NEAR(work[1], 0.005, 1e-12);  // (6 + 4 + 5) / 3
  EXPECT_EQ(work[2], 0);               // on the device
}

// Between the first delivery and the last, 10 to 30 ms.
TEST(TraceStatistics, Overlap) {
  const TraceStatistics statistics = three_frames();
  const auto overlap = statistics.overlap();
  ASSERT_EQ(overlap.size(), 6u);
  EXPECT_NEAR(overlap[0][0], 1.0 / 20, 1e-12) << "only the third frame's decoding is inside";
  EXPECT_NEAR(overlap[1][1], 6.0 / 20, 1e-12);
  EXPECT_NEAR(overlap[2][2], 6.0 / 20, 1e-12);
  EXPECT_NEAR(overlap[3][3], 2.0 / 20, 1e-12);
  EXPECT_NEAR(overlap[5][5], 3.0 / 20, 1e-12);
  EXPECT_NEAR(overlap[1][2], 1.0 / 20, 1e-12);  // 17 to 18
  EXPECT_NEAR(overlap[0][1], 1.0 / 20, 1e-12);  // 12 to 13
  EXPECT_NEAR(overlap[1][4], 1.0 / 20, 1e-12);  // 18 to 19
  EXPECT_NEAR(overlap[1][5], 1.0 / 20, 1e-12);  // 19 to 20
  EXPECT_EQ(overlap[2][5], 0);
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = 0; b < 6; ++b) EXPECT_EQ(overlap[a][b], overlap[b][a]);
  }
  EXPECT_NEAR(statistics.overlap_factor(), (1 + 6 + 6 + 2 + 2 + 3) / 20.0, 1e-12);
}

TEST(TraceStatistics, OverlapMergesWhatRunsAtOnce) {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  add(statistics, 1, 0, 0, {});
  // The same stage of three frames: 1-5, 3-7, 7-8 are 1-8 together; 2-3 lies within.
  add(statistics, 2, 0, 9, {cpu(0, 1, 5)});
  add(statistics, 3, 0, 9, {cpu(0, 3, 7), cpu(0, 2, 3)});
  add(statistics, 4, 0, 10, {cpu(0, 7, 8), cpu(1, 4, 6), cpu(1, 9, 10)});
  const auto overlap = statistics.overlap();
  EXPECT_NEAR(overlap[1][1], 0.7, 1e-12);
  EXPECT_NEAR(overlap[2][2], 0.3, 1e-12);
  EXPECT_NEAR(overlap[1][2], 0.2, 1e-12);
  EXPECT_NEAR(statistics.overlap_factor(), 1.0, 1e-12);
}

TEST(TraceStatistics, Utilisation) {
  const TraceStatistics statistics = three_frames();
  EXPECT_NEAR(statistics.utilisation(1, 2), 6.0 / 20, 1e-12) << "copies and waits are not stages";
  EXPECT_NEAR(statistics.utilisation(0, 2), (4.0 + 5) / 20 / 2, 1e-12) << "the first frame's was before";
  EXPECT_NEAR(statistics.utilisation(0, 1), (4.0 + 5) / 20, 1e-12);
  EXPECT_EQ(statistics.utilisation(2, 2), 0) << "no such device";

  TraceStatistics half;  // a stage that began before the first delivery counts with what is after
  half.begin(kInfo);
  add(half, 1, 0, 10, {});
  add(half, 2, 0, 20, {cpu(0, 6, 14, 16)});
  EXPECT_NEAR(half.utilisation(0, 2), 0.4, 1e-12);
}

TEST(TraceStatistics, TrimLeavesOutBothEnds) {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  // A frame every 10 ms, each with 8 ms on the device that begin 12 ms before its delivery; the first and the
  // last are late.
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t at = 100 + 10 * i;
    add(statistics, i + 1, at - 15, i == 9 ? at + 500 : at, {on_device(Activity::run, 1, at - 12, at - 4)});
  }
  EXPECT_LT(statistics.fps(), 20);
  statistics.trim(2);
  ASSERT_EQ(statistics.frames().size(), 6u);
  EXPECT_EQ(statistics.frames().front().number, 3);
  EXPECT_EQ(statistics.frames().back().number, 8);
  EXPECT_NEAR(statistics.fps(), 100, 1e-9);
  EXPECT_EQ(statistics.latencies().size(), 6u);
  EXPECT_NEAR(statistics.latencies().back(), 0.015, 1e-12);
  EXPECT_NEAR(statistics.row_seconds()[2], 0.008, 1e-12);
  // The device worked on the ninth frame before the eighth was delivered.
  EXPECT_NEAR(statistics.utilisation(1, 1), 0.8, 1e-12);
  EXPECT_NEAR(statistics.overlap_factor(), 0.8, 1e-12);
}

TEST(TraceStatistics, TrimKeepsTwoFrames) {
  TraceStatistics statistics = three_frames();
  statistics.trim(1);
  EXPECT_EQ(statistics.frames().size(), 3u) << "one frame has no rate";
  statistics.trim(0);
  EXPECT_EQ(statistics.frames().size(), 3u);
}

TEST(TraceStatistics, EmptyRun) {
  TraceStatistics statistics;
  EXPECT_EQ(statistics.fps(), 0);  // not even begun
  statistics.begin(kInfo);
  statistics.trim(3);
  EXPECT_EQ(statistics.seconds(), 0);
  EXPECT_EQ(statistics.fps(), 0);
  EXPECT_TRUE(statistics.latencies().empty());
  EXPECT_EQ(statistics.row_seconds(), std::vector<double>(6, 0.0));
  EXPECT_EQ(statistics.row_work(), std::vector<double>(6, 0.0));
  EXPECT_EQ(statistics.overlap_factor(), 0);
  EXPECT_EQ(statistics.overlap().size(), 6u);
  EXPECT_EQ(statistics.utilisation(0, 2), 0);
  EXPECT_EQ(statistics.utilisation(1, 2), 0);
  FrameCosts costs;
  costs.stages.resize(2);
  statistics.add_to(costs);
  EXPECT_EQ(costs.stages[0].cpu, -1);
  EXPECT_EQ(costs.stages[1].device, -1);
}

TEST(TraceStatistics, OneFrame) {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  add(statistics, 1, 0, 10, {decode(0, 1), cpu(0, 1, 4, 6), output(4, 5)});
  EXPECT_EQ(statistics.seconds(), 0);
  EXPECT_EQ(statistics.fps(), 0);
  EXPECT_EQ(statistics.latencies(), std::vector<double>{0.010});
  EXPECT_NEAR(statistics.row_seconds()[1], 0.003, 1e-12);
  EXPECT_EQ(statistics.overlap_factor(), 0);
  EXPECT_EQ(statistics.utilisation(0, 2), 0);
}

TEST(TraceStatistics, BeginForgetsTheRunBefore) {
  TraceStatistics statistics = three_frames();
  statistics.trim(0);
  statistics.begin(kInfo);
  EXPECT_TRUE(statistics.frames().empty());
  EXPECT_EQ(statistics.row_seconds(), std::vector<double>(6, 0.0));
}

TEST(TraceStatistics, CostsAreMedians) {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  const int cpu_ms[] = {3, 100, 4, 5, 1};  // the second frame was disturbed
  for (int i = 0; i < 5; ++i) {
    const std::int64_t at = 1000 * i;
    // Two parts of the device's stage, and two copies in, count as one.
    add(statistics, i + 1, at, at + 200,
        {cpu(0, at, at + cpu_ms[i], 2 * cpu_ms[i]), on_device(Activity::upload, 1, at + 120, at + 121),
         on_device(Activity::upload, 1, at + 121, at + 123), on_device(Activity::run, 1, at + 130, at + 132),
         on_device(Activity::run, 1, at + 140, at + 143), on_device(Activity::wait, 1, at + 143, at + 150),
         on_device(Activity::download, 1, at + 150, at + 151 + i)});
  }
  FrameCosts costs;
  costs.stages.resize(2);
  costs.stages[0].device = 0.5;
  costs.stages[1].cpu = 0.25;
  statistics.add_to(costs);
  EXPECT_NEAR(costs.stages[0].cpu, 0.004, 1e-12);
  EXPECT_NEAR(costs.stages[0].work, 0.008, 1e-12);
  EXPECT_EQ(costs.stages[0].device, 0.5) << "what the run does not show stays";
  EXPECT_EQ(costs.stages[0].upload, 0);
  EXPECT_EQ(costs.stages[1].cpu, 0.25);
  EXPECT_NEAR(costs.stages[1].device, 0.005, 1e-12);
  EXPECT_NEAR(costs.stages[1].upload, 0.003, 1e-12);
  EXPECT_NEAR(costs.stages[1].download, 0.003, 1e-12);
}

TEST(TraceStatistics, StagesSideBySideOnADeviceShareItsTime) {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  // 2 ms alone, 4 ms beside the other, which then has 1 ms for itself.
  add(statistics, 1, 0, 10, {on_device(Activity::run, 0, 1, 7), on_device(Activity::run, 1, 3, 8)});
  FrameCosts costs;
  costs.stages.resize(2);
  statistics.add_to(costs);
  EXPECT_DOUBLE_EQ(costs.stages[0].device, 0.004);
  EXPECT_DOUBLE_EQ(costs.stages[1].device, 0.003);
}

// A batch of two: one run of the stage for both frames.
TEST(TraceStatistics, FramesOfABatchShareItsTime) {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  Span batch = on_device(Activity::run, 0, 2, 8);
  batch.frames = 2;
  add(statistics, 1, 0, 10, {decode(0, 1), batch});
  add(statistics, 2, 1, 12, {decode(1, 2), batch});
  EXPECT_NEAR(statistics.row_seconds()[1], 0.003, 1e-9);
}

// Batches of four every 40 ms: 100 frames/s, whatever part of the first and last batch counts.
TEST(TraceStatistics, RateOfBursts) {
  for (const std::size_t left_out : {0, 1, 2, 3, 4}) {
    TraceStatistics statistics;
    statistics.begin(kInfo);
    for (int i = 0; i < 48; ++i) add(statistics, i + 1, 0, 40 * (i / 4), {});
    statistics.trim(left_out);
    EXPECT_NEAR(statistics.fps_of_bursts(), 100, 2);
  }
  EXPECT_EQ(TraceStatistics().fps_of_bursts(), 0);
}

TEST(TraceStatistics, CostsOfAnEvenNumberOfFrames) {
  TraceStatistics statistics;
  statistics.begin(kInfo);
  for (const std::int64_t ms : {2, 40, 1, 4}) add(statistics, ms, 0, ms, {cpu(0, 0, ms, ms)});
  FrameCosts costs;
  costs.stages.resize(2);
  statistics.add_to(costs);
  EXPECT_NEAR(costs.stages[0].cpu, 0.003, 1e-12);
}

// A simulated run of 60 frames: whatever the times, the sums must fit together.
TEST(TraceStatistics, SimulatedRunsFitTogether) {
  for (const test::Plan& plan : test::made_up_plans()) {
    SCOPED_TRACE(plan.name);
    TraceStatistics statistics;
    statistics.begin(test::made_up_info(plan.slots));
    for (const test::MadeUpFrame& frame : test::simulate(plan, 60)) statistics.accept(frame.whole());
    statistics.trim(5);
    EXPECT_EQ(statistics.frames().size(), 50u);
    const std::vector<double> rows = statistics.row_seconds();
    const auto overlap = statistics.overlap();
    double sum = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      sum += overlap[row][row];
      EXPECT_GE(overlap[row][row], 0);
      EXPECT_LE(overlap[row][row], 1 + 1e-9);
      // A row's busy time is at most its frames' sum; more of them cannot be at work at once.
      EXPECT_LE(overlap[row][row], rows[row] * statistics.fps() * 1.1 + 1e-9) << row;
      for (std::size_t other = 0; other < rows.size(); ++other)
        EXPECT_LE(overlap[row][other], std::min(overlap[row][row], overlap[other][other]) + 1e-9);
    }
    EXPECT_NEAR(statistics.overlap_factor(), sum, 1e-9);
    // Little's law: frames in flight are rate times latency.
    double mean = 0;
    for (const double latency : statistics.latencies()) mean += latency / 50;
    EXPECT_NEAR(statistics.fps() * mean, plan.slots, 0.1 * plan.slots);
  }
}

TEST(Median, OfOddAndEvenNumbers) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1}), 5);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({4, 9, 1, 2}), 3);
}

TEST(Median, Percentiles) {
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(percentile(hundred, 0.50), 50);
  EXPECT_EQ(percentile(hundred, 0.95), 95);
  EXPECT_EQ(percentile(hundred, 0.99), 99);
  EXPECT_EQ(percentile(hundred, 1), 100);
  EXPECT_EQ(percentile(hundred, 0), 1);
  EXPECT_EQ(percentile({3}, 0.5), 3);
  EXPECT_EQ(percentile({}, 0.5), 0);
}

}  // namespace
}  // namespace sightline::pipeline
