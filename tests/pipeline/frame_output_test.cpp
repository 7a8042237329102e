// The pipeline runs whatever leaves a result: a processor of histograms, through every schedule, gives the
// same bits, on the CPU, on devices, on both, and where a device fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "media/reader.hpp"
#include "opencl/error.hpp"
#include "pipeline/histogram_processor.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/planning/trace_statistics.hpp"
#include "support/filterbank.hpp"
#include "support/log_capture.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline {
namespace {

using test::Collector;
using test::Histogram;
using test::HistogramOutput;
using test::HistogramProcessor;
using test::HistogramStages;

Histogram histogram_of(GrayView picture) {
  Histogram counts{};
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) ++counts[picture.at(x, y)];
  }
  return counts;
}

std::vector<opencl::DeviceInfo> usable_devices() {
  std::vector<opencl::DeviceInfo> usable;
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    if (device.compiler_available && device.platform != "Oclgrind") usable.push_back(device);
  }
  return usable;
}

Histogram histogram_of(PictureView picture, int colour) {
  Image<std::uint8_t> rgb(picture.width(), 3 * picture.height());
  to_planar_rgb_reference(picture, rgb.view(), 0, picture.height());
  return histogram_of(colour_plane(std::as_const(rgb).view(), colour));
}

class FrameOutputs : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Size size : {Size{40, 33}, {71, 3}, {71, 3}, {1, 1}, {40, 33}, {64, 50}, {64, 50}, {9, 100}})
      add(size);
  }
  void add(Size size) {
    const auto picture = sightline::test::random_picture(size, static_cast<unsigned>(frames_.size()) + 1);
    frames_.push_back(frame_from_gray(picture.view()));
    expected_.push_back(histogram_of(picture.view()));
  }

  RunReport expect_all(Pipeline& pipeline, int times = 3) {
    Collector collector;
    const auto count = times * static_cast<std::int64_t>(frames_.size());
    MemorySource source(frames_, count);
    const RunReport report = test::run(pipeline, source, collector);
    EXPECT_EQ(collector.results.size(), static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < collector.results.size(); ++i) {
      const FrameResult& result = collector.results[i];
      EXPECT_EQ(result.status, FrameStatus::ok) << result.message;
      EXPECT_TRUE(result.objects.empty());
      if (!result.output) {
        ADD_FAILURE() << "frame " << i + 1 << " has no output";
        continue;
      }
      EXPECT_EQ(result.output->difference(HistogramOutput(expected_[i % frames_.size()])), "") << i + 1;
    }
    EXPECT_EQ(report.failed, 0);
    EXPECT_EQ(report.objects, 256 * count);
    return report;
  }

  // Named ones, all mappings, and partitions of both kinds.
  std::vector<Schedule> schedules(const FrameProcessor& processor, const DeviceStages& stages) const {
    std::vector<Schedule> all;
    for (const std::string_view name : schedule_names())
      all.push_back(named_schedule(name, processor, &stages, 2));
    for (unsigned long bits = 0; bits < 4; ++bits) all.push_back({"custom", StageSet(bits), 3, 0, 0});
    for (const double split : {0.05, 0.3, 0.9}) all.push_back({"split", {}, 2, split, 0});
    return all;
  }

  void expect_the_same_under_all_schedules(const HistogramProcessor& processor) {
    for (const opencl::DeviceInfo& device : usable_devices()) {
      const opencl::Context context({device, 0, "test"});
      const HistogramStages stages(processor, context);
      for (const Schedule& schedule : schedules(processor, stages)) {
        SCOPED_TRACE(device.name + ", " + describe(schedule, processor));
        Pipeline pipeline(processor, &stages, schedule, {2});
        EXPECT_EQ(expect_all(pipeline).retried, 0);
        EXPECT_FALSE(pipeline.device_lost());
      }
    }
  }

  HistogramProcessor processor_;
  std::vector<Frame> frames_;
  std::vector<Histogram> expected_;
};

TEST_F(FrameOutputs, OnTheCpu) {
  for (const int in_flight : {1, 4}) {
    Pipeline pipeline(processor_, nullptr, test::on_cpu(in_flight), {2});
    expect_all(pipeline);
  }
}

TEST_F(FrameOutputs, ThroughEverySchedule) {
  expect_the_same_under_all_schedules(processor_);
}

