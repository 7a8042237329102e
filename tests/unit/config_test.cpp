#include "params/config.hpp"
#include "detectors/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/filterbank.hpp"

namespace sightline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kText = R"(# a comment
[source]
path = "video.mp4"

[detector]
threshold = -0.5
scale_step = 2
model = "models/people.safetensors"
)";

template <typename Work>
std::string usage_error(const Work& work) {
  return test::error_of(ExitCode::usage, work);
}

TEST(Config, AByteOrderMarkIsNoPartOfTheText) {
  const test::TempDir folder;
  test::store(folder / "own.toml", std::string("\xEF\xBB\xBF") + kText);
  EXPECT_EQ(Config::load(folder / "own.toml").text("source", "path", ""), "video.mp4");
  test::store(folder / "wide.toml", std::string("\xFF\xFE[\0d\0]\0", 8));
  EXPECT_THAT(usage_error([&] { Config::load(folder / "wide.toml"); }), HasSubstr("UTF-8"));
}

TEST(Config, ReadsValuesAndFallsBack) {
  const Config config = Config::parse(kText, "people.toml");
  EXPECT_EQ(config.name(), "people.toml");
  EXPECT_EQ(config.text("source", "path", ""), "video.mp4");
  EXPECT_EQ(config.number("detector", "threshold", 0, -10, 10), -0.5);
  EXPECT_EQ(config.number("detector", "scale_step", 1.1, 1, 8), 2.0);  // an integer is a number
  EXPECT_EQ(config.number("detector", "min_size", 48, 0, 100), 48);
  EXPECT_EQ(config.text("nowhere", "nothing", "else"), "else");
  EXPECT_EQ(config.optional_number("detector", "max_size", 0, 100), std::nullopt);
  EXPECT_EQ(config.optional_number("detector", "threshold", -10, 10), -0.5);
}

TEST(Config, AFreshCopyHasTheSameValuesAndHasBeenReadByNobody) {
  Config config = Config::parse(kText, "people.toml");
  config.set("detector", "threshold", 3.0);
  config.leave_out("detector", "scale_step");
  EXPECT_EQ(config.text("source", "path", ""), "video.mp4");
  config.expect_section("detector");
  EXPECT_NO_THROW(config.expect_all_known());
  Config copy = config.fresh_copy();
  EXPECT_EQ(copy.name(), "people.toml");
  EXPECT_EQ(copy.number("detector", "threshold", 0, -10, 10), 3.0);
  EXPECT_EQ(copy.number("detector", "scale_step", 1.1, 1, 8), 1.1);
  EXPECT_THAT(usage_error([&] { copy.expect_all_known(); }), HasSubstr("'model'"));
  copy.set("detector", "threshold", 4.0);
  EXPECT_EQ(config.number("detector", "threshold", 0, -10, 10), 3.0);
}

TEST(Config, WrongTypesNameTheLine) {
  const Config config = Config::parse(kText, "people.toml");
  EXPECT_THAT(usage_error([&] { config.text("detector", "threshold", ""); }),
              AllOf(StartsWith("people.toml:6: "), HasSubstr("'threshold'")));
  EXPECT_THAT(usage_error([&] { config.number("source", "path", 0, 0, 1); }),
              AllOf(StartsWith("people.toml:3: "), HasSubstr("'path'")));
  EXPECT_THAT(usage_error([&] { config.path("detector", "threshold", ""); }), StartsWith("people.toml:6: "));
}

TEST(Config, RangesAreChecked) {
  const Config config = Config::parse("[a]\nx = 5\nn = nan\ni = inf\n", "c.toml");
  EXPECT_EQ(config.number("a", "x", 0, 5, 5), 5);
  EXPECT_THAT(usage_error([&] { config.number("a", "x", 0, 6, 10); }),
              AllOf(StartsWith("c.toml:2: "), HasSubstr("'x'")));
  EXPECT_THAT(usage_error([&] { config.optional_number("a", "x", 0, 4); }), StartsWith("c.toml:2: "));
  EXPECT_THAT(usage_error([&] { config.number("a", "n", 0, -1e9, 1e9); }), StartsWith("c.toml:3: "));
  EXPECT_THAT(usage_error([&] { config.number("a", "i", 0, -1e9, 1e9); }), StartsWith("c.toml:4: "));
}

TEST(Config, WholeNumbers) {
  Config config = Config::parse("[a]\nx = 5\ny = 5.0\nz = 5.5\n", "c.toml");
  EXPECT_EQ(config.optional_whole_number("a", "x", 5, 6), 5);
  EXPECT_EQ(config.optional_whole_number("a", "y", 5, 6), 5);
  EXPECT_EQ(config.optional_whole_number("a", "nothing", 5, 6), std::nullopt);
  EXPECT_THAT(usage_error([&] { config.optional_whole_number("a", "z", 5, 6); }),
              AllOf(StartsWith("c.toml:4: "), HasSubstr("'z'")));
  EXPECT_THAT(usage_error([&] { config.optional_whole_number("a", "x", 6, 7); }), StartsWith("c.toml:2: "));
  config.set("a", "x", 2.5);
  EXPECT_THAT(usage_error([&] { config.optional_whole_number("a", "x", 1, 9); }), HasSubstr("'x'"));
}

