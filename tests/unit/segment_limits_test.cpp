// What a user writes for --rotate.
#include "base/segment_limits.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace sightline {
namespace {

TEST(SegmentLimits, TimesAndSizes) {
  const auto parse = [](const char* text) { return parse_segment_limits(text, "rotate"); };
  EXPECT_EQ(parse("90s"), (SegmentLimits{90, 0}));
  EXPECT_EQ(parse("10m"), (SegmentLimits{600, 0}));
  EXPECT_EQ(parse("10min"), (SegmentLimits{600, 0}));
  EXPECT_EQ(parse("1.5h"), (SegmentLimits{5400, 0}));
  EXPECT_EQ(parse("1d"), (SegmentLimits{86400, 0}));
  EXPECT_EQ(parse("500M"), (SegmentLimits{0, std::int64_t{500} << 20}));
  EXPECT_EQ(parse("500MiB"), (SegmentLimits{0, std::int64_t{500} << 20}));
  EXPECT_EQ(parse("500MB"), (SegmentLimits{0, 500'000'000}));
  EXPECT_EQ(parse("2G"), (SegmentLimits{0, std::int64_t{2} << 30}));
  EXPECT_EQ(parse("64K"), (SegmentLimits{0, 65536}));
  EXPECT_EQ(parse("10m,500M"), (SegmentLimits{600, std::int64_t{500} << 20}));
  EXPECT_EQ(parse("1T,2h"), (SegmentLimits{7200, std::int64_t{1} << 40}));
  EXPECT_FALSE(parse("").is_set());
}

TEST(SegmentLimits, IsRefusedWithTheOption) {
  for (const char* text : {"10", "m", "-5m", "10x", "0s", "10m,1h", "1M,2G", "10m,", "nans", "infs", "0.5",
                           "9999999999T", "10 m", "10S"}) {
    SCOPED_TRACE(text);
    test::expect_error(ExitCode::usage, "--rotate: ", [&] { parse_segment_limits(text, "rotate"); });
  }
}

}  // namespace
}  // namespace sightline
