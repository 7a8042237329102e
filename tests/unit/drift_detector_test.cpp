// When a plan is weighed anew and tried again: made-up figures go in, advice comes out.

#include "pipeline/planning/drift_detector.hpp"

#include <gtest/gtest.h>

namespace sightline::pipeline {
namespace {

using Advice = DriftDetector::Advice;
constexpr std::int64_t kSecond = 1'000'000'000;

class DriftDetectorTest : public ::testing::Test {
 protected:
  // A window a second; the first quantity decides, of two.
  Advice see(double first, double second = 1) { return watch_.observe(now_ += kSecond, {first, second}, 0); }

  DriftDetector watch_{2, 1, 3};
  std::int64_t now_ = 1000 * kSecond;
};

TEST_F(DriftDetectorTest, SeveralWindowsInARowDecide) {
  EXPECT_EQ(see(2), Advice::keep);  // what is normal
  EXPECT_EQ(see(4), Advice::keep);
  EXPECT_EQ(see(4), Advice::keep);
  EXPECT_EQ(see(2), Advice::keep);  // not in a row
  EXPECT_EQ(see(4), Advice::keep);
  EXPECT_EQ(see(4), Advice::keep);
  EXPECT_EQ(see(5), Advice::weigh);
  EXPECT_EQ(watch_.scales(), (std::vector<double>{2.5, 1}));
  watch_.accept();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(see(5), Advice::keep) << "this is how it is now";
}

TEST_F(DriftDetectorTest, LessIsDriftTooAndALittleIsNone) {
  see(2);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(see(2.59), Advice::keep);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(see(1.55), Advice::keep);
  EXPECT_EQ(see(1), Advice::keep);
  EXPECT_EQ(see(1), Advice::keep);
  EXPECT_EQ(see(1), Advice::weigh);
}

TEST_F(DriftDetectorTest, OthersAreScaledButDoNotDecide) {
  see(2, 1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(see(2, 7), Advice::keep);
  see(4, 3);
  see(4, 3);
  EXPECT_EQ(see(4, 3), Advice::weigh);
  EXPECT_EQ(watch_.scales(), (std::vector<double>{2, 3}));
}

TEST_F(DriftDetectorTest, AGivenUpPlanIsTriedAfterRisingPauses) {
  see(2);
  see(4), see(4);
  ASSERT_EQ(see(4), Advice::weigh);
  watch_.switched(now_, false);
  std::vector<std::int64_t> pauses;
  std::int64_t before = now_;
  for (int i = 0; i < 400 && pauses.size() < 6; ++i) {
    const Advice advice = see(1);
    if (advice == Advice::keep) continue;
    ASSERT_EQ(advice, Advice::try_plan);
    pauses.push_back((now_ - before) / kSecond);
    watch_.switched(now_, true);
    ASSERT_EQ(see(4), Advice::weigh) << "as bad as before";
    watch_.switched(now_, false);
    before = now_;
  }
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{10, 20, 40, 80, 120, 120}));
  // Then it does as planned, and pauses begin anew.
  for (Advice advice = Advice::keep; advice != Advice::try_plan;) advice = see(1);
  watch_.switched(now_, true);
  EXPECT_EQ(see(2.1), Advice::plan_is_back);
  EXPECT_EQ(see(2.1), Advice::keep);
  see(4), see(4);
  ASSERT_EQ(see(4), Advice::weigh);
  watch_.switched(now_, false);
  before = now_;
  for (Advice advice = Advice::keep; advice != Advice::try_plan;) advice = see(1);
  EXPECT_EQ((now_ - before) / kSecond, 10);
}

TEST_F(DriftDetectorTest, WhatIsAsPlannedAgainNeedsNoTrial) {
  see(2);
  see(4), see(4);
  ASSERT_EQ(see(4), Advice::weigh);
  watch_.switched(now_, false);  // to what takes 3 now, and 1.5 in quieter times
  EXPECT_EQ(see(3), Advice::keep);
  see(1.5), see(1.5);
  EXPECT_EQ(see(1.5), Advice::plan_holds);
  watch_.switched(now_, true);
  watch_.returned();
  EXPECT_EQ(watch_.scales(), (std::vector<double>{1, 1}));
  for (int i = 0; i < 30; ++i) EXPECT_EQ(see(2), Advice::keep);
}

}  // namespace
}  // namespace sightline::pipeline