TEST(Config, UnknownKeysAndSections) {
  {
    const Config config = Config::parse(kText, "people.toml");
    config.text("source", "path", "");
    config.number("detector", "threshold", 0, -10, 10);
    config.number("detector", "scale_step", 0, 0, 10);
    EXPECT_THAT(usage_error([&] { config.expect_all_known(); }),
                AllOf(StartsWith("people.toml:8: "), HasSubstr("'model'")));
    config.path("detector", "model", "");
    EXPECT_NO_THROW(config.expect_all_known());
  }
  const Config config = Config::parse(kText, "people.toml");
  config.text("source", "path", "");
  EXPECT_THAT(usage_error([&] { config.expect_all_known(); }),
              AllOf(StartsWith("people.toml:5: "), HasSubstr("[detector]")));
  EXPECT_NO_THROW(Config::parse("", "empty.toml").expect_all_known());
}

TEST(Config, SyntaxErrorsNameTheLine) {
  EXPECT_THAT(usage_error([] { Config::parse("[a]\nx = 1\ny = = 2\n", "c.toml"); }),
              StartsWith("c.toml:3: "));
  EXPECT_THAT(usage_error([] { Config::parse("[a]\nx = 1\nx = 2\n", "c.toml"); }), StartsWith("c.toml:3: "));
  EXPECT_THAT(usage_error([] { Config::parse("[a]\n\nx = \"open\n", "c.toml"); }), StartsWith("c.toml:3: "));
  EXPECT_THAT(usage_error([] { Config::parse("\nx = 1\n", "c.toml"); }),
              AllOf(StartsWith("c.toml:2: "), HasSubstr("'x'")));
}

TEST(Config, OverridesWin) {
  Config config = Config::parse(kText, "people.toml");
  config.set("detector", "threshold", 3.0);
  config.set("source", "path", std::string("other.mp4"));
  config.set("output", "video", std::string("out.mp4"));  // a section that the file lacks
  EXPECT_EQ(config.number("detector", "threshold", 0, -10, 10), 3.0);
  EXPECT_EQ(config.text("source", "path", ""), "other.mp4");
  EXPECT_EQ(config.text("output", "video", ""), "out.mp4");
  config.set("detector", "threshold", 30.0);
  EXPECT_THAT(usage_error([&] { config.number("detector", "threshold", 0, -10, 10); }),
              AllOf(HasSubstr("'threshold' is 30"), HasSubstr("-10")));
  // An overridden value is known to the file as well.
  config.number("detector", "scale_step", 0, 0, 10);
  config.path("detector", "model", "");
  EXPECT_NO_THROW(config.expect_all_known());
}

TEST(Config, PathsAreRelativeToTheFile) {
  const test::TempDir folder;
  std::ofstream(folder / "c.toml") << "[a]\nrelative = \"models/m\"\nabsolute = \"/m\"\n";
  Config config = Config::load(folder / "c.toml");
  EXPECT_EQ(config.path("a", "relative", ""), folder / "models/m");
  EXPECT_EQ(config.path("a", "absolute", ""), "/m");
  EXPECT_EQ(config.path("a", "missing", "fallback"), folder / "fallback");
  EXPECT_EQ(config.path("a", "missing", ""), "");
  config.set("a", "relative",
             std::string("models/m"));  // from the command line: relative to where the user is
  EXPECT_EQ(config.path("a", "relative", ""), "models/m");
  EXPECT_THAT(usage_error([&] { config.number("a", "absolute", 0, 0, 1); }), HasSubstr("c.toml:3: "));
}

TEST(Config, SectionsThatStandThereSeveralTimes) {
  const test::TempDir folder;
  const auto file = folder / "c.toml";
  std::ofstream(file)
      << "[[detector]]\nlabel = \"a\"\n[[detector]]\nlabel = \"b\"\nsize = 3\n[schedule]\nname = \"cpu\"\n";
  const std::vector<Config> each = Config::load_each(file, "detector");
  ASSERT_EQ(each.size(), 2u);
  EXPECT_EQ(each[0].text("detector", "label", ""), "a");
  EXPECT_EQ(each[1].text("detector", "label", ""), "b");
  EXPECT_EQ(each[0].number("detector", "size", 0, 0, 9), 0);
  EXPECT_EQ(each[1].number("detector", "size", 0, 0, 9), 3);
  for (const Config& one : each) EXPECT_EQ(one.text("schedule", "name", ""), "cpu");
  EXPECT_THAT(usage_error([&] { each[1].number("detector", "label", 0, 0, 1); }), HasSubstr("c.toml:4: "));
  // One who wants one is told.
  EXPECT_THAT(usage_error([&] { Config::load(file); }),
              AllOf(HasSubstr("c.toml:1: "), HasSubstr("[[detector]]")));
  std::ofstream(file) << "[detector]\nlabel = \"a\"\n";
  EXPECT_EQ(Config::load_each(file, "detector").size(), 1u);
  std::ofstream(file) << "";
  EXPECT_EQ(Config::load_each(file, "detector").size(), 1u);
}

