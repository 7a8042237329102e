// Search inside the boxes of a detector.
#include "detection/inside_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <fstream>

#include "base/error.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/registry.hpp"
#include "image/colour.hpp"
#include "support/filterbank.hpp"

namespace sightline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint8_t kDark = 10;

// Finds every pixel of at least a brightness, as a box of a certain size at it; its score is the brightness.
class PixelDetector : public Detector {
 public:
  PixelDetector(std::string label, int brightness, double side) : brightness_(brightness), side_(side) {
    info_.labels = {std::move(label)};
    info_.model = "pixels of " + std::to_string(brightness);
    info_.plan_key = info_.model;
    info_.smallest_objects = {side};
  }
  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return kResources; }
  std::span<const StageInfo> stages() const override { return kStages; }
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<Own>(); }
  bool prepare(Workspace& workspace, PictureView frame, Partition /*partition*/ = {}) const override {
    static_cast<Own&>(workspace).frame = frame;
    return frame.width() >= 2;
  }
  const Tunable* tunable() const override { return &tunable_; }
  std::vector<WorkCount> count_work(PictureView frame) const override {
    return {{info_.model, frame.width()}};
  }
  void run_stage(std::size_t stage, Workspace& workspace) const override {
    auto& own = static_cast<Own&>(workspace);
    if (stage == 0) {
      own.gray.resize(own.frame.width(), own.frame.height());
      for (int y = 0; y < own.frame.height(); ++y) {
        for (int x = 0; x < own.frame.width(); ++x) {
          own.gray.view().at(x, y) =
              own.frame.is_gray() ? own.frame.gray().at(x, y) : own.frame.colour().row(y)[3 * x];
        }
      }
      return;
    }
    own.found.clear();
    for (int y = 0; y < own.gray.height(); ++y) {
      for (int x = 0; x < own.gray.width(); ++x) {
        const std::uint8_t value = own.gray.view().at(x, y);
        if (value >= brightness_ + own.tuned)  // which a real one would not do
          own.found.push_back(
              {{static_cast<double>(x), static_cast<double>(y), side_, side_}, static_cast<double>(value)});
      }
    }
    std::stable_sort(own.found.begin(), own.found.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
  }
  std::vector<Detection> take_detections(Workspace& workspace) const override {
    return std::move(static_cast<Own&>(workspace).found);
  }

 private:
  static constexpr std::string_view kResources[] = {"frame", "image", "detections"};
  static constexpr StageInfo kStages[] = {{"copy", {0}, {1}}, {"find", {1}, {2}}};
  struct Own : Workspace {
    PictureView frame;
    Image<std::uint8_t> gray;
    std::vector<Detection> found;
  };
  int brightness_;
  double side_;
  DetectorInfo info_;
  Tunable tunable_{"more", 100, {}};
};

constexpr BoxPart kWhole{0, 0, 1, 1};

// Boxes of 10 pixels at pixels of 250.
std::unique_ptr<Detector> boxes() {
  return std::make_unique<PixelDetector>("outer", 250, 10);
}

CompositeDetector inside_of(std::unique_ptr<Detector> outer, std::vector<InsideDetector> inside) {
  return CompositeDetector(CompositeBranch(std::move(outer), make_inside_search(std::move(inside))));
}

// In these boxes, pixels of 100 at least, as boxes of 2.
CompositeDetector pixels_in_boxes(const BoxPart& part = kWhole, const std::string& label = "inner",
                                  std::unique_ptr<Detector> outer = boxes()) {
  std::vector<InsideDetector> inside;
  inside.push_back({std::make_unique<PixelDetector>(label, 100, 2), part});
  return inside_of(std::move(outer), std::move(inside));
}

Image<std::uint8_t> dark(int width, int height) {
  Image<std::uint8_t> image(width, height);
  for (int y = 0; y < height; ++y) std::fill_n(image.view().row(y), width, kDark);
  return image;
}

std::vector<Detection> find(const CompositeDetector& detector, PictureView frame, int tuned = 0) {
  const auto workspace = detector.make_workspace();
  workspace->tuned = tuned;
  return detect(detector, *workspace, frame);
}

