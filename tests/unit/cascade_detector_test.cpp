// The cascade detector: options, shares of a frame, stages scanned, grouping.
#include <gtest/gtest.h>

#include <random>

#include "detectors/cascade/detector.hpp"
#include "detectors/registry.hpp"
#include "support/errors.hpp"

namespace sightline::cascade {
namespace {

// Passes windows whose left part is brighter than their right, by two stages.
Model make_model() {
  Model m;
  m.window = {20, 20};
  m.name = "haarcascade_left";
  HaarFeature halves;
  halves.rects = {Rect{0, 0, 20, 20}, Rect{0, 0, 10, 20}, Rect{}};
  halves.weights = {-1, 2, 0};
  HaarFeature rows = halves;
  rows.rects[1] = {0, 0, 20, 10};
  m.haar = {halves, rows};
  for (int s = 0; s < 2; ++s) {
    m.stages.push_back({s, 1, 0.5F});
    m.trees.push_back({s, 1, 2 * s});
    m.nodes.push_back({s, s == 0 ? 0.02F : 0.3F, 0, -1});
  }
  m.leaves = {0.0F, 1.0F, 1.0F, 0.25F};
  return m;
}

Image<std::uint8_t> make_frame(Size size) {
  Image<std::uint8_t> image(size.width, size.height);
  std::mt19937 random(2);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      image.view().at(x, y) = static_cast<std::uint8_t>((x / 14 + y / 17) % 3 * 90 + random() % 60);
  return image;
}

std::vector<Detection> find(const Options& options, PictureView frame) {
  const CascadeDetector detector(make_model(), options);
  return detect(detector, *detector.make_workspace(), frame);
}

Options all_windows() {
  Options options;
  options.min_neighbors = 0;
  return options;
}

TEST(CascadeDetector, StagesScannedDoNotMatter) {
  const Image<std::uint8_t> frame = make_frame({150, 110});
  Options options = all_windows();
  options.early_stages = 1;
  const auto one = find(options, frame.view());
  options.early_stages = 2;
  EXPECT_EQ(find(options, frame.view()), one);
  EXPECT_GT(one.size(), 100U);
}

TEST(CascadeDetector, SharesFitTogether) {
  const Image<std::uint8_t> frame = make_frame({203, 160});
  const CascadeDetector detector(make_model(), all_windows());
  const auto expected = detect(detector, *detector.make_workspace(), frame.view());
  ASSERT_GT(expected.size(), 100U);
  for (const double cut : {0.0, 0.1, 0.37, 0.5, 0.9, 1.0}) {
    const auto first = detector.make_workspace();
    const auto second = detector.make_workspace();
    ASSERT_TRUE(detector.prepare(*first, frame.view(), {0, cut}));
    ASSERT_TRUE(detector.prepare(*second, frame.view(), {cut, 1}));
    for (std::size_t stage = 0; stage < detector.partitionable_stages(); ++stage) {
      detector.run_stage(stage, *first);
      detector.run_stage(stage, *second);
    }
    detector.merge(*second, *first);
    detector.run_stage(kGroup, *second);
    EXPECT_EQ(detector.take_detections(*second), expected) << cut;
  }
}

TEST(CascadeDetector, AWorkspaceServesFramesOfAllSizes) {
  const CascadeDetector detector(make_model(), all_windows());
  const auto workspace = detector.make_workspace();
  for (const Size size : {Size{100, 80}, Size{300, 200}, Size{19, 50}, Size{20, 20}, Size{100, 80}}) {
    const Image<std::uint8_t> frame = make_frame(size);
    EXPECT_EQ(detect(detector, *workspace, frame.view()), find(all_windows(), frame.view())) << size.width;
  }
}

// Sizes that share the packed cascade, or part of it, after each other: also with tilted sums, whose place
// depends on more of the size.
TEST(CascadeDetector, AWorkspaceServesFramesOfNearlyTheSameSize) {
  for (const bool tilted : {false, true}) {
    Model model = make_model();
    if (tilted) {
      HaarFeature turned;
      turned.rects = {Rect{10, 0, 8, 8}, Rect{10, 0, 4, 8}, Rect{}};
      turned.weights = {-1, 2, 0};
      turned.tilted = model.has_tilted = true;
      model.haar[1] = turned;
      model.nodes[1].threshold = 0;
    }
    const CascadeDetector detector(model, all_windows());
    const auto workspace = detector.make_workspace();
    std::size_t found = 0;
    for (const Size size :
         {Size{150, 110}, Size{151, 110}, Size{150, 140}, Size{140, 90}, Size{220, 110}, Size{150, 110}}) {
      const Image<std::uint8_t> frame = make_frame(size);
      const auto expected = detect(detector, *detector.make_workspace(), frame.view());
      EXPECT_EQ(detect(detector, *workspace, frame.view()), expected) << size.width << "x" << size.height;
      found += expected.size();
    }
    EXPECT_GT(found, 100U);
  }
}

TEST(CascadeDetector, SizesLimitWindows) {
  const Image<std::uint8_t> frame = make_frame({200, 160});
  Options options = all_windows();
  options.search.min_size = {40, 40};
  options.search.max_size = {70, 70};
  const auto found = find(options, frame.view());
  ASSERT_FALSE(found.empty());
  for (const Detection& d : found) {
    EXPECT_GE(d.box.width, 40);
    EXPECT_LE(d.box.width, 70);
  }
}

TEST(CascadeDetector, RefusesOptionsOutOfRange) {
  Options options;
  options.search.scale_step = 1;
  EXPECT_THROW(CascadeDetector(make_model(), options), Error);
  options = {};
  options.min_neighbors = -1;
  EXPECT_THROW(CascadeDetector(make_model(), options), Error);
  options = {};
  options.search.min_size = {50, 50};
  options.search.max_size = {40, 40};
  EXPECT_THROW(CascadeDetector(make_model(), options), Error);
}

TEST(CascadeDetector, AMissingCascadeNamesThePackage) {
  Config config =
      Config::parse("[detector]\nfamily = \"cascade\"\nmodel = \"haarcascade_of_nobody\"\n", "test");
  test::expect_error(ExitCode::model, "opencv-data", [&] { make_detector(config); });
}

ScoredBox at(int x, int y, int side, double margin = 1) {
  return {{x, y, side, side}, margin};
}

TEST(CascadeGrouping, SimilarBoxesBecomeTheirMean) {
  const std::vector<ScoredBox> boxes = {at(10, 10, 40), at(12, 11, 40, 3), at(15, 10, 42), at(90, 90, 40)};
  const auto found = group_boxes(boxes, 2, {200, 200});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].box, (Box{12, 10, 41, 41}));
  EXPECT_DOUBLE_EQ(found[0].score, 3 + 0.75);
  EXPECT_TRUE(group_boxes(boxes, 3, {200, 200}).empty());
}