TEST(Config, WhatIsSetIsOfTheKindThatIsRead) {
  Config config = Config::parse("[a]\n", "c.toml");
  config.set("a", "word", std::string("three"));
  config.set("a", "number", 3.0);
  EXPECT_THAT(usage_error([&] { config.number("a", "word", 0, 0, 9); }), HasSubstr("'word'"));
  EXPECT_THAT(usage_error([&] { config.optional_whole_number("a", "word", 0, 9); }), HasSubstr("'word'"));
  EXPECT_THAT(usage_error([&] { config.flag("a", "word", false); }), HasSubstr("'word'"));
  EXPECT_THAT(usage_error([&] { config.text("a", "number", ""); }), HasSubstr("'number'"));
  EXPECT_THAT(usage_error([&] { config.path("a", "number", ""); }), HasSubstr("'number'"));
}

TEST(Config, FilesThatCannotBeRead) {
  const test::TempDir folder;
  EXPECT_THAT(usage_error([&] { Config::load(folder / "none.toml"); }), HasSubstr("none.toml"));
  EXPECT_NE(usage_error([&] { Config::load(folder / ""); }), "");
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Config, DeepNestingIsRefusedBeforeItIsParsed) {
  const auto each = [](int levels) {
    return std::vector<std::string>{
        "\n[a" + repeated(".a", levels) + "]\n",
        "\n[[a" + repeated(".\"]\"", levels) + "]]\n",
        "[a]\na" + repeated(".a", levels) + " = 1\n",
        "[a]\na = " + repeated("[", levels) + repeated("]", levels) + "\n",
        "[a]\na = " + repeated("{a=", levels) + "1" + repeated("}", levels) + "\n",
        "[a]\na = [" + repeated("{a.a.a=[\n", levels / 4) + repeated("]}", levels / 4) + "]\n",
        "[a" + repeated(".a", levels / 2) + "]\na" + repeated(".a", levels / 2) + " = 1\n",
        // Strings and comments that end where a simpler scanner would not see it.
        "[a]\na = [\"\"\"x\"\"\"\"\", " + repeated("[", levels) + repeated("]", levels) + "]\n",
        "[a]\na = ['\\', " + repeated("[", levels) + repeated("]", levels) + "]\n",
        "[a] # \'\'\'\n[a.a" + repeated(".a", levels) + "]\n",
    };
  };
  for (const std::string& text : each(40'000)) {
    SCOPED_TRACE(text.substr(0, 20));
    EXPECT_THAT(usage_error([&] { Config::parse(text, "c.toml"); }), HasSubstr("64 levels"));
  }
  for (const std::string& text : each(40)) {
    SCOPED_TRACE(text.substr(0, 20));
    EXPECT_NO_THROW(Config::parse(text, "c.toml"));
  }
}

TEST(Config, BracketsAndDotsOfStringsAndNumbersAreNoLevels) {
  const std::string many = repeated("[{.", 100);
  const std::string text = "# " + many + "\n[a]\nx = \"" + many + "\\\"" + many + "\"\ny = '" + many +
                           "'\nz = \"\"\"\n" + many + "\"\n\"\"\"\nl = [" + repeated("1.5,\n", 100) + "]\n";
  EXPECT_NO_THROW(Config::parse(text, "c.toml"));
}

TEST(Config, TooManyDetectorsAreRefusedBeforeAModelIsRead) {
  const auto config_with = [](int inside) {
    return Config::parse(
        "[detector]\nmodel = \"none\"\n" + repeated("[[detector.inside]]\nmodel = \"none\"\n", inside),
        "c.toml");
  };
  EXPECT_NO_THROW(check_detector_config(config_with(15)));
  EXPECT_THROW(check_detector_config(config_with(16)), Error);
  std::vector<Config> both;
  both.push_back(config_with(7));
  both.push_back(config_with(7));
  EXPECT_NO_THROW(check_number_of_detectors(both));
  both.push_back(config_with(0));
  EXPECT_THROW(check_number_of_detectors(both), Error);
}

TEST(Config, TheShippedPipelineFileMakesADetector) {
  // As it is, without the pipeline that reads its section [schedule].
  const auto detector = make_detector(Config::load(SIGHTLINE_SOURCE_DIR "/configs/people.toml"));
  EXPECT_EQ(detector->info().labels, std::vector<std::string>{"person"});
}

}  // namespace
}  // namespace sightline