TEST(InsideSearch, WhatIsTunedAndCountedIsTheOuterDetectors) {
  auto outer = boxes();
  const Tunable* const tunable = outer->tunable();
  const CompositeDetector detector = pixels_in_boxes(kWhole, "inner", std::move(outer));
  EXPECT_EQ(detector.tunable(), tunable);
  Image<std::uint8_t> frame = dark(30, 20);
  frame.view().at(12, 8) = 252;
  EXPECT_EQ(find(detector, frame.view(), 2).size(), 2U);  // the box, and the pixel in it
  EXPECT_TRUE(find(detector, frame.view(), 3).empty());
  const std::vector<WorkCount> work = detector.count_work(frame.view());
  ASSERT_EQ(work.size(), 1U);
  EXPECT_EQ(work[0].what, "pixels of 250");
  EXPECT_EQ(work[0].count, 30);
}

TEST(Crop, IsAllThatThePartTouchesInTheFrame) {
  const auto expect = [](const Crop& crop, int x, int y, int width, int height) {
    EXPECT_EQ(crop.x, x);
    EXPECT_EQ(crop.y, y);
    EXPECT_EQ(crop.size, (Size{width, height}));
  };
  expect(crop_of({10, 20, 30, 40}, kWhole, {100, 100}), 10, 20, 30, 40);
  expect(crop_of({10.5, 20.5, 30, 40}, kWhole, {100, 100}), 10, 20, 31, 41);
  expect(crop_of({10, 20, 30, 40}, {-0.1, -0.1, 1.1, 1.1}, {100, 100}), 7, 16, 36, 48);
  expect(crop_of({10, 20, 30, 40}, {0, 0.25, 1, 0.5}, {100, 100}), 10, 30, 30, 10);
  expect(crop_of({-5, 80, 30, 40}, kWhole, {100, 100}), 0, 80, 25, 20);
  expect(crop_of({200, 300, 30, 40}, kWhole, {100, 90}), 100, 90, 0, 0);
  expect(crop_of({-1e300, -1e300, 2e300, 2e300}, kWhole, {100, 90}), 0, 0, 100, 90);
}

TEST(Crop, IsAViewOfThePixels) {
  Image<std::uint8_t> gray = dark(20, 10);
  gray.view().at(7, 3) = 77;
  const PictureView part = part_of(gray.view(), 5, 2, {6, 4});
  EXPECT_EQ(part.size(), (Size{6, 4}));
  EXPECT_EQ(&part.gray().at(2, 1), &gray.view().at(7, 3));
  std::vector<std::uint8_t> rgb(20 * 10 * 3);
  // Bottom up, as some files have it.
  const PackedView colour{rgb.data() + 9 * 60, 20, 10, -60, PackedFormat::rgb24};
  const PictureView colour_part = part_of(colour, 5, 2, {6, 4});
  EXPECT_EQ(colour_part.size(), (Size{6, 4}));
  EXPECT_EQ(colour_part.colour().row(1) + 3 * 2, colour.row(3) + 3 * 7);
}

// Wherever a part begins in a sample of chroma, its pixels keep their colour.
TEST(Crop, KeepsTheColourOfThePixels) {
  const Image<std::uint8_t> luma = sightline::test::random_picture({20, 12}, 1);
  const Image<std::uint8_t> u = sightline::test::random_picture({10, 6}, 2);
  const Image<std::uint8_t> v = sightline::test::random_picture({10, 6}, 3);
  ChromaView chroma;
  chroma.u = u.view().data();
  chroma.v = v.view().data();
  chroma.u_stride = u.stride();
  chroma.v_stride = v.stride();
  chroma.weights = yuv_weights(false, false);
  const PictureView whole(luma.view(), chroma);
  Image<std::uint8_t> expected(20, 36), found(6, 12);
  to_planar_rgb(whole, expected.view(), 0, 12);
  for (const auto& [left, top] : {std::pair{0, 0}, {5, 2}, {4, 3}, {13, 7}}) {
    to_planar_rgb(part_of(whole, left, top, {6, 4}), found.view(), 0, 4);
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 6; ++x)
        ASSERT_EQ(found.view().at(x, y), expected.view().at(left + x, y / 4 * 12 + top + y % 4)) << left;
    }
  }
}

