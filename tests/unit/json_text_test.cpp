#include "base/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sightline {
namespace {

TEST(JsonText, EscapesWhatATerminalWouldObey) {
  const std::string name = "a\x1b[31m\x7f\u009b31m\u202e\u2066\u00e9\"\\\n\u4eba";
  const nlohmann::json json{{name, name}};
  for (const int indent : {-1, 2}) {
    const std::string text = json_text(json, indent);
    for (const char* const raw : {"\x1b", "\x7f", "\u009b", "\u202e", "\u2066"})
      EXPECT_EQ(text.find(raw), std::string::npos);
    EXPECT_NE(text.find("\u00e9"), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(text), json);
  }
  EXPECT_EQ(json_text(nlohmann::json("a\xff")), "\"a\ufffd\"");
}

}  // namespace
}  // namespace sightline
