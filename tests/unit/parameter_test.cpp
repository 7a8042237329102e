// Parameters as data: what is read by a row, and the option that follows from it.
#include "params/parameter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace sightline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ParameterDetails kTank{.section = "tank"};
constexpr Parameter<double> kDepth("depth", {0.5, 3}, "--depth METRES", "Depth of the water", kTank);
constexpr Parameter<int> kFish("fish", {1, 9}, "-f,--fish N", "Number of fish",
                               {.shows_range = true, .alias = "--carps", .section = "tank"});
constexpr Parameter<bool> kPump("pump", "--no-pump", "Leave the water still", kTank);
constexpr Parameter<std::string> kName("name", "", "Name of the tank", kTank);
constexpr Parameter<std::vector<double>> kSides("sides", {0, 5, 2}, "", "Width and length", kTank);

TEST(Parameter, ReadsAValueOfItsTypeFromItsSection) {
  const Config config = Config::parse(
      "[tank]\ndepth = 2\nfish = 3\npump = false\nname = \"carps\"\nsides = [1, 2.5]\n[detector]\ndepth = "
      "1\n",
      "tank.toml");
  EXPECT_EQ(kDepth.read(config), 2.0);
  EXPECT_EQ(kFish.read(config, 7), 3);
  EXPECT_EQ(kPump.read(config), false);
  EXPECT_EQ(kName.read(config, "none"), "carps");
  EXPECT_THAT(*kSides.read(config), ElementsAre(1, 2.5));
  const Config empty = Config::parse("[detector]\nfish = 3\npump = false\n", "empty.toml");
  EXPECT_EQ(kFish.read(empty, 7), 7);
  EXPECT_EQ(kPump.read(empty), std::nullopt);  // which is not false
}

TEST(Parameter, RefusesWhatIsOutOfRangeOrOfAnotherType) {
  const auto refused = [](const auto& parameter, const std::string& value) {
    const Config config = Config::parse("[tank]\n" + std::string(parameter.key) + " = " + value, "tank.toml");
    return test::error_of(ExitCode::usage, [&] { parameter.read(config); });
  };
  EXPECT_THAT(refused(kDepth, "0.25"), AllOf(HasSubstr("tank.toml:2: 'depth'"), HasSubstr("from 0.5 to 3")));
  EXPECT_THAT(refused(kFish, "10"), HasSubstr("from 1 to 9"));
  EXPECT_THAT(refused(kFish, "1.5"), HasSubstr("whole number"));
  EXPECT_THAT(refused(kPump, "1"), HasSubstr("true or false"));
  EXPECT_THAT(refused(kName, "1"), HasSubstr("'name' must be a text"));
  EXPECT_THAT(refused(kSides, "[1, 2, 3]"), HasSubstr("2 numbers from 0 to 5"));
}

TEST(Parameter, DescribesItsOption) {
  std::optional<int> fish;
  const Option option = kFish.make_option(&fish);
  EXPECT_EQ(option.long_name(), "--fish");
  EXPECT_EQ(option.value_name, "N");
  EXPECT_EQ(option.help, "Number of fish");
  EXPECT_EQ(option.range, std::pair(1.0, 9.0));
  EXPECT_THAT(option.hidden_aliases, ElementsAre("--carps"));
  EXPECT_EQ(std::get<std::optional<int>*>(option.target), &fish);
  EXPECT_EQ(kDepth.make_option().range, std::nullopt);  // its reader refuses, not the option
  EXPECT_EQ(kDepth.kind, ParameterInfo::Kind::number);
  EXPECT_EQ(kSides.kind, ParameterInfo::Kind::numbers);
}

}  // namespace
}  // namespace sightline