TEST(InsideSearch, HasTheStagesOfTheOuterOneAndItsOwn) {
  const CompositeDetector detector = pixels_in_boxes();
  std::vector<std::string_view> names;
  for (const StageInfo& stage : detector.stages()) names.push_back(stage.name);
  EXPECT_THAT(names, ElementsAre("copy", "find", "inside"));
  EXPECT_THAT(detector.info().labels, ElementsAre("outer", "inner"));
  EXPECT_EQ(detector.info().smallest_object(), 10);
  EXPECT_THAT(detector.info().model, AllOf(HasSubstr("250"), HasSubstr("100")));
  EXPECT_NE(detector.info().plan_key, pixels_in_boxes({0, 0, 1, 0.5}).info().plan_key);
}

TEST(InsideSearch, FindsInsideTheBoxesOnly) {
  Image<std::uint8_t> frame = dark(60, 40);
  frame.view().at(30, 20) = 250;
  for (const auto& [x, y] : {std::pair{29, 20}, {35, 19}, {40, 25}, {35, 30}, {5, 5}})
    frame.view().at(x, y) = 120;
  frame.view().at(39, 29) = 110;
  frame.view().at(33, 27) = 130;
  const std::vector<Detection> expected{{{30, 20, 10, 10}, 250, 0},
                                        {{30, 20, 2, 2}, 250, 1},
                                        {{33, 27, 2, 2}, 130, 1},
                                        {{39, 29, 2, 2}, 110, 1}};
  EXPECT_EQ(find(pixels_in_boxes(), frame.view()), expected);
  // The lower half.
  EXPECT_EQ(find(pixels_in_boxes({0, 0.5, 1, 1}), frame.view()),
            (std::vector<Detection>{expected[0], expected[2], expected[3]}));
}

TEST(InsideSearch, ColourIsCutToo) {
  Image<std::uint8_t> red = dark(60, 40);
  red.view().at(30, 20) = 250;
  red.view().at(33, 27) = 130;
  std::vector<std::uint8_t> pixels(60 * 40 * 3);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x) pixels[3 * (60 * y + x)] = red.view().at(x, y);
  const CompositeDetector detector = pixels_in_boxes();
  const auto found = find(detector, PackedView{pixels.data(), 60, 40, 180, PackedFormat::rgb24});
  EXPECT_EQ(found.size(), 3U);
  EXPECT_EQ(found, find(detector, red.view()));
}

TEST(InsideSearch, WhatTwoBoxesHoldIsReportedOnce) {
  Image<std::uint8_t> frame = dark(60, 40);
  frame.view().at(20, 20) = 250;
  frame.view().at(24, 22) = 251;
  frame.view().at(27, 26) = 120;  // in both
  frame.view().at(21, 29) = 110;  // in one
  std::vector<double> scores;
  for (const Detection& one : find(pixels_in_boxes(), frame.view())) {
    if (one.label == 1) scores.push_back(one.score);
  }
  EXPECT_THAT(scores, ElementsAre(251, 250, 120, 110));
}

TEST(InsideSearch, NeighboursInOneBoxAreTheInnerDetectorsAffair) {
  Image<std::uint8_t> frame = dark(60, 40);
  frame.view().at(20, 20) = 250;
  frame.view().at(25, 25) = frame.view().at(26, 25) = 120;  // boxes that share half of their area
  frame.view().at(25, 26) = 121;
  EXPECT_EQ(find(pixels_in_boxes(), frame.view()).size(), 5U);
}

TEST(InsideSearch, ALabelOfTheSameNameIsTheSame) {
  Image<std::uint8_t> frame = dark(60, 40);
  frame.view().at(30, 20) = 250;
  const CompositeDetector detector = pixels_in_boxes(kWhole, "outer");
  EXPECT_THAT(detector.info().labels, ElementsAre("outer"));
  for (const Detection& one : find(detector, frame.view())) EXPECT_EQ(one.label, 0);
}

