// A detector inside the boxes of another: the same under every schedule, with the outer one's stages on a
// device or not.

#include <gtest/gtest.h>

#include "detection/inside_search.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/filterbank/detector.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/filterbank.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline {
namespace {

using filterbank::ClassifierKind;
using test::Collector;

// Finds windows whose left half is brighter than their right.
cascade::Model left_is_brighter() {
  cascade::Model model;
  model.window = {12, 12};
  model.name = "left";
  cascade::HaarFeature halves;
  halves.rects = {cascade::Rect{0, 0, 12, 12}, cascade::Rect{0, 0, 6, 12}, cascade::Rect{}};
  halves.weights = {-1, 2, 0};
  model.haar = {halves};
  model.stages = {{0, 1, 0.5F}};
  model.trees = {{0, 1, 0}};
  model.nodes = {{0, 0.1F, 0, -1}};
  model.leaves = {0, 1};
  return model;
}

std::unique_ptr<Detector> make_outer() {
  filterbank::Options options;
  options.scale_step = 1.4;
  options.threshold = -3;
  return std::make_unique<filterbank::FilterbankDetector>(
      sightline::test::random_model(6, 11, ClassifierKind::linear, 1), options);
}

std::unique_ptr<Detector> make_inner() {
  cascade::Options options;
  options.min_neighbors = 1;
  return std::make_unique<cascade::CascadeDetector>(left_is_brighter(), options);
}

std::vector<InsideDetector> inside() {
  std::vector<InsideDetector> all;
  all.push_back({make_inner(), {-0.1, 0, 1.1, 0.6}});
  return all;
}

class InsideSearchParity : public testing::Test {
 protected:
  void SetUp() override {
    const auto workspace = detector_.make_workspace();
    for (const Size size : {Size{140, 101}, {65, 190}, {20, 90}, {140, 101}, {97, 64}}) {
      const auto picture = sightline::test::random_picture(size, static_cast<unsigned>(frames_.size()) + 5);
      frames_.push_back(media::frame_from_gray(picture.view()));
      expected_.push_back(detect(detector_, *workspace, picture.view()));
      for (const Detection& one : expected_.back()) inner_ += one.label == 1;
    }
    ASSERT_GT(inner_, 20);
    for (const opencl::DeviceInfo& device : opencl::list_devices()) {
      if (device.correctly_rounded_divide_sqrt && device.compiler_available && !device_)
        device_ = make_device_stages(detector_, opencl::ChosenDevice{device, 0, "test"});
    }
  }

  void expect_same(const Schedule& schedule, int threads) {
    SCOPED_TRACE(describe(schedule, detector_) + ", " + std::to_string(threads) + " threads");
    Pipeline pipeline(detector_, device_.get(), schedule, {threads});
    Collector collector;
    MemorySource source(frames_, 3 * static_cast<std::int64_t>(frames_.size()));
    const RunReport report = test::run(pipeline, source, collector);
    EXPECT_EQ(report.retried, 0);
    EXPECT_EQ(report.failed, 0) << report.first_failure;
    ASSERT_EQ(collector.results.size(), 3 * frames_.size());
    for (std::size_t k = 0; k < collector.results.size(); ++k)
      ASSERT_EQ(collector.results[k].objects, expected_[k % frames_.size()]) << "frame " << k + 1;
  }

  CompositeDetector detector_{CompositeBranch(make_outer(), make_inside_search(inside()))};
  std::vector<media::Frame> frames_;
  std::vector<std::vector<Detection>> expected_;
  int inner_ = 0;
  std::unique_ptr<DeviceStages> device_;
};

TEST_F(InsideSearchParity, OnTheCpu) {
  for (const int threads : {1, 2, 5}) {
    for (const int in_flight : {1, 4}) expect_same(test::on_cpu(in_flight), threads);
  }
}

TEST_F(InsideSearchParity, WithOuterStagesOnADevice) {
  if (!device_) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  for (const std::string_view name : {"gpu", "specialized", "overlap", "split"})
    expect_same(named_schedule(name, detector_, device_.get(), 2), 2);
  const ScheduleRequest inside_on_device{"cpu", "inside=gpu", 0, 0, ""};
  EXPECT_THROW(resolve(inside_on_device, detector_, device_.get(), 2), Error);
}

}  // namespace
}  // namespace sightline::pipeline
