// What a user writes for --rotate.
#include "base/rotation.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace sightline {
namespace {

TEST(Rotation, TimesAndSizes) {
  const auto parse = [](const char* text) { return parse_rotation(text, "--rotate"); };
  EXPECT_EQ(parse("90s"), (Rotation{90, 0}));
  EXPECT_EQ(parse("10m"), (Rotation{600, 0}));
  EXPECT_EQ(parse("10min"), (Rotation{600, 0}));
  EXPECT_EQ(parse("1.5h"), (Rotation{5400, 0}));
  EXPECT_EQ(parse("1d"), (Rotation{86400, 0}));
  EXPECT_EQ(parse("500M"), (Rotation{0, std::int64_t{500} << 20}));
  EXPECT_EQ(parse("500MiB"), (Rotation{0, std::int64_t{500} << 20}));
  EXPECT_EQ(parse("500MB"), (Rotation{0, 500'000'000}));
  EXPECT_EQ(parse("2G"), (Rotation{0, std::int64_t{2} << 30}));
  EXPECT_EQ(parse("64K"), (Rotation{0, 65536}));
  EXPECT_EQ(parse("10m,500M"), (Rotation{600, std::int64_t{500} << 20}));
  EXPECT_EQ(parse("1T,2h"), (Rotation{7200, std::int64_t{1} << 40}));
  EXPECT_FALSE(parse("").is_set());
}

TEST(Rotation, IsRefusedWithTheOption) {
  for (const char* text : {"10", "m", "-5m", "10x", "0s", "10m,1h", "1M,2G", "10m,", "nans", "infs", "0.5",
                           "9999999999T", "10 m", "10S"}) {
    SCOPED_TRACE(text);
    test::expect_error(ExitCode::usage, "--rotate: ", [&] { parse_rotation(text, "--rotate"); });
  }
}

}  // namespace
}  // namespace sightline
