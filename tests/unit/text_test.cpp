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

TEST(Text, IsPutIntoThePlural) {
  EXPECT_EQ(plural("person"), "people");
  EXPECT_EQ(plural("car"), "cars");
  EXPECT_EQ(plural("bus"), "buses");
  EXPECT_EQ(plural("class 7"), "class 7");
  EXPECT_EQ(plural("bench"), "benches");
  EXPECT_EQ(plural("scissors"), "scissors");
  EXPECT_EQ(counted(1, "class"), "1 class");
  EXPECT_EQ(counted(2, "class"), "2 classes");
}

TEST(Text, LabelsOfOtherLanguagesHaveNoPlural) {
  EXPECT_EQ(counted_objects(2, "person"), "2 people");
  EXPECT_EQ(counted_objects(1, "face"), "1 face");
  EXPECT_EQ(counted_objects(2, "Mensch"), "Mensch: 2");
  EXPECT_EQ(several_of("Mensch"), "Mensch");
}

TEST(Text, NumbersInNamesAreOrderedByValue) {
  EXPECT_TRUE(natural_less("a2.mp4", "a10.mp4"));
  EXPECT_FALSE(natural_less("a10.mp4", "a2.mp4"));
  EXPECT_NE(natural_less("a1", "a01"), natural_less("a01", "a1"));
  EXPECT_FALSE(natural_less("a", "a"));
}

TEST(Text, RowsHaveAFieldMoreThanCommas) {
  using Fields = std::vector<std::string_view>;
  EXPECT_EQ(split_at_commas("a, b ,\r"), (Fields{"a", "b", ""}));
  EXPECT_EQ(split_at_commas(""), Fields{""});
}

// Spreadsheets run a cell that begins with one of = + - @, a tab or a carriage return.
TEST(CsvField, IsTextToASpreadsheet) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a, \"b\""), "\"a, \"\"b\"\"\"");
  EXPECT_EQ(csv_field("=HYPERLINK(\"http://h\",\"x\")"), "\"'=HYPERLINK(\"\"http://h\"\",\"\"x\"\")\"");
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)", "\tx"}) {
    EXPECT_EQ(csv_field(formula), std::string("'") + formula);
    EXPECT_EQ(without_formula_guard(csv_field(formula)), formula);
  }
  EXPECT_EQ(without_formula_guard("'n' Roll"), "'n' Roll");
  EXPECT_EQ(csv_field("-"), "-");
}

}  // namespace
}  // namespace sightline
