#include "evaluation/ground_truth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.hpp"

namespace sightline {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class GroundTruthTest : public ::testing::Test {
 protected:
  GroundTruthTest() : folder_(fs::temp_directory_path() / ("sightline-truth-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~GroundTruthTest() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  /// What the error says after the folder.
  template <typename Work>
  std::string complaint(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      const std::string text = error.what();
      return text.starts_with(folder_.string()) ? text.substr(folder_.string().size() + 1) : text;
    }
    return "no error";
  }
  std::string mot_complaint(const std::string& text) {
    return complaint([&] { load_mot_truth(file("gt.txt", text)); });
  }
  std::string list_complaint(const std::string& text) {
    return complaint([&] { load_box_list(file("boxes.txt", text)); });
  }

  fs::path folder_;
};

TEST_F(GroundTruthTest, Mot) {
  auto truth = load_mot_truth(
      file("gt.txt", "5,9,489,161,31.03,75.17\r\n\n5,15,1,2,3,4,1\n10, 1, 5,6,7,8, 0,1,0.5\n"));
  ASSERT_EQ(truth.images.size(), 2U);
  EXPECT_THAT(*truth.find(5), ElementsAre(TruthBox{{489, 161, 31.03, 75.17}}, TruthBox{{1, 2, 3, 4}}));
  EXPECT_THAT(*truth.find(10), ElementsAre(TruthBox{{5, 6, 7, 8}, true}));
  EXPECT_EQ(truth.positives(), 2);
  EXPECT_EQ(truth.find(6), nullptr);
  truth.annotate(6);
  truth.annotate(5);
  EXPECT_TRUE(truth.find(6)->empty());
  EXPECT_EQ(truth.find(5)->size(), 2U);
}

TEST_F(GroundTruthTest, MotThatCountsPixelsFromOne) {
  EXPECT_EQ(load_mot_truth(file("gt.txt", "1,1,1,11,5,6\n"), 1).find(1)->at(0).box, (Box{0, 10, 5, 6}));
}

TEST_F(GroundTruthTest, MalformedMotNamesFileLineAndReason) {
  EXPECT_EQ(mot_complaint("1,1,1,1,1,1\n1,1,1,1,1\n"),
            "gt.txt:2: 5 columns where 'frame,id,x,y,width,height[,confidence,...]' has 6 to 10");
  EXPECT_EQ(mot_complaint("\n\n1,1,x1,1,1,1\n"), "gt.txt:3: x 'x1' is not a number");
  EXPECT_EQ(mot_complaint("0,1,1,1,1,1\n"), "gt.txt:1: frame '0' is not a whole number from 1 upwards");
  EXPECT_EQ(mot_complaint("1.5,1,1,1,1,1\n"), "gt.txt:1: frame '1.5' is not a whole number from 1 upwards");
  EXPECT_EQ(mot_complaint("1,1,1,1,0,1\n"), "gt.txt:1: the box has no area");
  EXPECT_EQ(mot_complaint("1,1,1,1,nan,1\n"), "gt.txt:1: width 'nan' is not a number");
  EXPECT_EQ(mot_complaint("1,1,1,1,1e999,1\n"), "gt.txt:1: width '1e999' is not a number");
  EXPECT_EQ(mot_complaint("1,1,1,,1,1\n"), "gt.txt:1: y '' is not a number");
  EXPECT_EQ(mot_complaint("1,1,1,1,1,1,1,1,1,1,1\n").substr(0, 20), "gt.txt:1: 11 columns");
}

TEST_F(GroundTruthTest, MissingFileOrFolderForAFile) {
  EXPECT_THAT(complaint([&] { load_mot_truth(folder_ / "none.txt"); }),
              EndsWith("No such file or directory"));
  EXPECT_THAT(complaint([&] { load_box_list(folder_); }), EndsWith("Is a directory"));
}

TEST_F(GroundTruthTest, BoxListWithCorners) {
  const auto truth = load_box_list(file("boxes.txt", "a.jpg 106 22 152 80\r\nb.jpg\r\na.jpg 1 2 3 4.5\r\n"));
  EXPECT_THAT(*truth.find("a.jpg"), ElementsAre(TruthBox{{106, 22, 46, 58}}, TruthBox{{1, 2, 2, 2.5}}));
  EXPECT_TRUE(truth.find("b.jpg")->empty());
}

TEST_F(GroundTruthTest, BoxListWithSizes) {
  const auto truth = load_box_list(file("boxes.txt", "image_0001.jpg 201 0 290 334 2.08 510 337\n"));
  EXPECT_THAT(*truth.find("image_0001.jpg"), ElementsAre(TruthBox{{201, 0, 290, 334}}));
}

TEST_F(GroundTruthTest, MalformedBoxListNamesFileLineAndReason) {
  EXPECT_EQ(
      list_complaint("a 1 2 3 4\na 1 2 3 4 5\n"),
      "boxes.txt:2: 6 columns where 'name x1 y1 x2 y2' has 5 and 'name x y width height error W H' has 8");
  EXPECT_EQ(list_complaint("a 1 2 3 4\na 1 2 3 4 5 6 7\n"),
            "boxes.txt:2: 8 columns where the lines before have 5");
  EXPECT_EQ(list_complaint("a 5 2 3 4\n"), "boxes.txt:1: the box has no area");
  EXPECT_EQ(list_complaint("a 1 2 3 4;\n"), "boxes.txt:1: y2 '4;' is not a number");
  EXPECT_EQ(list_complaint("a 1 2 3 4 0.5 0 9\n"),
            "boxes.txt:1: image width '0' is not a whole number from 1 upwards");
}

TEST_F(GroundTruthTest, Yolo) {
  file("street.txt", "2 0.5 0.25 0.5 0.1\n");
  file("empty.txt", "");
  const auto truth =
      load_yolo_truth(folder_, {{"street.jpg", {200, 100}}, {"empty.png", {10, 10}}, {"other.png", {1, 1}}});
  EXPECT_THAT(*truth.find("street.jpg"), ElementsAre(TruthBox{{50, 20, 100, 10}, false, 2}));
  EXPECT_TRUE(truth.find("empty.png")->empty());
  EXPECT_EQ(truth.find("other.png"), nullptr);
}

TEST_F(GroundTruthTest, MalformedYolo) {
  const auto complain = [&](const std::string& text) {
    file("a.txt", text);
    return complaint([&] { load_yolo_truth(folder_, {{"a.png", {100, 100}}}); });
  };
  EXPECT_EQ(complain("0 0.5 0.5 0.1\n"), "a.txt:1: 4 columns where 'class cx cy width height' has 5");
  EXPECT_EQ(complain("0 .5 .5 .1 .1\n0 50 .5 .1 .1\n"),
            "a.txt:2: cx 50 is not a part of the image's size, 0 to 1");
  EXPECT_EQ(complain("-1 .5 .5 .1 .1\n"), "a.txt:1: class '-1' is not a whole number from 0 upwards");
  EXPECT_EQ(complain("0 .5 .5 0 .1\n"), "a.txt:1: the box has no area");
  EXPECT_THAT(complaint([&] { load_yolo_truth(folder_, {{"b.png", {1, 1}}}); }), HasSubstr("no label file"));
}

TEST(GroundTruthData, TheProjectsOwnFiles) {
  const fs::path data = fs::path(SIGHTLINE_SOURCE_DIR) / "../shared/data";
  if (!fs::exists(data)) GTEST_SKIP() << "no ../shared/data";
  EXPECT_EQ(load_mot_truth(data / "people/pets09/gt_every5.txt").positives(), 105);
  EXPECT_EQ(load_mot_truth(data / "people/pets09/gt_every5.txt").images.size(), 20U);
  EXPECT_EQ(load_box_list(data / "faces/cmu_mit_dev/boxes.txt").positives(), 309);
  EXPECT_EQ(load_box_list(data / "faces/caltech101_faces/boxes.txt").positives(), 435);
}

}  // namespace
}  // namespace sightline
