// What a user writes for --rotate.
#include "base/segment_limits.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace sightline {
namespace {

TEST(SegmentLimits, TimesAndSizes) {
  const auto parse = [](const char* text) { return parse_segment_limits(text, "--rotate"); };
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

TEST(SegmentLimits, RefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"10", "has no unit"},  {"m", "not a time"},     {"-5m", "not a time"},  {"10x", "'x'"},
      {"0s", "every frame"},  {"10m,1h", "two times"}, {"1M,2G", "two sizes"}, {"10m,", "not a time"},
      {"nans", "not a time"}, {"infs", "not a time"},  {"0.5", "has no unit"}, {"9999999999T", "range"},
      {"10 m", "' m'"},       {"10S", "'S'"}};
  for (const auto& [text, words] : cases) try {
      parse_segment_limits(text, "--rotate");
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).rfind("--rotate: ", 0), 0u) << error.what();
    }
}

}  // namespace
}  // namespace sightline
