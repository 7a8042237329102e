// The pipeline as a library, with a detector that does as the test says.

#include "pipeline/session/sources.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "pipeline/runs/reader_source.hpp"
#include "support/media.hpp"
#include "support/pipeline.hpp"
#include "support/program.hpp"

namespace sightline::pipeline {
namespace {

using test::Collector;
using test::expect_ordered;
using test::FakeDetector;
using test::NumberedSource;
using test::on_cpu;
using test::run;
using testing::HasSubstr;

RunReport run_file(Pipeline& pipeline, const std::string& input, Collector& collector) {
  media::Reader reader(input);
  ReaderSource source(reader);
  return test::run(pipeline, source, collector);
}

TEST(Pipeline, KeepsOrderWhateverFramesTake) {
  struct Case {
    int threads, in_flight;
  };
  for (const Case c : {Case{1, 1}, {1, 4}, {2, 2}, {4, 8}, {0, 0}}) {
    FakeDetector detector;
    std::mutex mutex;
    std::mt19937 random(7);
    detector.on_stage = [&](std::size_t, int) {
      int microseconds = 0;
      {
        const std::lock_guard lock(mutex);
        microseconds = std::uniform_int_distribution<int>(0, 3000)(random);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    };
    Pipeline pipeline(detector, nullptr, on_cpu(c.in_flight), {c.threads});
    const RunReport report = test::run_in_order(pipeline, 60);
    EXPECT_EQ(report.frames, 60);
    EXPECT_EQ(report.objects, 60);
    EXPECT_EQ(report.failed, 0);
    EXPECT_FALSE(report.stopped);
    EXPECT_LE(detector.workspaces(), pipeline.schedule().in_flight);
    EXPECT_LE(detector.most_at_once(), pipeline.threads());
    EXPECT_LE(detector.most_at_once(), pipeline.schedule().in_flight);
  }
}

TEST(Pipeline, FramesAreWorkedOnAtOnce) {
  FakeDetector detector;
  // A frame waits for another one beside it, however busy the machine is.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  detector.on_stage = [&](std::size_t, int) {
    while (detector.most_at_once() < 2 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  Pipeline pipeline(detector, nullptr, on_cpu(4), {2});
  EXPECT_EQ(pipeline.threads(), 2);
  EXPECT_EQ(pipeline.schedule().in_flight, 4);
  Collector collector;
  NumberedSource source(40);
  run(pipeline, source, collector);
  EXPECT_EQ(detector.most_at_once(), 2);
  EXPECT_EQ(detector.workspaces(), 4);
}

TEST(Pipeline, ReadsFiles) {
  FakeDetector detector;
  Pipeline pipeline(detector, nullptr, on_cpu(3), {2});
  Collector collector;
  const RunReport report = run_file(
      pipeline, "lavfi:nullsrc=size=32x32:rate=10,format=gray,geq=lum=N,trim=end_frame=20", collector);
  expect_ordered(collector.results, 20);
  EXPECT_EQ(report.frames, 20);
  EXPECT_EQ(report.decode_errors, 0);
}

TEST(Pipeline, FrameThatFailsIsReportedAndTheRunGoesOn) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t stage, int index) {
    if (stage == 1 && index % 4 == 1) throw std::runtime_error("no luck with " + std::to_string(index));
  };
  Pipeline pipeline(detector, nullptr, on_cpu(3), {2});
  Collector collector;
  NumberedSource source(20);
  const RunReport report = run(pipeline, source, collector);
  expect_ordered(collector.results, 20);
  EXPECT_EQ(report.failed, 5);
  EXPECT_EQ(report.objects, 15);
  EXPECT_EQ(report.first_failure, "no luck with 1");
  for (const FrameResult& result : collector.results) {
    const bool failed = (result.frame - 1) % 4 == 1;
    EXPECT_EQ(result.status, failed ? FrameStatus::failed : FrameStatus::ok);
    EXPECT_EQ(result.message, failed ? "no luck with " + std::to_string(result.frame - 1) : "");
    EXPECT_EQ(result.objects.size(), failed ? 0u : 1u);
  }
}

TEST(Pipeline, FramesThatAreTooSmallAreSkipped) {
  FakeDetector detector;
  detector.skip_every = 3;
  Pipeline pipeline(detector, nullptr, on_cpu(3), {2});
  Collector collector;
  NumberedSource source(10);
  const RunReport report = run(pipeline, source, collector);
  EXPECT_EQ(report.skipped, 4);
  expect_ordered(collector.results, 10);
  EXPECT_EQ(collector.results[3].status, FrameStatus::skipped);
  EXPECT_THAT(collector.results[3].message, HasSubstr("smaller"));
}

TEST(Pipeline, ErrorOfASinkEndsTheRunAndTheSlotsServeAgain) {
  FakeDetector detector;
  Pipeline pipeline(detector, nullptr, on_cpu(4), {2});
  for (int round = 0; round < 5; ++round) {
    Collector broken;
    broken.fail_at = 3 * round;
    sightline::test::expect_error(ExitCode::failed, "the sink is full", [&] {
      NumberedSource source(50);
      run(pipeline, source, broken);
    });
    expect_ordered(broken.results, static_cast<std::size_t>(3 * round));
    Collector whole;
    NumberedSource source(30);
    EXPECT_EQ(run(pipeline, source, whole).frames, 30);
    expect_ordered(whole.results, 30);
  }
  EXPECT_LE(detector.workspaces(), 4) << "slots were made anew";
}

TEST(Pipeline, ErrorOfTheSourceArrives) {
  sightline::test::TempDir folder;
  for (int i = 0; i < 150; ++i) {
    media::test::make_clip(folder / ("p" + std::to_string(i) + ".pgm"),
                           "color=gray:size=32x32:rate=1:duration=1");
    if (i == 2) break;
  }
  for (int i = 3; i < 150; ++i) media::test::store(folder / ("p" + std::to_string(i) + ".pgm"), "no picture");
  FakeDetector detector;
  Pipeline pipeline(detector, nullptr, on_cpu(2), {2});
  Collector collector;
  media::test::expect_error(ExitCode::input, "p3.pgm", [&] { run_file(pipeline, folder.path(), collector); });
  EXPECT_LE(collector.results.size(), 3u);
}

TEST(Pipeline, StopsOnRequest) {
  FakeDetector detector;
  Pipeline pipeline(detector, nullptr, on_cpu(4), {2});
  std::atomic<bool> stop{false};
  Collector collector;
  NumberedSource source(200);
  Stream stream{&source, "numbers", {&collector}, {}};
  stream.on_progress = [&](const Progress& progress) { stop = progress.frames >= 10; };
  const RunReport report = pipeline.run(stream, {&stop, {}});
  EXPECT_TRUE(report.stopped);
  EXPECT_GE(report.frames, 10);
  EXPECT_LE(report.frames, 10 + 4);  // what was in flight is still delivered
  expect_ordered(collector.results, static_cast<std::size_t>(report.frames));
  EXPECT_EQ(collector.results[0].source, "numbers");
}

TEST(Pipeline, ReportsStagesByName) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t stage, int) {
    if (stage == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  Pipeline pipeline(detector, nullptr, on_cpu(1), {1});
  Collector collector;
  std::vector<std::int64_t> progress;
  NumberedSource source(5);
  Stream stream{&source, "numbers", {&collector}, {}};
  stream.on_progress = [&](const Progress& p) { progress.push_back(p.frames); };
  RunReport report = pipeline.run(stream);
  ASSERT_EQ(report.stages.size(), 4u);
  EXPECT_EQ(report.stages[0].name, "decode");
  EXPECT_EQ(report.stages[1].name, "first");
  EXPECT_EQ(report.stages[2].name, "second");
  EXPECT_EQ(report.stages[3].name, "output");
  EXPECT_GE(report.stages[2].seconds, 5 * 0.002);
  EXPECT_GE(report.seconds, report.stages[2].seconds);
  EXPECT_EQ(progress, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));

  const RunReport once = report;
  report.add(once);
  EXPECT_EQ(report.frames, 10);
  EXPECT_EQ(report.stages[2].seconds, 2 * once.stages[2].seconds);
}

}  // namespace
}  // namespace sightline::pipeline
