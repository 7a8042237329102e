// Several sources through one pipeline.

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <deque>
#include <thread>

#include "support/pipeline.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using test::Collector;
using test::expect_ordered;
using test::FakeDetector;
using test::NumberedSource;
using testing::HasSubstr;

// Sources, their sinks and the streams of both.
struct Running {
  explicit Running(const std::vector<std::int64_t>& counts) : collectors(counts.size()) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sources.emplace_back(counts[i]);
      streams.push_back({&sources[i], "source " + std::to_string(i), {&collectors[i]}, {}});
    }
  }
  std::deque<NumberedSource> sources;
  std::deque<Collector> collectors;
  std::vector<Stream> streams;
};

TEST(PipelineStreams, EachHasItsOrderAndReport) {
  for (const int in_flight : {1, 2, 4, 9}) {
    FakeDetector detector;
    detector.skip_every = 10;
    detector.on_stage = [](std::size_t, int index) {
      std::this_thread::sleep_for(std::chrono::microseconds((index % 4) * 100));
    };
    Pipeline pipeline(detector, nullptr, test::on_cpu(in_flight), {3});
    Running setup({70, 0, 31, 1});
    std::array<std::int64_t, 4> progress{};
    for (std::size_t i = 0; i < 4; ++i)
      setup.streams[i].on_progress = [&, i](const Progress& p) { progress[i] = p.frames; };
    const std::vector<RunReport> reports = pipeline.run(setup.streams);
    ASSERT_EQ(reports.size(), 4u);
    const std::array<std::size_t, 4> counts{70, 0, 31, 1};
    for (std::size_t i = 0; i < 4; ++i) {
      expect_ordered(setup.collectors[i].results, counts[i]);
      EXPECT_EQ(reports[i].frames, static_cast<std::int64_t>(counts[i]));
      EXPECT_EQ(reports[i].skipped, static_cast<std::int64_t>((counts[i] + 9) / 10));
      EXPECT_EQ(progress[i], static_cast<std::int64_t>(counts[i]));
      for (const FrameResult& result : setup.collectors[i].results)
        EXPECT_EQ(result.source, "source " + std::to_string(i));
    }
  }
}

TEST(PipelineStreams, EqualOnesAdvanceTogether) {
  for (const int in_flight : {2, 4, 6}) {
    FakeDetector detector;
    detector.on_stage = [](std::size_t, int) { std::this_thread::sleep_for(500us); };
    Pipeline pipeline(detector, nullptr, test::on_cpu(in_flight), {2});
    Running setup({80, 80});
    std::mutex mutex;
    std::array<std::int64_t, 2> read{};
    std::int64_t furthest = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      setup.sources[i].on_read = [&, i](std::int64_t number) {
        const std::lock_guard lock(mutex);
        read[i] = number;
        furthest = std::max(furthest, std::abs(read[0] - read[1]));
      };
    }
    pipeline.run(setup.streams);
    for (const Collector& collector : setup.collectors) expect_ordered(collector.results, 80);
    EXPECT_LT(furthest, 40) << "one had half its frames before the other began";
  }
}

// A source that gives nothing does not keep the others from their part.
TEST(PipelineStreams, SlowOneHoldsNobodyUp) {
  FakeDetector detector;
  Pipeline pipeline(detector, nullptr, test::on_cpu(4), {2});
  Running setup({3, 400});
  std::atomic<std::int64_t> others{0};
  setup.sources[0].on_read = [&](std::int64_t) {
    for (int i = 0; i < 5000 && others < 400; ++i) std::this_thread::sleep_for(1ms);
  };
  setup.collectors[1].on_result = [&](const FrameResult&) { ++others; };
  pipeline.run(setup.streams);
  EXPECT_EQ(others, 400);
  expect_ordered(setup.collectors[0].results, 3);
  expect_ordered(setup.collectors[1].results, 400);
}

TEST(PipelineStreams, ErrorOfOneEndsAll) {
  for (const bool in_source : {true, false}) {
    for (const int at : {0, 1, 13}) {
      FakeDetector detector;
      detector.on_stage = [](std::size_t, int) { std::this_thread::sleep_for(50us); };
      Pipeline pipeline(detector, nullptr, test::on_cpu(4), {2});
      Running setup({100'000, 100'000, 100'000});
      if (in_source) {
        setup.sources[1].on_read = [at](std::int64_t number) {
          if (number > at) throw Error(ExitCode::input, "the source is dry");
        };
      } else {
        setup.collectors[1].fail_at = at;
      }
      try {
        pipeline.run(setup.streams);
        ADD_FAILURE() << "the error did not arrive";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(in_source ? "the source is dry" : "the sink is full"));
      }
      for (const Collector& collector : setup.collectors) {
        expect_ordered(collector.results, collector.results.size());
        EXPECT_LT(collector.results.size(), 50'000u);
      }
      // The pipeline serves again.
      Collector whole;
      NumberedSource source(20);
      EXPECT_EQ(test::run(pipeline, source, whole).frames, 20);
      expect_ordered(whole.results, 20);
    }
  }
}

TEST(PipelineStreams, StopEndsAll) {
  FakeDetector detector;
  Pipeline pipeline(detector, nullptr, test::on_cpu(4), {2});
  Running setup({1'000'000, 1'000'000});
  std::atomic<bool> stop{false};
  setup.collectors[1].on_result = [&](const FrameResult& result) { stop = stop || result.frame == 30; };
  const std::vector<RunReport> reports = pipeline.run(setup.streams, {&stop, {}});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(reports[i].stopped);
    EXPECT_EQ(reports[i].frames, setup.sources[i].delivered());
    expect_ordered(setup.collectors[i].results, static_cast<std::size_t>(setup.sources[i].delivered()));
  }
}

}  // namespace
}  // namespace sightline::pipeline