TEST(CascadeGrouping, WithoutNeighboursEveryBoxIsReportedAndCut) {
  const auto found = group_boxes(std::vector<ScoredBox>{at(90, 90, 40, 0)}, 0, {100, 120});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].box, (Box{90, 90, 10, 30}));
  EXPECT_DOUBLE_EQ(found[0].score, 1);
}

TEST(CascadeGrouping, SmallGroupsInsideLargerOnesGo) {
  std::vector<ScoredBox> boxes;
  for (int i = 0; i < 6; ++i) boxes.push_back(at(50 + i, 50, 100));
  for (int i = 0; i < 2; ++i) boxes.push_back(at(80 + i, 80, 30));
  EXPECT_EQ(group_boxes(boxes, 1, {300, 300}).size(), 1U);
}

TEST(CascadeGrouping, OrderDoesNotMatter) {
  std::mt19937 random(5);
  std::vector<ScoredBox> boxes;
  for (int i = 0; i < 300; ++i) {
    boxes.push_back(at(static_cast<int>(random() % 150), static_cast<int>(random() % 150),
                       20 + static_cast<int>(random() % 40), static_cast<double>(random() % 100)));
  }
  const auto expected = group_boxes(boxes, 1, {250, 250});
  ASSERT_FALSE(expected.empty());
  std::shuffle(boxes.begin(), boxes.end(), random);
  EXPECT_EQ(group_boxes(boxes, 1, {250, 250}), expected);
}

}  // namespace
}  // namespace sightline::cascade
