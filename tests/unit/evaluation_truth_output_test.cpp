#include "evaluation/truth_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline {
namespace {

using test::expect_error;
using test::store;
using test::TempDir;
using ::testing::ElementsAre;
using ::testing::Pair;

GroundTruth two_classes() {
  GroundTruth truth;
  truth.labels = {{0, "cup"}, {1, "traffic light"}};
  truth.images["my a.jpg"] = {{{1, 2, 30, 40}}, {{10.25, 0, 5, 100.5}, false, 1}};
  truth.images["b.png"] = {};
  truth.facts["my a.jpg"] = {{200, 400}, "my a.jpg"};
  truth.facts["b.png"] = {{20, 40}, "b.png"};
  return truth;
}

GroundTruth one_nameless() {
  GroundTruth truth;
  truth.images["a.jpg"] = {{{0.1, 0.2, 30.3, 40}}};
  truth.facts["a.jpg"] = {{200, 400}, "a.jpg"};
  return truth;
}

class TruthOutput : public ::testing::Test {
 protected:
  GroundTruth by_list(const GroundTruth& truth) {
    store(folder_ / "boxes.txt", as_box_list(truth));
    return load_box_list(folder_ / "boxes.txt");
  }
  GroundTruth by_coco(const GroundTruth& truth) {
    store(folder_ / "boxes.json", as_coco(truth));
    return load_coco_truth(folder_ / "boxes.json");
  }
  GroundTruth by_yolo(const GroundTruth& truth) {
    std::map<std::string, Size> sizes;
    const auto numbers = yolo_numbers(truth);
    for (const auto& [name, boxes] : truth.images) {
      sizes[name] = truth.facts.at(name).size;
      store(yolo_file(folder_.path(), name).string(), as_yolo(boxes, sizes[name], numbers));
    }
    store(folder_ / "classes.txt", as_yolo_classes(truth, numbers));
    return load_yolo_truth(folder_.path(), sizes);
  }
  TempDir folder_;
};

void expect_near(const GroundTruth& read, const GroundTruth& truth) {
  ASSERT_EQ(read.images.size(), truth.images.size());
  for (const auto& [name, boxes] : truth.images) {
    const auto* const found = read.find(name);
    ASSERT_TRUE(found) << name;
    ASSERT_EQ(found->size(), boxes.size()) << name;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const Box &a = boxes[i].box, &b = (*found)[i].box;
      EXPECT_NEAR(a.x, b.x, 1e-4);
      EXPECT_NEAR(a.y, b.y, 1e-4);
      EXPECT_NEAR(a.width, b.width, 2e-4);
      EXPECT_NEAR(a.height, b.height, 2e-4);
    }
  }
}

TEST_F(TruthOutput, EveryFormatIsReadAsItWasWritten) {
  for (const GroundTruth& truth : {two_classes(), one_nameless()}) {
    expect_near(by_list(truth), truth);
    expect_near(by_coco(truth), truth);
    expect_near(by_yolo(truth), truth);
  }
  EXPECT_EQ(by_list(two_classes()).images, two_classes().images) << "short decimals to the bit";
  EXPECT_EQ(by_list(two_classes()).labels, two_classes().labels);
  EXPECT_EQ(by_yolo(two_classes()).labels, two_classes().labels);
  EXPECT_TRUE(by_list(one_nameless()).labels.empty());
  EXPECT_TRUE(by_yolo(one_nameless()).labels.empty());
}

TEST_F(TruthOutput, WhatTheTextsLookLike) {
  EXPECT_EQ(as_box_list(two_classes()),
            "b.png\n\"my a.jpg\" 1 2 31 42 cup\n\"my a.jpg\" 10.25 0 15.25 100.5 \"traffic light\"\n");
  EXPECT_EQ(as_box_list(one_nameless()), "a.jpg 0.1 0.2 30.4 40.2\n");
  EXPECT_EQ(as_yolo({{{10, 20, 20, 40}, false, 1}}, {100, 100}, {{1, 5}}), "5 0.2 0.4 0.2 0.4\n");
}