TEST(InsideSearch, SeveralInsideAndInsideThese) {
  std::vector<InsideDetector> innermost;
  innermost.push_back({std::make_unique<PixelDetector>("third", 200, 1), kWhole});
  std::vector<InsideDetector> inside;
  inside.push_back(
      {std::make_unique<CompositeDetector>(CompositeBranch(std::make_unique<PixelDetector>("second", 150, 4),
                                                           make_inside_search(std::move(innermost)))),
       kWhole});
  inside.push_back({std::make_unique<PixelDetector>("other", 100, 1), kWhole});
  const CompositeDetector detector =
      inside_of(std::make_unique<PixelDetector>("first", 250, 10), std::move(inside));
  EXPECT_THAT(detector.info().labels, ElementsAre("first", "second", "third", "other"));
  Image<std::uint8_t> frame = dark(60, 40);
  frame.view().at(10, 10) = 250;
  frame.view().at(14, 15) = 160;
  frame.view().at(16, 17) = 210;
  frame.view().at(30, 30) = 210;  // in no box
  std::vector<std::pair<int, double>> found;
  for (const Detection& one : find(detector, frame.view())) found.emplace_back(one.label, one.score);
  const std::vector<std::pair<int, double>> expected{{0, 250}, {1, 250}, {1, 210}, {1, 160}, {2, 250},
                                                     {2, 210}, {3, 250}, {3, 210}, {3, 160}};
  EXPECT_EQ(found, expected);
}

TEST(InsideSearch, CropsThatAreTooSmallHoldNothing) {
  Image<std::uint8_t> frame = dark(60, 40);
  frame.view().at(59, 20) = 250;  // a column of its box is in the frame
  EXPECT_EQ(find(pixels_in_boxes(), frame.view()).size(), 1U);
  frame.view().at(59, 20) = kDark;
  EXPECT_TRUE(find(pixels_in_boxes(), frame.view()).empty());
}

TEST(InsideSearch, ThreadsAndTheWorkspacesHistoryDoNotMatter) {
  const CompositeDetector detector = pixels_in_boxes({-0.5, -0.5, 1.5, 1.5});
  std::vector<Image<std::uint8_t>> frames;
  for (unsigned seed = 0; seed < 6; ++seed) {
    frames.push_back(test::random_picture({50 + 10 * static_cast<int>(seed % 3), 45}, seed));
  }
  std::vector<std::vector<Detection>> expected;
  oneapi::tbb::task_arena one(1);
  for (const auto& frame : frames) one.execute([&] { expected.push_back(find(detector, frame.view())); });
  EXPECT_GT(expected[0].size(), 20U);
  const auto workspace = detector.make_workspace();
  oneapi::tbb::task_arena four(4);
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      four.execute([&] { EXPECT_EQ(detect(detector, *workspace, frames[i].view()), expected[i]) << i; });
    }
  }
}

TEST(InsideSearch, RefusesAnEmptyPart) {
  for (const BoxPart& part : {BoxPart{0, 0, 0, 1}, BoxPart{0, 0.6, 1, 0.5}})
    EXPECT_NE(test::error_of(ExitCode::usage, [&] { pixels_in_boxes(part); }), "");
}

// --- In configurations

constexpr char kCascade[] =
    R"(<opencv_storage><cascade><stageType>BOOST</stageType><featureType>HAAR</featureType>
<height>20</height><width>20</width><featureParams><maxCatCount>0</maxCatCount></featureParams>
<stages><_><stageThreshold>0.5</stageThreshold><weakClassifiers><_>
<internalNodes>0 -1 0 0.02</internalNodes><leafValues>0 1</leafValues></_></weakClassifiers></_></stages>
<features><_><rects><_>0 0 20 20 -1.</_><_>0 0 10 20 2.</_></rects></_></features></cascade></opencv_storage>
)";

class InsideSections : public testing::Test {
 protected:
  InsideSections() { std::ofstream(folder_ / "c.xml") << kCascade; }
  Config load(const std::string& text) {
    std::ofstream(folder_ / "c.toml") << text;
    return Config::load(folder_ / "c.toml");
  }
  std::string complaint(const std::string& text) {
    return test::error_of(ExitCode::usage, [&] { make_detector(load(text)); });
  }
  test::TempDir folder_;
  const std::string outer_ = "[detector]\nfamily = \"cascade\"\nmodel = \"c.xml\"\nlabel = \"face\"\n";
  const std::string inner_ =
      "[[detector.inside]]\nfamily = \"cascade\"\nmodel = \"c.xml\"\nlabel = \"eye\"\n";
};

