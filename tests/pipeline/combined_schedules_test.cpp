// Two detectors on the same frames, through the pipeline: under every schedule, on one device and on two,
// each finds what it finds alone.
#include <gtest/gtest.h>

#include "detection/combined_detector.hpp"
#include "filterbank/detector.hpp"
#include "pipeline/planner.hpp"
#include "support/filterbank.hpp"
#include "support/pipeline.hpp"
#include "support/waldboost.hpp"
#include "waldboost/detector.hpp"

namespace sightline::pipeline {
namespace {

using test::Collector;

class CombinedSchedules : public testing::Test {
 protected:
  CombinedSchedules() {
    waldboost::Options faces;
    faces.scale_step = 1.2;
    faces.threshold = faces.window_threshold = -1e6;
    filterbank::Options people;
    people.scale_step = 1.5;
    people.threshold = -10;
    std::vector<std::unique_ptr<Detector>> both;
    both.push_back(
        std::make_unique<filterbank::FilterbankDetector>(sightline::test::random_model(5, 3), people));
    both.push_back(
        std::make_unique<waldboost::WaldboostDetector>(sightline::test::random_waldboost(3, 30), faces));
    detector_ = std::make_unique<CombinedDetector>(std::move(both));
    const auto workspace = detector_->make_workspace();
    for (const Size size : {Size{130, 110}, {130, 110}, {30, 28}, {130, 110}, {97, 120}}) {
      const auto picture = sightline::test::random_picture(size, static_cast<unsigned>(frames_.size()) + 1);
      frames_.push_back(media::frame_from_gray(picture.view()));
      expected_.push_back(detect(*detector_, *workspace, picture.view()));
    }
  }

  void expect_the_same(const Devices& devices, const Schedule& schedule) {
    SCOPED_TRACE(describe(schedule, *detector_));
    Pipeline pipeline(*detector_, devices, schedule);
    constexpr std::size_t kFrames = 15;
    MemorySource source(frames_, kFrames);
    Collector kept;
    const RunReport report = test::run(pipeline, source, kept);
    EXPECT_EQ(report.retried, 0);
    ASSERT_EQ(kept.results.size(), kFrames);
    for (std::size_t i = 0; i < kFrames; ++i)
      EXPECT_EQ(kept.results[i].objects, expected_[i % expected_.size()]) << "frame " << i;
  }

  std::unique_ptr<CombinedDetector> detector_;
  std::vector<media::Frame> frames_;
  std::vector<std::vector<Detection>> expected_;
};

TEST_F(CombinedSchedules, AllFindTheSame) {
  std::vector<std::unique_ptr<DeviceStages>> stages;
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    if (!stages.empty() || !device.correctly_rounded_divide_sqrt || !device.compiler_available) continue;
    for (int i = 0; i < 2; ++i) stages.push_back(detector_->make_device_stages({device, 0, "", {}}));
  }
  if (stages.empty()) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  const Devices one(stages.front().get());
  const Devices two({stages[0].get(), stages[1].get()});
  for (const std::string_view name : schedule_names()) {
    expect_the_same(one, named_schedule(name, *detector_, one, 2));
    expect_the_same(two, named_schedule(name, *detector_, two, 2));
  }
  // The device has one of them, the CPU the other.
  for (const auto& [first, second] : {std::pair{0, 1}, {4, 5}}) {
    Schedule schedule = test::on_cpu(3);
    schedule.on_device.set(static_cast<std::size_t>(first)).set(static_cast<std::size_t>(second));
    expect_the_same(one, schedule);
  }
}

}  // namespace
}  // namespace sightline::pipeline
