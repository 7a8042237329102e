// In steady state a frame of the WaldBoost detector asks for no memory but what its result takes.
#include <gtest/gtest.h>

#include <cstdio>

#include "allocations/allocations.hpp"
#include "detectors/waldboost/detector.hpp"
#include "support/cascade.hpp"
#include "support/waldboost.hpp"

namespace sightline::waldboost {
namespace {

// Of a frame, once every thread has had its share of frames.
double allocations_a_frame(const WaldboostDetector& detector) {
  constexpr int kWarm = 20, kFrames = 50;
  const Image<std::uint8_t> picture = cascade::make_picture({120, 90}, 5);
  const auto workspace = detector.make_workspace();
  std::int64_t before = 0;
  for (int frame = 0; frame < kWarm + kFrames; ++frame) {
    if (frame == kWarm) before = test::allocations;
    detector.prepare(*workspace, PictureView(picture.view()));
    for (std::size_t stage = kPyramid; stage <= kGroup; ++stage) detector.run_stage(stage, *workspace);
    detector.take_detections(*workspace);
  }
  return static_cast<double>(test::allocations - before) / kFrames;
}

TEST(WaldboostAllocations, NoneAFrameButTheResult) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "this build's memory allocation cannot be counted";
  for (const FeatureKind kind : kFeatureKinds) {
    SCOPED_TRACE(to_string(kind));
    const Model model = test::random_waldboost(3, 30, {24, 24}, kind);
    Options options;
    options.threshold = options.window_threshold = 1e6;
    const double nothing = allocations_a_frame(WaldboostDetector(model, options));
    options.threshold = options.window_threshold = -1e6;
    const double objects = allocations_a_frame(WaldboostDetector(model, options));
    std::printf("%s: %g allocations a frame without objects, %g with some\n", to_string(kind), nothing,
                objects);
    // TBB's pools of tasks grow now and then.
    EXPECT_LT(nothing, 0.2);
    // The result, and the lists that boxes are grouped in, which double a few times.
    EXPECT_LT(objects, 32);
    EXPECT_GE(objects, 1) << "nothing is counted";
  }
}

}  // namespace
}  // namespace sightline::waldboost
