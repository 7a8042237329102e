// What people are told of JSON that is damaged or says something else.

#include "base/json_problem.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/errors.hpp"

namespace sightline {
namespace {

using Json = nlohmann::json;

std::string problem_of(const auto& use) {
  try {
    use();
  } catch (const std::exception& error) {
    return json_problem(error);
  }
  return "none";
}

std::string problem_in(const std::string& text) {
  return problem_of([&] { [[maybe_unused]] const Json json = Json::parse(text); });
}

TEST(JsonProblem, SaysLineAndColumnAndNoMarkOfTheLibrary) {
  const std::string said = problem_in("{\"a\": 1,\n \"b\": }");
  EXPECT_EQ(said.find("line 2, column 7: "), 0u) << said;
  EXPECT_EQ(said.find("json.exception"), std::string::npos) << said;
}

TEST(JsonProblem, SaysWhichKeyIsMissingOrOfAnotherType) {
  const Json json = Json::parse(R"({"a": "text"})");
  EXPECT_EQ(problem_of([&] { static_cast<void>(json.at("b")); }), "key 'b' not found");
  EXPECT_EQ(problem_of([&] { static_cast<void>(json.at("a").get<int>()); }),
            "type must be number, but is string");
}

TEST(JsonProblem, IsShortAndFitForATerminal) {
  const std::string said = problem_in("[\"" + std::string(100'000, 'x') + "\x1b[31m");
  EXPECT_LT(said.size(), 300u);
  EXPECT_TRUE(said.ends_with("...")) << said;
  EXPECT_EQ(problem_in("[\"\xff\"]").find('\xff'), std::string::npos);
}

TEST(JsonProblem, OthersSayWhatTheySay) {
  EXPECT_EQ(problem_of([] { throw std::runtime_error("a [json.exception.] in words"); }),
            "a [json.exception.] in words");
}

TEST(JsonLimits, CountLevelsAndValuesOutsideOfTexts) {
  const auto is_refused = [](const std::string& text) {
    return test::error_of(ExitCode::input, [&] { check_json_limits(text); }) != "";
  };
  EXPECT_FALSE(is_refused(std::string(64, '[') + std::string(64, ']')));
  EXPECT_TRUE(is_refused(std::string(65, '[') + std::string(65, ']')));
  EXPECT_FALSE(is_refused("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"));
  EXPECT_TRUE(is_refused("[\"\\\\\", " + std::string(100, '[')));
  EXPECT_FALSE(is_refused("[\"" + std::string(5'000'000, ',') + "\"]"));
  EXPECT_TRUE(is_refused("[0" + std::string(5'000'000, ',') + "]"));
}

}  // namespace
}  // namespace sightline
