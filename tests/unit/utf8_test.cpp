#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace sightline {
namespace {

TEST(Utf8, KnowsEveryLengthAndWhatIsNone) {
  EXPECT_EQ(utf8_code_points("aé世😀"), U"aé世😀");
  EXPECT_EQ(utf8_code_points(""), U"");
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"})
    EXPECT_FALSE(utf8_code_points(bad)) << static_cast<int>(static_cast<unsigned char>(bad[0]));
}

TEST(Utf8, PrintableTextHoldsNoControlCharacters) {
  EXPECT_EQ(printable("a\x1B[31m\nb\x7F"), "a\\x1b[31m\\x0ab\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\u009b31m")
      << "the one-character form of ESC [";
  EXPECT_EQ(printable("Zoë\xFF"), "Zoë\\xff");
  EXPECT_EQ(printable("\u202Egpj.exe\u2066\u200F\u061C"), "\\u202egpj.exe\\u2066\\u200f\\u061c");
  EXPECT_EQ(printable("a\tb\n\r", kLineEndsAndTabs), "a\tb\n\\x0d");
}

}  // namespace
}  // namespace sightline