// Colour of every kind of frame: by reference, converted, and none. Each frame is another format's, so that a
// slot goes from one to the other.
TEST_F(FrameOutputs, ColourThroughEverySchedule) {
  constexpr int kBlue = 2;
  frames_.clear();
  expected_.clear();
  media::ReadOptions options;
  options.keep_colour = true;
  for (const char* format : {"yuv420p", "nv12", "rgb24", "gray", "yuv444p", "bgra", "yuyv422", "yuv420p10le",
                             "gbrp", "nv21", "yuvj422p"}) {
    for (const char* size : {"71x33", "40x50"}) {
      const std::string graph = std::string("lavfi:testsrc=duration=0.1:size=") + size + ",format=" + format;
      frames_.push_back(*media::Reader(graph, options).read());
      expected_.push_back(histogram_of(frames_.back().view(), kBlue));
    }
  }
  const HistogramProcessor blue(kBlue);
  Pipeline pipeline(blue, nullptr, test::on_cpu(4), {2});
  expect_all(pipeline);
  expect_the_same_under_all_schedules(blue);
}

// The stages that a schedule puts on the device have run there.
TEST_F(FrameOutputs, StagesRunWhereTheScheduleSays) {
  for (const opencl::DeviceInfo& device : usable_devices()) {
    const opencl::Context context({device, 0, "test"});
    const HistogramStages stages(processor_, context);
    for (const unsigned long bits : {1UL, 2UL, 3UL}) {
      Pipeline pipeline(processor_, &stages, {"custom", StageSet(bits), 2, 0, 0}, {2});
      const RunReport report = expect_all(pipeline);
      for (const StageTime& time : report.stages) {
        const auto stage = std::ranges::find(processor_.stages(), time.name, &StageInfo::name);
        if (stage == processor_.stages().end()) continue;
        const auto index = static_cast<std::size_t>(stage - processor_.stages().begin());
        EXPECT_EQ(time.processor, StageSet(bits)[index] ? device.name : "CPU") << time.name;
      }
    }
  }
}

TEST_F(FrameOutputs, ScheduleAuto) {
  frames_.clear();
  expected_.clear();
  for (int i = 0; i < 4; ++i) add({120, 90});
  for (const opencl::DeviceInfo& device : usable_devices()) {
    const opencl::Context context({device, 0, "test"});
    const HistogramStages stages(processor_, context);
    Pipeline pipeline(processor_, &stages, test::on_cpu(2), {2});
    PlanOptions options;
    options.trial_seconds = 0.001;
    const Planned planned = plan_schedule(pipeline, processor_, &stages, frames_, options);
    EXPECT_GE(planned.alternatives.size(), 4u + 9u);
    expect_all(pipeline);
    EXPECT_FALSE(pipeline.device_lost());
  }
}

// Frames that a device fails on are retried on the CPU, and so are all that follow.
TEST_F(FrameOutputs, OfADeviceThatFails) {
  const sightline::test::LogCapture log;
  for (const opencl::DeviceInfo& device : usable_devices()) {
    const opencl::Context context({device, 0, "test"});
    HistogramStages stages(processor_, context);
    for (const Schedule& schedule : schedules(processor_, stages)) {
      if (!schedule.uses_device()) continue;
      SCOPED_TRACE(device.name + ", " + describe(schedule, processor_));
      for (const int good : {0, 1, 7}) {
        std::atomic<int> enqueued{0};
        stages.on_enqueue = [&] {
          if (enqueued++ >= good) throw opencl::DeviceError(-5, "submit", device.name);
        };
        Pipeline pipeline(processor_, &stages, schedule, {2});
        EXPECT_GT(expect_all(pipeline).retried, 0);
        EXPECT_TRUE(pipeline.device_lost());
      }
    }
  }
}

TEST_F(FrameOutputs, SayWhereTheyDiffer) {
  Histogram counts{};
  const HistogramOutput none(counts);
  counts[17] = 3;
  const HistogramOutput some(counts);
  FrameResult a, b;
  EXPECT_EQ(difference(a, b), "");
  a.output = std::make_shared<HistogramOutput>(counts);
  EXPECT_NE(difference(a, b), "");
  b.output = std::make_shared<HistogramOutput>(none.counts);
  EXPECT_EQ(difference(a, b), "bin 17: 3, not 0");
  b.output = std::make_shared<HistogramOutput>(some.counts);
  EXPECT_EQ(difference(a, b), "");
}

}  // namespace
}  // namespace sightline::pipeline
