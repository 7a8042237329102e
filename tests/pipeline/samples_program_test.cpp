// `sightline samples`, and judging by what it makes.

#include <csignal>
#include <filesystem>

#include "media/gray_png.hpp"
#include "support/filterbank.hpp"
#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

// Eight pictures with an object each, and five backgrounds.
class SamplesProgram : public testing::Test {
 protected:
  SamplesProgram() {
    for (const char* name : {"pictures", "backgrounds"}) fs::create_directory(folder_ / name);
    for (unsigned i = 0; i < 8; ++i) {
      const std::string name = "p" + std::to_string(i) + ".png";
      media::write_gray_png(folder_ / ("pictures/" + name), random_picture({90, 160}, i).view());
      boxes_ += name + " 25 20 65 120\n";
    }
    for (unsigned i = 0; i < 5; ++i)
      media::write_gray_png(folder_ / ("backgrounds/b" + std::to_string(i) + ".png"),
                            random_picture({200, 180}, 100 + i).view());
    store(folder_ / "boxes.txt", boxes_);
  }
  Words command(const Words& more = {}) {
    return Words{"samples",  folder_ / "pictures", "--boxes", folder_ / "boxes.txt",
                 "--output", folder_ / "out"} +
           more;
  }
  Words with_scenes() {
    return command({"--backgrounds", folder_ / "backgrounds", "--copies", "2", "--test-share", "0.4",
                    "--size", "24x48", "--scenes", "3", "--smallest", "100", "--largest", "0.9"});
  }
  // Names in the folder that are neither inputs nor the output.
  int left_over() {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      count += entry.path().filename().string().starts_with("out.");
    return count;
  }
  TempDir folder_;
  std::string boxes_;
};

TEST_F(SamplesProgram, MakesAFolderToTrainAndJudgeWith) {
  const Outcome made = expect_run(0, "3 objects", with_scenes());
  EXPECT_EQ(made.out, folder_ / "out\n");
  for (const char* name : {"train", "test", "scenes", "scenes.txt", "train-boxes.txt", "test-boxes.txt",
                           "train-backgrounds.txt", "test-backgrounds.txt", "sheet.png", "samples.json"})
    EXPECT_TRUE(fs::exists(folder_ / ("out/" + std::string(name)))) << name;
  EXPECT_EQ(left_over(), 0);

  // Judged by a detector of something else, which finds a lot.
  const Words judge = Words{"evaluate",
                            "frames",
                            folder_ / "out/scenes",
                            "--truth",
                            folder_ / "out/scenes.txt",
                            "--truth-format",
                            "boxes",
                            "--protocol",
                            "centre",
                            "--border",
                            "8"} +
                      kFindsSome;
  const Outcome judged = expect_run(0, judge + Words{"--decisions", folder_ / "d.csv", "--csv",
                                                     folder_ / "c.csv", "--at", "0", "--name", "people"});
  EXPECT_NE(judged.out.find("3 pictures with objects and 3 without"), std::string::npos) << judged.out;
  EXPECT_NE(judged.out.find("At the score of --at"), std::string::npos) << judged.out;
  EXPECT_NE(judged.out.find("best F1"), std::string::npos) << judged.out;

  const Outcome compared = expect_run(0, {"evaluate", "compare", folder_ / "d.csv", folder_ / "d.csv"});
  EXPECT_NE(compared.out.find("best by F1: people, from a score of"), std::string::npos) << compared.out;
  const Outcome curves = expect_run(0, {"evaluate", "compare", folder_ / "c.csv"});
  EXPECT_NE(curves.out.find("best F1"), std::string::npos) << curves.out;
  expect_run(3, {"evaluate", "compare", folder_ / "d.csv", folder_ / "c.csv"});
  expect_run(2, "--svg", {"evaluate", "compare", folder_ / "d.csv", "--svg", folder_ / "d.svg"});

  // With pictures of one kind alone there is nothing to tell apart.
  expect_run(3, "3 pictures",
             {"evaluate", "frames", folder_ / "pictures", "--truth", folder_ / "out/test-boxes.txt",
              "--truth-format", "boxes", "--at", "0"});
}

TEST_F(SamplesProgram, ReplacesItsOwnFoldersOnly) {
  expect_run(0, "training: 6 objects, 12 crops", command({"--copies", "1"}));
  expect_run(2, "--overwrite", command());
  expect_run(0, "training: 6 objects, 18 crops", command({"--copies", "2", "--overwrite"}));
  EXPECT_EQ(left_over(), 0);
  fs::remove(folder_ / "out/samples.json");
  expect_run(1, command({"--replace"}));
  EXPECT_TRUE(fs::exists(folder_ / "out/sheet.png"));
}

TEST_F(SamplesProgram, BadInputsAreNamed) {
  store(folder_ / "boxes.txt", boxes_ + "p1.png 500 500 600 600\n");
  expect_run(3, "500", command());
  store(folder_ / "boxes.txt", std::string("p1.png 1 2 3\n"));
  expect_run(3, "boxes.txt:1:", command());
  store(folder_ / "boxes.txt", std::string());
  expect_run(3, command());
  store(folder_ / "boxes.txt", boxes_ + "gone.png 1 2 30 40\n");
  expect_run(0, "1 marked", command({"--copies", "0"}));
  fs::remove_all(folder_ / "out");
  store(folder_ / "boxes.txt", std::string("p1.png 25 20 65 120\n"));  // one positive trains
  expect_run(0, "training: 1 objects, 2 crops", command({"--copies", "1"}));
  fs::remove_all(folder_ / "out");
  expect_run(2, "--scenes", command({"--scenes", "2"}));
  expect_run(3, "0 objects", command({"--scenes", "2", "--backgrounds", folder_ / "backgrounds"}));
  expect_run(2, "--size 48", command({"--size", "48"}));
  expect_run(3, "nowhere",
             {"samples", folder_ / "nowhere", "--boxes", folder_ / "boxes.txt", "-o", folder_ / "out"});
  store(folder_ / "pictures/p1.png", std::string("no picture"));
  expect_run(3, "p1.png", command());
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_EQ(left_over(), 0);
}

TEST_F(SamplesProgram, AFullDiskLeavesNothing) {
  RunSetup setup;
  setup.file_limit = 1000;
  expect_run(1, with_scenes(), setup);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_EQ(left_over(), 0);
}

TEST_F(SamplesProgram, StopsWithoutATrace) {
  Program program(command({"--copies", "10000", "--size", "96x192"}));
  ASSERT_TRUE(program.wait_until([&] { return left_over() > 0; }));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 128 + SIGINT) << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  EXPECT_EQ(left_over(), 0);
}

}  // namespace
}  // namespace sightline::test
