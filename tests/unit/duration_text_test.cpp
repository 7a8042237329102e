#include "base/duration_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sightline {
namespace {

TEST(DurationText, MinutesAndHours) {
  EXPECT_EQ(duration_text(0), "0:00");
  EXPECT_EQ(duration_text(65), "1:05");
  EXPECT_EQ(duration_text(3599), "59:59");
  EXPECT_EQ(duration_text(3600), "1:00:00");
  EXPECT_EQ(duration_text(7213), "2:00:13");
}

TEST(DurationText, NearestSecond) {
  EXPECT_EQ(duration_text(59.4), "0:59");
  EXPECT_EQ(duration_text(59.5), "1:00");
  EXPECT_EQ(duration_text(3599.5), "1:00:00");
}

TEST(DurationText, WhatIsNoSpanOfTime) {
  EXPECT_EQ(duration_text(-7), "0:00");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "0:00");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "0:00");
}

}  // namespace
}  // namespace sightline
