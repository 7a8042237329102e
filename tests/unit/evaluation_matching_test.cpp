#include "evaluation/matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sightline {
namespace {

using ::testing::ElementsAre;

constexpr auto kTrue = Verdict::true_positive;
constexpr auto kFalse = Verdict::false_positive;
constexpr auto kIgnored = Verdict::ignored;

Detection detection(Box box, double score) {
  return {box, score, 0};
}

TEST(Matching, SurerDetectionTakesTheObjectAndTheOtherIsFalse) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}}};
  // The second is the better fit, but the first is surer.
  const std::vector<Detection> found{detection({0, 0, 10, 8}, 2.0), detection({0, 0, 10, 10}, 1.0)};
  const auto result = match_detections(found, truth, {});
  EXPECT_THAT(result.verdicts, ElementsAre(kTrue, kFalse));
  EXPECT_THAT(result.truth, ElementsAre(0, -1));
  EXPECT_EQ(result.positives, 1);
  EXPECT_EQ(result.missed, 0);
}

TEST(Matching, EachDetectionTakesTheFreeObjectItOverlapsMost) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}}, {{2, 0, 10, 10}}};
  const std::vector<Detection> found{detection({2, 0, 10, 10}, 1.0), detection({2, 0, 10, 10}, 0.5)};
  const auto result = match_detections(found, truth, {});
  // The second finds its best object taken, and has 8/12 = 0.67 with the other.
  EXPECT_THAT(result.truth, ElementsAre(1, 0));
  EXPECT_THAT(result.found, ElementsAre(true, true));
}

TEST(Matching, TiesGoToTheLowestIndex) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}}, {{0, 0, 10, 10}}};
  const std::vector<Detection> found(3, detection({0, 0, 10, 10}, 1.0));
  const auto result = match_detections(found, truth, {});
  EXPECT_THAT(result.truth, ElementsAre(0, 1, -1));
  EXPECT_THAT(result.verdicts, ElementsAre(kTrue, kTrue, kFalse));
}

TEST(Matching, OverlapOfExactlyTheThresholdMatches) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}}};
  MatchOptions options;
  EXPECT_THAT(match_detections(std::vector{detection({0, 0, 10, 5}, 1)}, truth, options).verdicts,
              ElementsAre(kTrue));
  EXPECT_THAT(match_detections(std::vector{detection({0, 0, 10, 4.9}, 1)}, truth, options).verdicts,
              ElementsAre(kFalse));
  options.min_overlap = 0.4;
  EXPECT_THAT(match_detections(std::vector{detection({0, 0, 10, 4.9}, 1)}, truth, options).verdicts,
              ElementsAre(kTrue));
}

TEST(Matching, BoxesThatDoNotTouchNeverMatch) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}}};
  EXPECT_THAT(
      match_detections(std::vector{detection({50, 0, 10, 10}, 1)}, truth, {MatchCriterion::overlap, 0.0, 0})
          .verdicts,
      ElementsAre(kFalse));
}

TEST(Matching, IgnoreRegionsAbsorbAnyNumberAndAreNotMissed) {
  const std::vector<TruthBox> truth{{{0, 0, 100, 100}, true}, {{200, 0, 10, 10}, false}};
  const std::vector<Detection> found{detection({10, 10, 10, 10}, 3), detection({10, 10, 10, 10}, 2),
                                     detection({-6, 0, 10, 10}, 1)};  // 40% inside: not enough
  const auto result = match_detections(found, truth, {});
  EXPECT_THAT(result.verdicts, ElementsAre(kIgnored, kIgnored, kFalse));
  EXPECT_THAT(result.found, ElementsAre(false, false));
  EXPECT_EQ(result.positives, 1);
  EXPECT_EQ(result.missed, 1);
}

TEST(Matching, AnObjectComesBeforeAnIgnoreRegion) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}, true}, {{1, 0, 10, 10}, false}};
  const auto result = match_detections(std::vector{detection({0, 0, 10, 10}, 1)}, truth, {});
  EXPECT_THAT(result.verdicts, ElementsAre(kTrue));
  EXPECT_THAT(result.truth, ElementsAre(1));
}

TEST(Matching, AspectMakesBoxesOfOneHeightEqual) {
  EXPECT_EQ(with_aspect({10, 20, 60, 100}, 0.4), (Box{20, 20, 40, 100}));
  // 20 and 80 wide about the same centre: 0.25 as they stand, 1 at the same width.
  const std::vector<TruthBox> truth{{{40, 0, 20, 100}}};
  const std::vector<Detection> found{detection({10, 0, 80, 100}, 1)};
  EXPECT_THAT(match_detections(found, truth, {}).verdicts, ElementsAre(kFalse));
  EXPECT_THAT(match_detections(found, truth, MatchOptions::people()).verdicts, ElementsAre(kTrue));
}

TEST(Matching, IgnoreRegionsKeepTheirShape) {
  const std::vector<TruthBox> truth{{{0, 0, 400, 50}, true}};  // would be 20.5 wide at 0.41
  EXPECT_THAT(
      match_detections(std::vector{detection({10, 0, 20, 50}, 1)}, truth, MatchOptions::people()).verdicts,
      ElementsAre(kIgnored));
}

TEST(Matching, CentreInsideIsEnoughForLooseBoxes) {
  const std::vector<TruthBox> truth{{{0, 0, 100, 100}}};
  MatchOptions options;
  options.criterion = MatchCriterion::centre;
  const std::vector<Detection> found{detection({101, 0, 10, 10}, 3), detection({95, 45, 10, 10}, 2),
                                     detection({45, 45, 10, 10}, 1)};
  const auto result = match_detections(found, truth, options);
  EXPECT_THAT(result.verdicts, ElementsAre(kFalse, kTrue, kFalse));
}

TEST(Matching, NothingFoundAndNothingMarked) {
  EXPECT_EQ(match_detections({}, std::vector<TruthBox>{{{0, 0, 1, 1}}, {{2, 2, 1, 1}}}, {}).missed, 2);
  EXPECT_THAT(match_detections(std::vector{detection({0, 0, 1, 1}, 1)}, {}, {}).verdicts,
              ElementsAre(kFalse));
}

TEST(Matching, NanScoresComeLast) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}}};
  const std::vector<Detection> found{detection({0, 0, 10, 10}, std::nan("")), detection({0, 0, 10, 10}, -5)};
  EXPECT_THAT(match_detections(found, truth, {}).verdicts, ElementsAre(kFalse, kTrue));
}

}  // namespace
}  // namespace sightline
