// A family outside the libraries: every command knows it. SIGHTLINE_TOY is the program with the toy family of
// this folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/program.hpp"

namespace sightline::test {
namespace {

using testing::HasSubstr;

Outcome expect(int exit_code, const std::vector<std::string>& arguments) {
  RunSetup setup;
  setup.program = SIGHTLINE_TOY;
  return expect_run(exit_code, arguments, setup);
}

class Toy : public testing::Test {
 protected:
  // A picture of 160x96, dark but for cell (x, y) of 16x16 pixels.
  std::string picture(const std::string& name, int value, int x = -1, int y = -1, int bright = 0) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file << "P5 160 96 255\n";
    for (int row = 0; row < 96; ++row) {
      for (int column = 0; column < 160; ++column)
        file.put(static_cast<char>(column / 16 == x && row / 16 == y ? bright : value));
    }
    return folder_ / name;
  }
  void train() {
    std::filesystem::create_directories(folder_ / "light");
    std::filesystem::create_directories(folder_ / "dark");
    picture("light/1.pgm", 200);
    picture("dark/1.pgm", 100);
    expect(0, {"train", "bright", "--positives", folder_ / "light", "--negatives", folder_ / "dark",
               "--percent", "60", "-o", model_});
  }

  TempDir folder_;
  std::string model_ = folder_ / "lamp.bright";
};

TEST_F(Toy, IsTrainedShownAndFinds) {
  train();
  EXPECT_THAT(expect(0, {"model", "show", model_}).out, HasSubstr("threshold      160\n"));

  const std::string lamp = picture("lamp.pgm", 30, 3, 2, 180);
  const auto objects = [&](const std::vector<std::string>& more) {
    const Outcome outcome = expect(0, std::vector<std::string>{"detect", lamp, "--model", model_} + more);
    const std::vector<Json> lines = parse_lines(outcome.out);
    return lines.size() == 1 ? lines[0].at("objects") : Json();
  };
  const Json found = objects({"--schedule", "cpu"});
  ASSERT_EQ(found.size(), 1U) << found;
  EXPECT_EQ(found[0].at("label"), "bright");
  EXPECT_EQ(found[0].at("box"), Json::parse("[48, 32, 16, 16]"));
  EXPECT_EQ(objects({"--schedule", "cpu", "--brighter", "21"}).size(), 0U) << "180 is less than 160 + 21";
  if (has_cpu_device()) {
    EXPECT_EQ(objects({"--device", "cpu", "--schedule", "gpu"}), found);
  }
}

// A detector that reads colour finds the same on each processor, in pictures and videos of all formats, alone
// and together with one that reads luma.
TEST_F(Toy, FindsColour) {
  train();
  const auto found = [&](const std::string& input, const std::vector<std::string>& more) {
    const Outcome outcome = expect(0, std::vector<std::string>{"detect", input} + more);
    std::string boxes;
    for (const Json& line : parse_lines(outcome.out)) boxes += line.at("objects").dump() + "\n";
    return boxes;
  };
  std::ofstream(folder_ / "both.toml")
      << "[[detector]]\nfamily = \"bright\"\nmodel = \"lamp.bright\"\n"
      << "[[detector]]\nfamily = \"bright\"\nmodel = \"lamp.bright\"\nred = true\n";
  for (const char* format : {"yuv420p", "nv12", "rgb24", "yuv420p10le"}) {
    SCOPED_TRACE(format);
    // A blue cell and a red one on black; the luma of both is low.
    const std::string graph = std::string(
                                  "lavfi:color=black:size=160x96:duration=0.1,format=gbrp,"
                                  "drawbox=16:32:16:16:blue:fill,drawbox=64:48:16:16:red:fill,format=") +
                              format;
    const std::vector<std::string> red{"--model", model_, "--red", "--schedule"};
    const std::string cpu = found(graph, red + std::vector<std::string>{"cpu"});
    EXPECT_THAT(cpu, HasSubstr("[64,48,16,16]"));
    EXPECT_THAT(cpu, testing::Not(HasSubstr("[16,32")));
    EXPECT_THAT(found(graph, {"--model", model_, "--schedule", "cpu"}), testing::Not(HasSubstr("box")));
    const std::vector<std::string> both{"--config", folder_ / "both.toml", "--schedule"};
    const std::string both_on_cpu = found(graph, both + std::vector<std::string>{"cpu"});
    EXPECT_THAT(both_on_cpu, HasSubstr("[64,48,16,16]"));
    if (!has_cpu_device()) continue;
    EXPECT_EQ(found(graph, red + std::vector<std::string>{"gpu", "--device", "cpu"}), cpu);
    EXPECT_EQ(found(graph, both + std::vector<std::string>{"gpu", "--device", "cpu"}), both_on_cpu);
  }
  // Grey is as red as it is bright.
  EXPECT_THAT(found(picture("lamp.pgm", 30, 3, 2, 180), {"--model", model_, "--red", "--schedule", "cpu"}),
              HasSubstr("[48,32,16,16]"));
}

TEST_F(Toy, IsMeasured) {
  train();
  const Outcome outcome =
      expect(0, {"measure", picture("lamp.pgm", 30, 3, 2, 180), "--model", model_, "--schedules", "cpu",
                 "--repeats", "1", "--frames", "10", "--device", "none"});
  EXPECT_THAT(outcome.out, HasSubstr("find"));
}

TEST_F(Toy, IsInHelpManualAndCompletion) {
  EXPECT_THAT(expect(0, {"train", "--help"}).out, HasSubstr("bright"));
  EXPECT_THAT(expect(0, {"train", "bright", "--help"}).out, HasSubstr("--percent"));
  EXPECT_THAT(expect(0, {"detect", "--help"}).out, HasSubstr("--brighter"));
  EXPECT_THAT(expect(0, {"manual", "train", "bright"}).out, HasSubstr("negatives (0) and positives (100)"));
  EXPECT_THAT(expect(0, {"complete", "--", "train", "b"}).out, HasSubstr("bright"));
  EXPECT_THAT(expect(0, {"complete", "--", "detect", "--bri"}).out, HasSubstr("--brighter"));
}

TEST_F(Toy, ItsOptionIsItsOwn) {
  const std::string any = picture("any.pgm", 30);
  EXPECT_THAT(expect(2, {"detect", any, "--brighter", "3"}).err, HasSubstr("--brighter"));
  train();
  EXPECT_THAT(expect(2, {"detect", any, "--model", model_, "--filters", "25"}).err, HasSubstr("--filters"));
  std::ofstream(folder_ / "broken.bright") << "no model";
  EXPECT_THAT(expect(4, {"detect", any, "--model", folder_ / "broken.bright"}).err,
              HasSubstr("broken.bright"));
}

}  // namespace
}  // namespace sightline::test
