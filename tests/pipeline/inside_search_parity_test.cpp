// A detector inside the boxes of another: the same under every schedule, with the outer one's stages on a
// device or not.

#include <gtest/gtest.h>

#include "detection/inside_search.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/filterbank/detector.hpp"
#include "support/filterbank.hpp"
#include "support/same_boxes.hpp"

namespace sightline::pipeline {
namespace {

using filterbank::ClassifierKind;

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

class InsideSearchParity : public testing::Test, public test::SameBoxes {
 protected:
  InsideSearchParity() {
    detector_ =
        std::make_unique<CompositeDetector>(CompositeBranch(make_outer(), make_inside_search(inside())));
    for (const Size size : {Size{140, 101}, {65, 190}, {20, 90}, {140, 101}, {97, 64}})
      add_frame(sightline::test::random_picture(size, static_cast<unsigned>(frames_.size()) + 5));
    int inner = 0;
    for (const auto& frame : expected_) {
      for (const Detection& one : frame) inner += one.label == 1;
    }
    EXPECT_GT(inner, 20);
  }
};

TEST_F(InsideSearchParity, OnTheCpu) {
  for (const int threads : {1, 2, 5}) {
    for (const int in_flight : {1, 4}) expect_the_same(nullptr, test::on_cpu(in_flight), {threads});
  }
}

TEST_F(InsideSearchParity, WithOuterStagesOnADevice) {
  const std::unique_ptr<DeviceStages> device = make_stages();
  if (!device) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  for (const std::string_view name : {"gpu", "specialized", "overlap", "split"})
    expect_the_same(device.get(), named_schedule(name, *detector_, device.get(), 2), {2});
  const ScheduleRequest inside_on_device{"cpu", "inside=gpu", 0, 0, ""};
  EXPECT_THROW(resolve(inside_on_device, *detector_, device.get(), 2), Error);
}

}  // namespace
}  // namespace sightline::pipeline