// COCO has no category 0, and its numbers have gaps that mean something.
TEST_F(TruthOutput, CocoKeepsItsNumbers) {
  GroundTruth truth = one_nameless();
  truth.labels = {{3, "cat"}, {90, "dog"}};
  truth.images["a.jpg"] = {{{1, 2, 3, 4}, true, 90}, {{5, 6, 7, 8}, false, 3}};
  truth.facts["a.jpg"].path = "train/a.jpg";
  const GroundTruth read = by_coco(truth);
  EXPECT_EQ(read.images, truth.images);
  EXPECT_EQ(read.labels, truth.labels);
  EXPECT_EQ(read.facts.at("a.jpg").path, "train/a.jpg");
  EXPECT_THAT(by_coco(two_classes()).labels, ElementsAre(Pair(1, "cup"), Pair(2, "traffic light")));
  EXPECT_THAT(by_coco(one_nameless()).labels, ElementsAre(Pair(1, "object")));
  EXPECT_THAT(by_yolo(truth).labels, ElementsAre(Pair(0, "cat"), Pair(1, "dog"))) << "from 0, without gaps";
}

TEST_F(TruthOutput, YoloClassesThatHaveNoName) {
  GroundTruth truth = one_nameless();
  truth.images["a.jpg"] = {{{1, 2, 3, 4}, false, 0}, {{5, 6, 7, 8}, false, 3}};
  name_labels(truth);
  EXPECT_THAT(truth.labels, ElementsAre(Pair(0, "class 0"), Pair(3, "class 3")));
  EXPECT_EQ(as_yolo_classes(truth, yolo_numbers(truth)), "class 0\nclass 1\nclass 2\nclass 3\n");
  truth.images["a.jpg"][1].label = 1 << 30;
  truth.labels.clear();
  name_labels(truth);
  EXPECT_EQ(by_yolo(truth).images.at("a.jpg")[1].label, 1) << "no line for each number up to that";
}

TEST_F(TruthOutput, WhatYoloCannotHoldIsCutOff) {
  const std::vector<TruthBox> boxes{
      {{-10, -10, 20, 20}}, {{200, 200, 5, 5}}, {{1, 1, 5, 5}, true}, {{90, 90, 20, 20}}};
  store(folder_ / "a.txt", as_yolo(boxes, {100, 100}, {}));
  const auto read = load_yolo_truth(folder_.path(), {{"a.png", {100, 100}}});
  EXPECT_THAT(*read.find("a.png"), ElementsAre(TruthBox{{0, 0, 10, 10}}, TruthBox{{90, 90, 10, 10}}));
}

TEST_F(TruthOutput, WhatIsToBeIgnoredIsSaidToBeLost) {
  GroundTruth truth = one_nameless();
  EXPECT_EQ(lost_in(TruthFormat::boxes, truth), "");
  truth.images["a.jpg"][0].ignore = true;
  EXPECT_EQ(lost_in(TruthFormat::coco, truth), "");
  EXPECT_EQ(lost_in(TruthFormat::boxes, truth), "1 box to be ignored");
  EXPECT_EQ(as_box_list(truth), "a.jpg\n");
  for (const bool counts : {false, true}) {
    truth.images["a.jpg"][0].counts_in_coco = counts;
    const TruthBox read = by_coco(truth).images.at("a.jpg")[0];
    EXPECT_TRUE(read.ignore);
    EXPECT_EQ(read.counts_in_coco, counts);
  }
}

TEST_F(TruthOutput, NamesThatAListCannotHold) {
  for (const char* name : {"a \"b\".jpg", "a\nb.jpg"}) {
    GroundTruth truth;
    truth.annotate(name);
    expect_error(ExitCode::usage, [&] { as_box_list(truth); });
    EXPECT_EQ(by_coco(truth).images, truth.images);
  }
}

TEST_F(TruthOutput, FormatsByName) {
  EXPECT_EQ(guess_truth_format("a.json"), TruthFormat::coco);
  EXPECT_EQ(guess_truth_format("a.txt"), TruthFormat::boxes);
  EXPECT_EQ(guess_truth_format("labels/"), TruthFormat::yolo);
  EXPECT_EQ(guess_truth_format(folder_.path()), TruthFormat::yolo);
  for (const char* name : {"boxes", "yolo", "coco"}) EXPECT_STREQ(to_string(parse_truth_format(name)), name);
  expect_error(ExitCode::usage, [] { parse_truth_format("voc"); });
}

}  // namespace
}  // namespace sightline
