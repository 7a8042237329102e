#include "evaluation/ground_truth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/errors.hpp"
#include "support/log_capture.hpp"
#include "support/temp_dir.hpp"

namespace sightline {
namespace {

using test::expect_error;
using test::expect_errors;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
namespace fs = std::filesystem;

class GroundTruthTest : public ::testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  const test::TempDir own_;
  const fs::path folder_ = own_.path();
};

TEST_F(GroundTruthTest, SeveralFilesMarkTheSameImage) {
  GroundTruth truth = load_box_list(file("boxes.txt", "a.png 1 1 5 5\nb.png 2 2 6 6\n"));
  truth.add(load_box_list(file("more.txt", "b.png 3 3 9 9\nc.png\n")));
  EXPECT_EQ(truth.find("a.png")->size(), 1U);
  EXPECT_THAT(*truth.find("b.png"), ElementsAre(TruthBox{{2, 2, 4, 4}}, TruthBox{{3, 3, 6, 6}}));
  ASSERT_NE(truth.find("c.png"), nullptr);
  EXPECT_TRUE(truth.find("c.png")->empty());
}

TEST_F(GroundTruthTest, Mot) {
  auto truth = load_mot_truth(
      file("gt.txt", "5,9,489,161,31.03,75.17\r\n\n5,15,1,2,3,4,1\n10, 1, 5,6,7,8, 0,1,0.5\n"));
  ASSERT_EQ(truth.images.size(), 2U);
  EXPECT_THAT(*truth.find(5), ElementsAre(TruthBox{{489, 161, 31.03, 75.17}}, TruthBox{{1, 2, 3, 4}}));
  EXPECT_THAT(*truth.find(10), ElementsAre(TruthBox{{5, 6, 7, 8}, true, 1}));
  EXPECT_EQ(truth.positives(), 2);
  EXPECT_EQ(truth.find(6), nullptr);
  truth.annotate(6);
  truth.annotate(5);
  EXPECT_TRUE(truth.find(6)->empty());
  EXPECT_EQ(truth.find(5)->size(), 2U);
}

TEST_F(GroundTruthTest, MotHasClasses) {
  const std::string rows =
      "1,1,0,0,5,5,1,1,1\n1,2,9,0,5,5,1,3,1\n1,3,20,0,5,5,1,8,1\n1,4,30,0,5,5,0,9,1\n1,5,40,0,5,5,1,-1,1\n";
  const GroundTruth truth = load_mot_truth(file("gt.txt", rows));
  EXPECT_THAT(truth.labels, ElementsAre(Pair(1, "person"), Pair(3, "car")));
  EXPECT_THAT(*truth.find(1),
              ElementsAre(TruthBox{{0, 0, 5, 5}, false, 1}, TruthBox{{9, 0, 5, 5}, false, 3},
                          TruthBox{{20, 0, 5, 5}, true, 1}, TruthBox{{40, 0, 5, 5}, false, 0}));
  // Places in space of MOT15 are no classes.
  EXPECT_THAT(load_mot_truth(file("gt.txt", "1,1,0,0,5,5,1,3,2,1\n")).labels, testing::IsEmpty());
  file("labels.txt", "cat\n\ndog\n");
  const GroundTruth named = load_mot_truth(file("gt.txt", "1,1,0,0,5,5,1,1,1\n1,2,9,0,5,5,1,3,1\n"));
  EXPECT_THAT(named.labels, ElementsAre(Pair(1, "cat"), Pair(3, "dog")));
  EXPECT_EQ(named.positives(), 2);
  expect_error(ExitCode::input, "gt.txt:1", [&] { load_mot_truth(file("gt.txt", "1,1,0,0,5,5,1,2,1\n")); });
}

// A file that ends with an error of the system, which the library reports by an exception of its own.
TEST_F(GroundTruthTest, CocoThatCannotBeRead) {
  expect_error(ExitCode::input, "/proc/self/mem", [] { load_coco_truth("/proc/self/mem"); });
}

TEST_F(GroundTruthTest, MotThatCountsPixelsFromOne) {
  EXPECT_EQ(load_mot_truth(file("gt.txt", "1,1,1,11,5,6\n"), 1).find(1)->at(0).box, (Box{0, 10, 5, 6}));
}

TEST_F(GroundTruthTest, MalformedMotNamesFileAndLine) {
  expect_errors(ExitCode::input,
                {{"1,1,1,1,1,1\n1,1,1,1,1\n", "gt.txt:2: 5"},
                 {"\n\n1,1,x1,1,1,1\n", "gt.txt:3: x 'x1'"},
                 {"0,1,1,1,1,1\n", "gt.txt:1: frame '0'"},
                 {"1.5,1,1,1,1,1\n", "gt.txt:1: frame '1.5'"},
                 {"1,1,1,1,-2,1\n", "gt.txt:1:"},
                 {"1,1,1,1,nan,1\n", "gt.txt:1: width 'nan'"},
                 {"1,1,1,1,1e999,1\n", "gt.txt:1: width '1e999'"},
                 {"1,1,1,,1,1\n", "gt.txt:1: y ''"},
                 {"1,1,1,1,1,1,1,1,1,1,1\n", "gt.txt:1: 11"}},
                [&](const std::string& text) { load_mot_truth(file("gt.txt", text)); });
}

TEST_F(GroundTruthTest, MissingFileOrFolderForAFile) {
  const std::string none = folder_ / "none.txt";
  expect_error(ExitCode::input, none, [&] { load_mot_truth(none); });
  expect_error(ExitCode::input, none, [&] { load_coco_truth(none); });
  expect_error(ExitCode::input, folder_, [&] { load_box_list(folder_); });
  expect_error(ExitCode::input, folder_, [&] { load_coco_truth(folder_); });
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

TEST_F(GroundTruthTest, BoxListWithClasses) {
  auto truth = load_box_list(
      file("boxes.txt", "a.jpg 1 2 3 4 cup\nb.jpg\na.jpg 5 6 7 8 \"traffic light\"\nc.jpg 1 1 2 2 cup\n"));
  EXPECT_THAT(*truth.find("a.jpg"),
              ElementsAre(TruthBox{{1, 2, 2, 2}, false, 0}, TruthBox{{5, 6, 2, 2}, false, 1}));
  EXPECT_THAT(truth.labels, ElementsAre(Pair(0, "cup"), Pair(1, "traffic light")));
  truth.keep_label("cup");
  EXPECT_THAT(*truth.find("a.jpg"), ElementsAre(TruthBox{{1, 2, 2, 2}, false, 0}));
  EXPECT_EQ(truth.positives(), 2);
  expect_error(ExitCode::usage, "'dog'", [&] { truth.keep_label("dog"); });
}

TEST_F(GroundTruthTest, NamesWithSpacesStandInQuotes) {
  const auto truth = load_box_list(file("boxes.txt", "\"my cup.jpg\" 1 2 3 4\n\"b c.jpg\"\n\"odd 1 2 3 4\n"));
  EXPECT_EQ(truth.find("my cup.jpg")->size(), 1u);
  EXPECT_TRUE(truth.find("b c.jpg")->empty());
  EXPECT_EQ(truth.find("\"odd")->size(), 1u) << "a lone quote is a part of the name";
}

class CocoTruthTest : public GroundTruthTest {
 protected:
  GroundTruth load(const std::string& text) { return load_coco_truth(file("coco.json", text)); }
};

// What a field is called where it means nothing, nested lists of outlines, lists in any order.
TEST_F(CocoTruthTest, TakesBoxesOfAllImages) {
  const auto truth = load(R"({
    "info": {"id": 5, "images": [{"id": 1}], "description": "annotations"},
    "annotations": [
      {"id": 1, "image_id": 7, "category_id": 3, "bbox": [1, 2.5, 30, 4], "area": 80.5,
       "segmentation": [[1, 2, 3, 4]]},
      {"id": 2, "image_id": 7, "category_id": 90, "bbox": [5, 6, 7, 8], "iscrowd": 1, "area": 56,
       "segmentation": {"counts": [9, 9], "size": [1, 1], "bbox": [0, 0, 0, 0]}},
      {"id": 4, "image_id": 9, "category_id": 3, "bbox": [1, 2, 3, 4], "ignore": 1, "iscrowd": 0},
      {"id": 3, "image_id": 7, "category_id": 3, "keypoints": [1, 2, 2]}],
    "images": [{"id": 9, "file_name": "b.jpg", "width": 10, "height": 20, "tags": {"id": 1}},
               {"id": 7, "file_name": "train/a.jpg", "width": 640, "height": 480.0}],
    "categories": [{"id": 3, "name": "cat", "supercategory": "animal"}, {"id": 90, "name": "dog"}]})");
  EXPECT_THAT(truth.images,
              ElementsAre(Pair("a.jpg", ElementsAre(TruthBox{{1, 2.5, 30, 4}, false, 3, 80.5},
                                                    TruthBox{{5, 6, 7, 8}, true, 90})),
                          Pair("b.jpg", ElementsAre(TruthBox{{1, 2, 3, 4}, true, 3, 0, true}))));
  EXPECT_THAT(truth.labels, ElementsAre(Pair(3, "cat"), Pair(90, "dog")));
  EXPECT_EQ(truth.facts.at("a.jpg").path, "train/a.jpg");
  EXPECT_EQ(truth.facts.at("a.jpg").size, (Size{640, 480}));
}

TEST_F(CocoTruthTest, SaysWhichEntryIsWrong) {
  const auto images = [](const std::string& entries) {
    return R"({"images": [)" + entries + R"(], "annotations": []})";
  };
  const auto with = [](const std::string& annotation) {
    return R"({"images": [{"id": 1, "file_name": "a.jpg"}], "categories": [{"id": 1, "name": "x"}],
               "annotations": [)" +
           annotation + "]}";
  };
  expect_errors(
      ExitCode::input,
      {{"{\"images\": [], ", "coco.json: "},
       {"[]", "coco.json: "},
       {"{}", "'images'"},
       {"{\"x\": " + std::string(100'000, '['), "64"},
       {images("[1]"), "coco.json: "},
       {images(R"({"file_name": "a"})"), "image 1: no 'id'"},
       {images(R"({"id": "x", "file_name": "a"})"), "image 1: no 'id'"},
       {images(R"({"id": 1})"), "image 1: no 'file_name'"},
       {images(R"({"id": 1, "file_name": "x/a"}, {"id": 2, "file_name": "y/a"})"), "'a'"},
       {images(R"({"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"})"), "image 2: "},
       {with(R"({"bbox": [1, 2, 3, 4]})"), "annotation 1: no 'image_id'"},
       {with(R"({"image_id": 2, "bbox": [1, 2, 3, 4]})"), "annotation 1: "},
       {with(R"({"image_id": 1, "bbox": [1, 2, 3]})"), "annotation 1: 'bbox'"},
       {with(R"({"image_id": 1, "bbox": [1, 2, 3, 4, 5, 6, 7]})"), "annotation 1: 'bbox'"},
       {with(R"({"image_id": 1, "bbox": [1, 2, 3, -4]})"), "annotation 1: "},
       {with(R"({"image_id": 1, "bbox": [1, 2, 3, 4], "category_id": 5})"), "annotation 1: "},
       {R"({"images": [], "annotations": [], "categories": [{"id": 1}]})", "category 1: no 'name'"}},
      [&](const std::string& text) { load(text); });
}

TEST_F(GroundTruthTest, FilesThatAreTooLargeAreNotRead) {
  for (const char* name : {"a.txt", "a.json"}) {
    const auto large = file(name, "");
    std::filesystem::resize_file(large, std::uintmax_t{3} << 30);  // takes no space
    expect_error(ExitCode::input, "1 GiB", [&] { load_marked_boxes(large); });
  }
}

TEST_F(GroundTruthTest, MarkedBoxesByTheFilesName) {
  EXPECT_EQ(load_marked_boxes(file("a.txt", "p.png 1 2 3 4\n")).positives(), 1);
  EXPECT_EQ(load_marked_boxes(file("a.json", R"({"images": [{"id": 1, "file_name": "p.png"}],
                                                 "annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4]}]})"))
                .positives(),
            1);
}

TEST_F(GroundTruthTest, MalformedBoxListNamesFileAndLine) {
  expect_errors(ExitCode::input,
                {{"a 1 2 3 4\na 1 2 3 4 5 6\n", "boxes.txt:2: 7"},
                 {"a 1 2 3 4\na 1 2 3 4 cup\n", "boxes.txt:2: 6"},
                 {"a 1 2 3 4\na 1 2 3 4 5 6 7\n", "boxes.txt:2: 8"},
                 {"a 5 2 3 4\n", "boxes.txt:1:"},
                 {"a 1 2 3 4;\n", "boxes.txt:1: y2 '4;'"},
                 {"a 1 2 3 4 0.5 0 9\n", "boxes.txt:1: image width '0'"},
                 {"\xFF\xFEx", "UTF-8"},
                 {"\xFE\xFFx", "UTF-8"}},
                [&](const std::string& text) { load_box_list(file("boxes.txt", text)); });
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

TEST_F(GroundTruthTest, YoloClasses) {
  EXPECT_TRUE(load_yolo_classes(folder_).labels.empty());
  file("classes.txt", "person\n\ntraffic light\r\n");
  file("a.txt", "2 0.5 0.25 0.5 0.1\n");
  const auto truth = load_yolo_truth(folder_, {{"a.png", {200, 100}}});
  EXPECT_THAT(truth.labels, ElementsAre(Pair(0, "person"), Pair(2, "traffic light")));
  EXPECT_EQ(load_yolo_classes(folder_).labels, truth.labels);
}

TEST_F(GroundTruthTest, MalformedYolo) {
  expect_errors(ExitCode::input,
                {{"0 0.5 0.5 0.1\n", "a.txt:1: 4"},
                 {"0 .5 .5 .1 .1\n0 50 .5 .1 .1\n", "a.txt:2: cx 50"},
                 {"-1 .5 .5 .1 .1\n", "a.txt:1: class '-1'"},
                 {"0 .5 .5 -.1 .1\n", "a.txt:1: width -.1"}},
                [&](const std::string& text) {
                  file("a.txt", text);
                  load_yolo_truth(folder_, {{"a.png", {100, 100}}});
                });
  expect_error(ExitCode::input, folder_, [&] { load_yolo_truth(folder_, {{"b.png", {1, 1}}}); });
}

// As Windows editors write it.
TEST_F(GroundTruthTest, AByteOrderMarkIsNoPartOfTheText) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_NE(load_box_list(file("boxes.txt", mark + "a.png 1 1 5 5\n")).find("a.png"), nullptr);
  EXPECT_NE(load_mot_truth(file("gt.txt", mark + "7,1,1,1,5,5\r\n")).find(7), nullptr);
  EXPECT_NE(load_coco_truth(file("coco.json", mark + R"({"images": [{"id": 1, "file_name": "a.png"}],
                                                         "annotations": []})"))
                .find("a.png"),
            nullptr);
  file("classes.txt", mark + "person\ncup\n");
  file("a.txt", mark + "1 0.5 0.25 0.5 0.1\n");
  const auto yolo = load_yolo_truth(folder_, {{"a.png", {200, 100}}});
  EXPECT_THAT(yolo.labels, ElementsAre(Pair(0, "person"), Pair(1, "cup")));
  EXPECT_EQ(yolo.find("a.png")->size(), 1U);
}

// One empty box is no reason to refuse the others.
TEST_F(GroundTruthTest, BoxesWithoutAreaAreLeftOutAndCounted) {
  test::LogCapture log;
  const auto list =
      load_box_list(file("boxes.txt", "a 1 1 5 5\na 1 1 1 5\nb 2 2 2 2\nc 3 3 8 8\nc 9 3 8 8\n"));
  EXPECT_EQ(list.find("a")->size(), 1U);
  EXPECT_TRUE(list.find("b")->empty());  // still a marked image
  EXPECT_EQ(list.positives(), 2);
  EXPECT_THAT(log.str(), AllOf(HasSubstr("boxes.txt:2: "), HasSubstr("2 more")));
  log.clear();
  EXPECT_EQ(load_mot_truth(file("gt.txt", "1,1,1,1,0,1\n1,2,1,1,4,4\n2,1,1,1,4,4\n")).positives(), 2);
  EXPECT_THAT(log.str(), HasSubstr("gt.txt:1: "));
  log.clear();
  EXPECT_EQ(
      load_coco_truth(file("coco.json", R"({"images": [{"id": 1, "file_name": "a.png"}], "annotations": [
    {"image_id": 1, "bbox": [1, 1, 4, 0]}, {"image_id": 1, "bbox": [1, 1, 4, 4]}]})"))
          .positives(),
      1);
  EXPECT_THAT(log.str(), HasSubstr("annotation 1: "));
  log.clear();
  file("a.txt", "0 .5 .5 .1 .1\n0 .5 .5 0 .1\n");
  EXPECT_EQ(load_yolo_truth(folder_, {{"a.png", {100, 100}}}).positives(), 1);
  EXPECT_THAT(log.str(), HasSubstr("a.txt:2: "));
  log.clear();
  EXPECT_EQ(load_box_list(file("boxes.txt", "a 1 1 5 5\n")).positives(), 1);
  EXPECT_EQ(log.str(), "");
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
