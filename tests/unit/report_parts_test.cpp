// Round numbers, which axes end at and are marked by.
#include "pipeline/report/report_parts.hpp"

#include <gtest/gtest.h>

namespace sightline::report_parts {
namespace {

TEST(RoundNumbers, AreOneTwoAndFiveTimesAPowerOfTen) {
  for (const double power : {1e-9, 0.01, 0.1, 1.0, 10.0, 1e6}) {
    for (const auto& [value, above, below] : {std::array{1.0, 1.0, 1.0},
                                              {1.2, 2.0, 1.0},
                                              {2.0, 2.0, 2.0},
                                              {2.1, 5.0, 2.0},
                                              {5.0, 5.0, 5.0},
                                              {5.001, 10.0, 5.0},
                                              {9.99, 10.0, 5.0}}) {
      EXPECT_NEAR(round_up(value * power), above * power, 1e-6 * power) << value << " times " << power;
      EXPECT_NEAR(round_down(value * power), below * power, 1e-6 * power) << value << " times " << power;
    }
  }
}

TEST(RoundNumbers, AreNotMissedByARoundingError) {
  EXPECT_DOUBLE_EQ(round_up(0.1 + 0.2 - 0.1), 0.2);
  EXPECT_DOUBLE_EQ(round_up(3 * 0.1 / 0.3 * 1000), 1000);
  EXPECT_DOUBLE_EQ(round_down(0.5 - 1e-13), 0.5);
}

TEST(RoundNumbers, ARangeHasNoMoreStepsThanWanted) {
  EXPECT_DOUBLE_EQ(round_step(10, 5), 2);
  EXPECT_DOUBLE_EQ(round_step(11, 5), 5);
  EXPECT_DOUBLE_EQ(round_step(0.7, 8), 0.1);
}

}  // namespace
}  // namespace sightline::report_parts
