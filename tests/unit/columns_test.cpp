// Columns of terminals.
#include "base/columns.hpp"

#include <gtest/gtest.h>

#include "support/variable.hpp"

namespace sightline {
namespace {

TEST(Columns, OfLettersOfEveryKind) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("M\u00fcller"), 6u);
  EXPECT_EQ(columns_of("Mu\u0308ller"), 6u);
  EXPECT_EQ(columns_of("\u6771\u4eac"), 4u);
  EXPECT_EQ(columns_of("\U0001F600"), 2u);
  EXPECT_EQ(columns_of("a\xff"
                       "b"),
            3u);
}

TEST(Columns, ATextIsCutBetweenLetters) {
  EXPECT_EQ(cut_to_columns("abcdef", 4), "abcd");
  EXPECT_EQ(cut_to_columns("a\u6771\u4eac", 4), "a\u6771");
  EXPECT_EQ(cut_to_columns("Mu\u0308ller", 2), "Mu\u0308");
  EXPECT_EQ(cut_to_columns("abc", 10), "abc");
  EXPECT_EQ(cut_to_columns("abc", 0), "");
}

TEST(Columns, LinesAreBrokenAtBlanks) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 13), "one two three");
  EXPECT_EQ(wrapped("one two", 7, 2), "one\ntwo");
  EXPECT_EQ(wrapped("one two", 6, 0, 3), "one\n   two");
  EXPECT_EQ(wrapped("a longerthanthat b", 6), "a\nlongerthanthat\nb");
  EXPECT_EQ(wrapped("longerthanthat", 6, 4, 2), "longerthanthat");
}

TEST(Columns, OfTheTerminalAreInAVariable) {
  const test::Variable columns("COLUMNS", "61");
  EXPECT_EQ(terminal_columns(-1, 80), 61u);
  const test::Variable none("COLUMNS", "x");
  EXPECT_EQ(terminal_columns(-1, 80), 80u);
}

}  // namespace
}  // namespace sightline
