// Cascades of our own training: OpenCV loads them, and finds what we find.
#include <gtest/gtest.h>

#include <algorithm>

#include "cascade_support.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/cascade/training/training.hpp"
#include "support/temp_dir.hpp"
#include "support/training.hpp"

namespace sightline {
namespace {

using namespace cascade;

struct TrainedKind {
  const char* name;
  FeatureKind kind;
  bool tilted = false;
};

class TrainedCascadeParity : public testing::TestWithParam<TrainedKind> {};

TEST_P(TrainedCascadeParity, BoxesAreThoseOfOpenCv) {
  const test::Crosses data(200, 40);
  const test::TempDir folder;
  TrainingOptions options;
  options.kind = GetParam().kind;
  options.tilted = GetParam().tilted;
  options.window = {20, 20};
  options.stages = 4;
  options.objects = options.windows = 400;
  options.copies = 1;
  options.stage.min_hit_rate = 0.99;
  const TrainedCascade trained =
      train(data.positives, data.negatives, options, folder / "state", [](const auto&) { return true; });
  ASSERT_GE(trained.stages.size(), 2U);
  save_model(trained.model, options.stage, "crosses", folder / "crosses.xml");
  cv::CascadeClassifier classifier;
  ASSERT_TRUE(classifier.load(folder / "crosses.xml"));
  EXPECT_EQ(classifier.getOriginalWindowSize(), cv::Size(20, 20));
  std::size_t windows = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    Image<std::uint8_t> frame = test::random_picture({200, 150}, 500 + seed);
    const Image<std::uint8_t> cross = test::cross_picture(27 + 4 * static_cast<int>(seed), seed);
    for (int y = 0; y < cross.height(); ++y)
      std::copy_n(cross.view().row(y), cross.width(), frame.view().row(30 + y) + 50);
    for (const int neighbors : {0, 3}) {
      Options search;
      search.min_neighbors = neighbors;
      const CascadeDetector detector(load_model(folder / "crosses.xml"), search);
      const auto workspace = detector.make_workspace();
      const std::vector<BoxKey> found = keys_of(detect(detector, *workspace, std::as_const(frame).view()));
      const auto expected = opencv_boxes(classifier, std::as_const(frame).view(), 1.1, neighbors);
      ASSERT_EQ(found, expected) << seed << ", " << neighbors << " neighbours";
      windows += expected.size();
    }
  }
  EXPECT_GT(windows, 50U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TrainedCascadeParity,
                         testing::Values(TrainedKind{"Lbp", FeatureKind::lbp},
                                         TrainedKind{"Haar", FeatureKind::haar},
                                         TrainedKind{"HaarAll", FeatureKind::haar, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sightline
