#include "evaluation/curves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/errors.hpp"

namespace sightline {
namespace {

using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Ten images, four people; by falling score: right, wrong, right, wrong, wrong.
ImageScores example_scores() {
  ImageScores scores;
  scores.images = 10;
  scores.positives = 4;
  scores.detections = {{1, false}, {5, true}, {3, true}, {4, false}, {2, false}};
  return scores;
}

TEST(ImageCurves, MissRateAgainstFalsePositivesPerImage) {
  EXPECT_THAT(miss_rate_per_image(example_scores()),
              ElementsAre(DetPoint{5, 0.0, 0.75}, DetPoint{4, 0.1, 0.75}, DetPoint{3, 0.1, 0.5},
                          DetPoint{2, 0.2, 0.5}, DetPoint{1, 0.3, 0.5}));
}

TEST(ImageCurves, EqualScoresAreOnePoint) {
  ImageScores scores{{{2, false}, {2, true}, {2, false}, {1, true}}, 2, 4};
  EXPECT_THAT(miss_rate_per_image(scores), ElementsAre(DetPoint{2, 0.5, 0.5}, DetPoint{1, 0.5, 0.0}));
}

TEST(ImageCurves, MissRateAtARateTakesTheLastPointThatDoesNotExceedIt) {
  const auto curve = miss_rate_per_image(example_scores());
  EXPECT_EQ(miss_rate_at(curve, 0.05), 0.75);
  EXPECT_EQ(miss_rate_at(curve, 0.1), 0.5);  // 1 in 10 is exactly 0.1
  EXPECT_EQ(miss_rate_at(curve, 100), 0.5);
  EXPECT_EQ(miss_rate_at({}, 0.5), 1.0);
  const std::vector<DetPoint> late{{1, 0.2, 0.3}};
  EXPECT_EQ(miss_rate_at(late, 0.1), 1.0);
}

TEST(ImageCurves, LogAverageMissRateWorkedByHand) {
  // The nine rates are 0.01, 0.0178, 0.0316, 0.0562 (before the first false positive: 3 of 4 missed), then
  // 0.1, 0.178, 0.316, 0.562 and 1 (2 of 4 missed): (0.75^4 x 0.5^5)^(1/9) = (0.31640625 x 0.03125)^(1/9) =
  // 0.0098876953125^(1/9) = exp(-4.616464 / 9) = exp(-0.512940) = 0.59873.
  EXPECT_NEAR(log_average_miss_rate(miss_rate_per_image(example_scores())), 0.59873, 5e-6);
}

TEST(ImageCurves, LogAverageMissRateAtTheEnds) {
  EXPECT_NEAR(log_average_miss_rate({}), 1.0, 1e-12);
  const std::vector<DetPoint> perfect{{1, 0.0, 0.0}};
  EXPECT_NEAR(log_average_miss_rate(perfect), 1e-10, 1e-16);
  // A curve that begins at one false positive per image is 1 at eight of the nine rates.
  const std::vector<DetPoint> late{{1, 1.0, 0.5}};
  EXPECT_NEAR(log_average_miss_rate(late), std::pow(0.5, 1.0 / 9), 1e-12);
}

TEST(ImageCurves, PrecisionRecallAndItsAreaWorkedByHand) {
  const auto curve = precision_recall(example_scores());
  ASSERT_EQ(curve.size(), 5U);
  EXPECT_EQ(curve[2].recall, 0.5);
  EXPECT_DOUBLE_EQ(curve[2].precision, 2.0 / 3);
  EXPECT_EQ(curve[4].precision, 0.4);
  // Recall 0..0.25 at precision 1, 0.25..0.5 at 2/3, nothing beyond: 0.25 + 0.1666...
  EXPECT_NEAR(average_precision(curve), 0.25 + 0.25 * 2 / 3, 1e-12);
  EXPECT_EQ(average_precision({}), 0.0);
}

TEST(ImageCurves, PrecisionIsRaisedToTheHighestFurtherOn) {
  // Wrong, right, right of two: precision 0, 1/2, 2/3, so 2/3 all the way.
  EXPECT_NEAR(average_precision(precision_recall({{{3, false}, {2, true}, {1, true}}, 2, 1})), 2.0 / 3,
              1e-12);
}

TEST(ImageCurves, CollectsWhatCounts) {
  const std::vector<TruthBox> truth{{{0, 0, 10, 10}}, {{50, 0, 10, 10}}, {{100, 0, 50, 50}, true}};
  const std::vector<Detection> found{
      {{0, 0, 10, 10}, 3, 0}, {{110, 10, 10, 10}, 2, 0}, {{0, 200, 10, 10}, 1, 0}};
  ImageScores scores;
  scores.add(found, match_detections(found, truth, {}));
  scores.add({}, match_detections({}, {}, {}));
  EXPECT_THAT(scores.detections, ElementsAre(ScoredDetection{3, true}, ScoredDetection{1, false}));
  EXPECT_EQ(scores.positives, 2);
  EXPECT_EQ(scores.images, 2);
}

TEST(ImageCurves, NothingToEvaluateIsAnError) {
  test::expect_error(ExitCode::input, [] { miss_rate_per_image({{{1, false}}, 0, 5}); });
  test::expect_error(ExitCode::input, [] { precision_recall({{}, 3, 0}); });
  EXPECT_THROW(miss_rate_per_image({{{std::nan(""), false}}, 1, 1}), std::invalid_argument);
}

NegativeScores negatives_of(std::size_t capacity, const std::vector<double>& scores) {
  NegativeScores negatives(capacity);
  for (const double score : scores) negatives.add(score);
  return negatives;
}

TEST(WindowCurves, MissRateAtFalsePositivesPerWindow) {
  // Ten windows: one false positive at a tenth, so the threshold is just above the second highest, 4.
  const auto negatives = negatives_of(100, {0, 1, 2, 3, 4, 5, -1, -2, -3, -4});
  const std::vector<double> positives{6, 4.5, 4, 3, -9};
  const std::vector<double> rates{0.0, 0.05, 0.1, 0.5, 1.0};
  const auto points = miss_rates_per_window(positives, negatives, rates);
  EXPECT_EQ(points[0].threshold, std::nextafter(5.0, kInfinity));
  EXPECT_EQ(points[0].missed, 4U);
  EXPECT_EQ(points[1].false_positives, 0U);
  EXPECT_EQ(points[2].threshold, std::nextafter(4.0, kInfinity));
  EXPECT_EQ(points[2].false_positives, 1U);
  EXPECT_EQ(points[2].missed, 3U);  // the 4 is at the threshold's foot and missed
  EXPECT_EQ(points[2].miss_rate(), 0.6);
  EXPECT_EQ(points[3].false_positives, 5U);  // 5 to 1; 0 is one too many
  EXPECT_EQ(points[3].missed, 1U);
  EXPECT_EQ(points[4].missed, 0U);
  EXPECT_EQ(points[4].false_positives, 10U);
  EXPECT_EQ(points[4].windows, 10U);
  EXPECT_EQ(points[4].positives, 5U);
}

TEST(WindowCurves, EqualNegativesAreAllTurnedAway) {
  // Two are allowed, but the second to fourth are equal: only one is accepted.
  const auto negatives = negatives_of(100, {9, 7, 7, 7, 1, 1, 1, 1, 1, 1});
  const auto point = miss_rates_per_window(std::vector{8.0, 7.0}, negatives, std::vector{0.2}).at(0);
  EXPECT_EQ(point.false_positives, 1U);
  EXPECT_EQ(point.missed, 1U);
  EXPECT_EQ(point.false_positive_rate(), 0.1);
}

TEST(WindowCurves, ARateThatIsAWholeNumberOfWindowsIsNotRoundedDown) {
  for (const std::uint64_t allowed : {1U, 3U, 29U, 57U, 216U}) {
    const std::uint64_t windows = allowed * 10000;
    NegativeScores negatives(1000);
    for (std::uint64_t i = 0; i < 500; ++i) negatives.add(static_cast<double>(i));
    negatives.add_rejected(windows - 500);
    const auto point = miss_rates_per_window(std::vector{1.0}, negatives, std::vector{1e-4}).at(0);
    EXPECT_EQ(point.false_positives, allowed);
  }
}

TEST(WindowCurves, ARateWhoseProductRoundsDownIsNotRoundedDown) {
  // 0.29 x 100 is 28.999999999999996 in doubles, and yet 29 / 100 does not exceed 0.29.
  NegativeScores negatives(100);
  for (int i = 0; i < 100; ++i) negatives.add(i);
  EXPECT_EQ(miss_rates_per_window(std::vector{1.0}, negatives, std::vector{0.29}).at(0).false_positives, 29U);
}

TEST(WindowCurves, KeepsTheHighestInAnyOrder) {
  std::vector<double> scores;
  for (int i = 0; i < 1000; ++i) scores.push_back((i * 37) % 1000);
  const auto whole = negatives_of(5, scores);
  EXPECT_THAT(whole.sorted(), ElementsAre(999, 998, 997, 996, 995));
  EXPECT_TRUE(whole.truncated());
  auto merged = negatives_of(5, {scores.begin(), scores.begin() + 300});
  merged.merge(negatives_of(5, {scores.begin() + 300, scores.end()}));
  EXPECT_EQ(merged.sorted(), whole.sorted());
  EXPECT_EQ(merged.windows(), 1000U);
  EXPECT_THROW(merged.merge(NegativeScores(6)), std::invalid_argument);
}

TEST(WindowCurves, TruncatedScoresAnswerAsFarAsTheyReachAndNoFurther) {
  std::vector<double> scores;
  for (int i = 0; i < 1000; ++i) scores.push_back(i);
  const auto all = negatives_of(1000, scores);
  const auto few = negatives_of(10, scores);
  const std::vector<double> positives{2000, 994.5, 989.5, 500};
  const std::vector<double> rates{0.001, 0.005, 0.009};
  const auto expected = miss_rates_per_window(positives, all, rates);
  const auto actual = miss_rates_per_window(positives, few, rates);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_EQ(actual[i].threshold, expected[i].threshold);
    EXPECT_EQ(actual[i].missed, expected[i].missed);
    EXPECT_EQ(actual[i].false_positives, expected[i].false_positives);
  }
  test::expect_error(ExitCode::failed, [&] { miss_rates_per_window(positives, few, std::vector{0.01}); });
  EXPECT_EQ(miss_rate_per_window(positives, few).size(), 2U);
  EXPECT_EQ(miss_rate_per_window(positives, all).size(), 4U);
}

TEST(WindowCurves, RejectedWindowsAreBelowEveryThreshold) {
  NegativeScores negatives(10);
  negatives.add(1.0);
  negatives.add_rejected(9);
  const auto point = miss_rates_per_window(std::vector{0.5, -kInfinity}, negatives, std::vector{0.5}).at(0);
  EXPECT_EQ(point.false_positives, 1U);
  EXPECT_EQ(point.missed, 1U);
}

TEST(WindowCurves, CurveHasTheLowestRateForEachMissRate) {
  const auto negatives = negatives_of(100, {5, 3, 3, 1});
  EXPECT_THAT(miss_rate_per_window(std::vector{6.0, 3.0, 3.0, 2.0}, negatives),
              ElementsAre(DetPoint{6, 0.0, 0.75}, DetPoint{3, 0.75, 0.25}, DetPoint{2, 0.75, 0.0}));
}

TEST(WindowCurves, NothingToEvaluateIsAnError) {
  test::expect_error(ExitCode::input, [] { miss_rate_per_window({}, negatives_of(1, {1})); });
  test::expect_error(ExitCode::input, [] { miss_rate_per_window(std::vector{1.0}, NegativeScores()); });
  EXPECT_THROW(NegativeScores().add(std::nan("")), std::invalid_argument);
}

}  // namespace
}  // namespace sightline
