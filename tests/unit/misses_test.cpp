// Why objects are missed: cases that are clear.
#include "evaluation/misses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline {
namespace {

constexpr Size kFrameSize{640, 480};

Detection detection_at(Box box, double score) {
  Detection detection;
  detection.box = box;
  detection.score = score;
  return detection;
}

MissOptions people_from(double threshold) {
  return {MatchOptions::people(), threshold, 96};
}

// Boxes 41 wide and 100 high.
Box person(double x, double y) {
  return {x, y, 41, 100};
}

TEST(Misses, EachCause) {
  const std::vector<TruthBox> truth{{person(100, 100)},      {person(200, 100)}, {person(300, 100)},
                                    {person(400, 100)},      {person(500, 100)}, {{60, 300, 20, 50}},
                                    {person(300, 300), true}};
  const std::vector<Detection> detections{detection_at(person(102, 100), 2),
                                          detection_at(person(300, 145), 1.5),
                                          detection_at(person(400, 102), 0.5)};
  std::vector<Detection> windows = detections;
  windows.push_back(detection_at(person(203, 101), 1.2));  // and dropped for a neighbour
  const auto found = examine_misses(detections, windows, truth, kFrameSize, people_from(1));
  ASSERT_EQ(found.size(), 6U) << "what is to be ignored counts for nothing";
  EXPECT_TRUE(found[0].found);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_FALSE(found[i].found) << i;
  EXPECT_EQ(found[1].cause, MissCause::suppressed);
  EXPECT_EQ(found[2].cause, MissCause::misplaced);
  EXPECT_EQ(found[3].cause, MissCause::low_score);
  EXPECT_EQ(found[4].cause, MissCause::unseen);
  EXPECT_EQ(found[5].cause, MissCause::too_small);
  ASSERT_TRUE(found[3].nearest);
  EXPECT_EQ(found[3].nearest->score, 0.5);
  EXPECT_FALSE(found[4].nearest);
  // With a lower threshold, or where the box is found as it should be, less is missed.
  EXPECT_TRUE(examine_misses(detections, windows, truth, kFrameSize, people_from(0.5))[3].found);
}

// One detection fits two people and can be only one of them.
TEST(Misses, ADetectionThatFoundAnother) {
  const std::vector<TruthBox> truth{{person(100, 100)}, {person(108, 100)}};
  const std::vector<Detection> one{detection_at(person(101, 100), 2)};
  const auto found = examine_misses(one, one, truth, kFrameSize, people_from(0));
  EXPECT_TRUE(found[0].found);
  EXPECT_FALSE(found[1].found);
  EXPECT_EQ(found[1].cause, MissCause::suppressed);
}

TEST(Misses, CoveredAndAtTheEdge) {
  // The second stands before the right half of the first, the third before nobody; a region to be ignored
  // covers nothing.
  const std::vector<TruthBox> truth{
      {{100, 100, 40, 100}}, {{120, 110, 40, 100}}, {{599, 300, 41, 100}}, {{0, 0, 640, 480}, true}};
  const auto objects = examine_misses({}, {}, truth, kFrameSize, people_from(0));
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_NEAR(objects[0].covered, 0.45, 0.03);
  EXPECT_EQ(objects[1].covered, 0);
  EXPECT_FALSE(objects[0].at_edge);
  EXPECT_TRUE(objects[2].at_edge);

  const std::vector<MissCount> counts = count_misses(objects);
  std::vector<std::string> kinds;
  for (const MissCount& one : counts) kinds.push_back(one.kind + ": " + std::to_string(one.objects));
  EXPECT_THAT(
      kinds, testing::ElementsAre("all: 3", "96 to 128 pixels high: 3", "less than 10% covered: 2",
                                  "35 to 65% covered: 1", "whole in the frame: 2", "at the frame's edge: 1"));
  EXPECT_EQ(counts[0].missed_in_all(), 3);
  EXPECT_EQ(counts[0].missed.back(), 3);
}

}  // namespace
}  // namespace sightline
