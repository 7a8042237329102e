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
  EXPECT_EQ(printable("a\x1B[31m\nb\x7F"), "a?[31m?b?");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "?31m")
      << "the one-character form of ESC [";
  EXPECT_EQ(printable("Zoë\xFF"), "Zoë?");
}

}  // namespace
}  // namespace sightline
