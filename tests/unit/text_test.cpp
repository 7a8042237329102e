// Pieces of text.
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace sightline {
namespace {

using Pieces = std::vector<std::string>;

TEST(Text, IsTrimmedAtBothEnds) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, IsSplitAtSeparators) {
  EXPECT_EQ(split("a,b", ','), (Pieces{"a", "b"}));
  EXPECT_EQ(split(",a, b,", ','), (Pieces{"", "a", " b"}));
  EXPECT_EQ(split("a,b", ';'), (Pieces{"a,b"}));
  EXPECT_EQ(split("", ','), Pieces());
}

TEST(Text, RowsHaveAFieldMoreThanCommas) {
  using Fields = std::vector<std::string_view>;
  EXPECT_EQ(split_at_commas("a, b ,\r"), (Fields{"a", "b", ""}));
  EXPECT_EQ(split_at_commas(""), Fields{""});
}

}  // namespace
}  // namespace sightline
