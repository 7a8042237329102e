// Confidences of scores: read, interpolated, asked for, and fitted.
#include "detection/score_calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "evaluation/calibration.hpp"
#include "model/safetensors.hpp"
#include "support/errors.hpp"

namespace sightline {
namespace {

using test::expect_error;

const ScoreCalibration kCalibration({{-1, 0.25}, {0, 0.5}, {3, 0.75}});

TEST(ScoreCalibration, InterpolatesAndEndsWithItsPoints) {
  for (const auto& [score, confidence] : kCalibration.points())
    EXPECT_EQ(kCalibration.confidence(score), confidence);
  EXPECT_EQ(kCalibration.confidence(-0.5), 0.375);
  EXPECT_EQ(kCalibration.confidence(1.5), 0.625);
  EXPECT_EQ(kCalibration.confidence(-100), 0.25);
  EXPECT_EQ(kCalibration.confidence(100), 0.75);
  EXPECT_EQ(kCalibration.confidence(std::numeric_limits<double>::quiet_NaN()), 0.25);
}

TEST(ScoreCalibration, ScoreAtIsTheInverse) {
  EXPECT_EQ(kCalibration.score_at(0.375), -0.5);
  EXPECT_EQ(kCalibration.score_at(0.75), 3);
  EXPECT_EQ(kCalibration.score_at(0.25), ScoreCalibration::lowest());
  EXPECT_EQ(kCalibration.score_at(0), ScoreCalibration::lowest());
  EXPECT_EQ(kCalibration.score_at(0.76), ScoreCalibration::highest());
}

TEST(ScoreCalibration, SetsTheConfidenceOfDetections) {
  std::vector<Detection> found{{{}, 0, 0}, {{}, 3, 0}};
  ScoreCalibration().apply_to(found);
  EXPECT_FALSE(found[0].confidence);
  kCalibration.apply_to(found);
  EXPECT_EQ(found[0].confidence, 0.5);
  EXPECT_EQ(found[1].confidence, 0.75);
}

TEST(ScoreCalibration, RefusesPointsThatDoNotRise) {
  using Points = std::vector<ScoreCalibration::Point>;
  for (const Points& points :
       {Points{}, Points{{0, 0.5}}, Points{{0, 0.5}, {0, 0.6}}, Points{{0, 0.5}, {1, 0.5}},
        Points{{0, -0.1}, {1, 0.5}}, Points{{0, 0.1}, {1, 1.5}},
        Points{{0, 0.1}, {std::numeric_limits<double>::quiet_NaN(), 0.5}}})
    EXPECT_THROW(ScoreCalibration{points}, std::invalid_argument);
}

TEST(ScoreCalibration, IsReadBackFromAHeaderAndRefusedWhereDamaged) {
  Safetensors file;
  const std::filesystem::path path = "model.safetensors";
  const ModelHeader header(file, path);
  EXPECT_TRUE(ScoreCalibration::read(header).empty());
  file.metadata["calibration"] = kCalibration.to_text();
  EXPECT_EQ(ScoreCalibration::read(header).to_text(), kCalibration.to_text());
  for (const char* damaged : {"", "1", "1,0.5", "0,0.5,1", "0,0.5,1,nan", "0,0.5,1,0.4", "0,0.5,1,2", "x"}) {
    file.metadata["calibration"] = damaged;
    expect_error(ExitCode::model, "'calibration'", [&] { ScoreCalibration::read(header); });
  }
}

double threshold_of(const std::string& section, const ScoreCalibration& calibration) {
  return read_threshold(Config::parse("[detector]\n" + section, "test.toml"), calibration, 7);
}

TEST(ScoreCalibration, AConfigurationAsksForAConfidenceOrARawScore) {
  EXPECT_EQ(threshold_of("", kCalibration), 7);
  EXPECT_EQ(threshold_of("threshold = -2", kCalibration), -2);
  EXPECT_EQ(threshold_of("confidence = 0.375", kCalibration), -0.5);
  EXPECT_EQ(threshold_of("confidence = 0.375\nthreshold = 1", kCalibration), -0.5);
  expect_error(ExitCode::usage, [] { threshold_of("confidence = 0.5", {}); });
  expect_error(ExitCode::usage, "confidence", [] { threshold_of("confidence = 1.5", kCalibration); });
}

// Boxes of which a share is right that follows a logistic curve of their scores.
std::vector<std::vector<JudgedBox>> pictures_by(double slope, double offset, int pictures) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> score(-4, 4), chance(0, 1);
  std::vector<std::vector<JudgedBox>> all(static_cast<std::size_t>(pictures));
  for (auto& boxes : all) {
    for (int i = 0; i < 10; ++i) {
      const double at = score(random);
      boxes.push_back({at, chance(random) < 1 / (1 + std::exp(-(slope * at + offset)))});
    }
  }
  return all;
}

TEST(Calibration, FindsTheCurveThatBoxesFollow) {
  const auto pictures = pictures_by(1.5, -0.75, 2000);
  std::vector<JudgedBox> boxes;
  for (const auto& some : pictures) boxes.insert(boxes.end(), some.begin(), some.end());
  const ScoreCalibration calibration = fit_calibration(boxes);
  EXPECT_NEAR(calibration.score_at(0.5), 0.5, 0.05);
  EXPECT_NEAR(calibration.confidence(2), 0.905, 0.01);
  EXPECT_NEAR(calibration.confidence(-1), 0.095, 0.01);
  const Reliability reliability = cross_validate_calibration(pictures);
  ASSERT_EQ(reliability.rows.size(), 10U);
  EXPECT_LT(reliability.error, 0.02);
  std::int64_t count = 0;
  for (const ReliabilityRow& row : reliability.rows) {
    EXPECT_LE(row.low, row.right);
    EXPECT_GE(row.high, row.right);
    count += row.boxes;
  }
  EXPECT_EQ(count, 20000);
}

TEST(Calibration, RefusesTooFewBoxesAndScoresThatSayTheOpposite) {
  const std::vector<JudgedBox> right(100, {1, true});
  expect_error(ExitCode::input, "0 wrong", [&] { fit_calibration(right); });
  std::vector<JudgedBox> opposite(100, {1, false});
  opposite.insert(opposite.end(), 100, {-1, true});
  expect_error(ExitCode::input, [&] { fit_calibration(opposite); });
}

}  // namespace
}  // namespace sightline
