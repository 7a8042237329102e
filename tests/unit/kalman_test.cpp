#include "detection/kalman.hpp"

#include <gtest/gtest.h>

namespace sightline {
namespace {

TEST(ConstantVelocity, AStepByHand) {
  // At 10 with deviations 1 and 2, half a second, acceleration 0.6, then 12 is measured with deviation 0.5.
  auto filter = ConstantVelocity::at(10, 1, 2);
  filter.velocity = 3;
  EXPECT_NEAR(filter.ahead(0.5), 11.5, 1e-12);
  filter.predict(0.5, 0.6);
  EXPECT_NEAR(filter.position, 11.5, 1e-12);
  EXPECT_NEAR(filter.velocity, 3, 1e-12);
  EXPECT_NEAR(filter.position_variance, 2.015, 1e-12);  // 1 + 0.25 * 4 + 0.36 / 24
  EXPECT_NEAR(filter.covariance, 2.045, 1e-12);         // 0.5 * 4 + 0.36 / 8
  EXPECT_NEAR(filter.velocity_variance, 4.18, 1e-12);   // 4 + 0.36 / 2

  filter.correct(12, 0.5);  // the variance of the surprise is 2.265
  EXPECT_NEAR(filter.position, 11.5 + 2.015 / 2.265 * 0.5, 1e-12);
  EXPECT_NEAR(filter.velocity, 3 + 2.045 / 2.265 * 0.5, 1e-12);
  EXPECT_NEAR(filter.position_variance, 2.015 - 2.015 * 2.015 / 2.265, 1e-12);
  EXPECT_NEAR(filter.covariance, 2.045 - 2.015 * 2.045 / 2.265, 1e-12);
  EXPECT_NEAR(filter.velocity_variance, 4.18 - 2.045 * 2.045 / 2.265, 1e-12);
}

TEST(ConstantVelocity, TwoStepsAreOne) {
  auto one = ConstantVelocity::at(5, 2, 3);
  one.velocity = -1;
  one.covariance = 0.7;
  auto two = one;
  one.predict(0.75, 4);
  two.predict(0.25, 4);
  two.predict(0.5, 4);
  EXPECT_NEAR(one.position, two.position, 1e-12);
  EXPECT_NEAR(one.position_variance, two.position_variance, 1e-12);
  EXPECT_NEAR(one.covariance, two.covariance, 1e-12);
  EXPECT_NEAR(one.velocity_variance, two.velocity_variance, 1e-12);
}

TEST(ConstantVelocity, FindsTheSpeedOverUnevenSteps) {
  auto filter = ConstantVelocity::at(0, 0.1, 10);
  double time = 0;
  for (const double step : {0.1, 0.4, 0.05, 0.2, 0.3, 0.1}) {
    time += step;
    filter.predict(step, 0.01);
    filter.correct(-7 * time, 0.1);
  }
  EXPECT_NEAR(filter.velocity, -7, 0.01);
  EXPECT_NEAR(filter.ahead(2), -7 * (time + 2), 0.05);
}

TEST(ConstantVelocity, NoTimeChangesNothing) {
  auto filter = ConstantVelocity::at(3, 1, 2);
  filter.predict(0, 5);
  EXPECT_EQ(filter.position, 3);
  EXPECT_EQ(filter.position_variance, 1);
  EXPECT_EQ(filter.velocity_variance, 4);
  EXPECT_EQ(filter.covariance, 0);
}

}  // namespace
}  // namespace sightline