TEST_F(InsideSections, MakeASearchInside) {
  const auto plain = make_detector(load(outer_));
  EXPECT_EQ(dynamic_cast<const CompositeDetector*>(plain.get()), nullptr);
  const auto detector = make_detector(load(outer_ + inner_ + "[schedule]\n"));
  EXPECT_THAT(detector->info().labels, ElementsAre("face", "eye"));
  EXPECT_EQ(detector->stages().size(), plain->stages().size() + 1);
  EXPECT_EQ(detector->partitionable_stages(), plain->partitionable_stages());
  const auto deeper = make_detector(
      load(outer_ + inner_ +
           "[[detector.inside.inside]]\nfamily = \"cascade\"\nmodel = \"c.xml\"\nlabel = \"pupil\"\n"));
  EXPECT_THAT(deeper->info().labels, ElementsAre("face", "eye", "pupil"));
}

TEST_F(InsideSections, SharesOfAFrameFitTogether) {
  const auto detector = make_detector(load(outer_ + inner_));
  const Image<std::uint8_t> frame = test::random_picture({150, 120}, 3);
  const auto expected = detect(*detector, *detector->make_workspace(), frame.view());
  EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](const Detection& d) { return d.label == 1; }),
            3);
  const auto first = detector->make_workspace(), second = detector->make_workspace();
  ASSERT_TRUE(detector->prepare(*first, frame.view(), {0, 0.4}));
  ASSERT_TRUE(detector->prepare(*second, frame.view(), {0.4, 1}));
  for (std::size_t stage = 0; stage < detector->partitionable_stages(); ++stage) {
    detector->run_stage(stage, *first);
    detector->run_stage(stage, *second);
  }
  detector->merge(*second, *first);
  for (std::size_t stage = detector->partitionable_stages(); stage < detector->stages().size(); ++stage)
    detector->run_stage(stage, *second);
  EXPECT_EQ(detector->take_detections(*second), expected);
}

TEST_F(InsideSections, ErrorsNameFileLineAndKey) {
  EXPECT_THAT(complaint(outer_ + inner_ + "min_sise = 3\n"),
              AllOf(HasSubstr("c.toml:9:"), HasSubstr("'min_sise'")));
  EXPECT_THAT(complaint(outer_ + "part = [0, 0, 1, 1]\n" + inner_),
              AllOf(HasSubstr("c.toml:5:"), HasSubstr("'part'")));
  EXPECT_THAT(complaint(outer_ + inner_ + "filters = 3\n"),
              AllOf(HasSubstr("c.toml:9:"), HasSubstr("'filters'")));  // of the other family
  EXPECT_THAT(complaint(outer_ + inner_ + "min_size = \"small\"\n"), HasSubstr("c.toml:9: 'min_size'"));
  EXPECT_THAT(complaint(outer_ + inner_ + "part = [0, 1]\n"),
              AllOf(HasSubstr("c.toml:9:"), HasSubstr("'part'")));
  EXPECT_THAT(complaint(outer_ + inner_ + "part = [0, 0, 1, nan]\n"), HasSubstr("c.toml:9: "));
  EXPECT_THAT(complaint(outer_ + inner_ + "part = [0, 0.5, 1, 0.5]\n"),
              AllOf(HasSubstr("c.toml"), HasSubstr("'part'"), HasSubstr("empty")));
  EXPECT_THAT(complaint(outer_ + "inside = 3\n"), AllOf(HasSubstr("c.toml:5:"), HasSubstr("'inside'")));
  EXPECT_THAT(complaint(outer_ + "inside = [3]\n"), AllOf(HasSubstr("c.toml:5:"), HasSubstr("'inside'")));
  EXPECT_THAT(complaint(outer_ + "[detector.inside]\nfamily = \"cascade\"\n"),
              HasSubstr("[[detector.inside]]"));
  EXPECT_THAT(complaint(outer_ + "[[detector.inside]]\nfamily = \"cascades\"\n"), HasSubstr("'cascades'"));
  test::expect_error(ExitCode::model, "none.xml", [&] {
    make_detector(load(outer_ + "[[detector.inside]]\nfamily = \"cascade\"\nmodel = \"none.xml\"\n"));
  });
}

TEST_F(InsideSections, TheShippedExampleIsOne) {
  const Config config = Config::load(SIGHTLINE_SOURCE_DIR "/configs/faces-eyes.toml");
  if (!cascade::ships_with_opencv("haarcascade_eye_tree_eyeglasses")) GTEST_SKIP() << "no opencv-data";
  EXPECT_THAT(make_detector(config)->info().labels, ElementsAre("face", "eye"));
}

}  // namespace
}  // namespace sightline
