// `sightline batch`: whatever machines take part, and however often they are killed, the merged file is the
// one that a single machine writes.

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/random.hpp"
#include "media/gray_png.hpp"
#include "support/program.hpp"
#include "support/thorough.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using Words = std::vector<std::string>;

class Batch : public testing::Test {
 protected:
  // Videos with key frames every ten frames.
  static void SetUpTestSuite() {
    videos_ = std::make_unique<TempDir>();
    for (const int number : {1, 2, 3}) {
      const std::string graph = moving_clip(160 + 16 * number, 200, 20 + 10 * number).substr(6);
      RunSetup setup;
      setup.program = "/usr/bin/ffmpeg";
      const Outcome outcome = run({"-v", "error", "-f", "lavfi", "-i", graph, "-pix_fmt", "yuv420p", "-c:v",
                                   "libx264", "-preset", "ultrafast", "-g", "10", "-bf", "2", video(number)},
                                  setup);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }
  static void TearDownTestSuite() { videos_.reset(); }

  static std::string video(int number) { return *videos_ / (std::to_string(number) + ".mp4"); }
  static Words videos() { return {video(1), video(2), video(3)}; }
  std::string job() const { return folder_ / "job"; }

  Outcome plan(const Words& words, int code = 0) const {
    return expect_run(code, "", Words{"batch", "plan", "--job", job()} + words);
  }
  Json status() const { return Json::parse(expect_run(0, "", {"batch", "status", job(), "--json"}).out); }
  std::size_t tasks() const { return status().at("tasks_left").size(); }
  void work_all() const { expect_run(0, "", {"-q", "batch", "work", job()}); }
  std::string merged(const std::string& name, const Words& words = {}, int code = 0) const {
    const std::string file = folder_ / name;
    expect_run(code, "", Words{"batch", "merge", job(), "--overwrite", "--output", file} + words);
    return bytes_of(file);
  }
  std::string detected(const std::string& name, const Words& words, int code = 0) const {
    const std::string file = folder_ / ("detected-" + name);
    expect_run(code, "", Words{"-q", "detect", "--overwrite", "--detections", file} + words);
    return bytes_of(file);
  }
  // Files of parts that are done.
  std::vector<fs::path> parts() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(job() + "/parts"))
      if (!entry.path().has_extension()) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
  }

  static std::unique_ptr<TempDir> videos_;
  TempDir folder_;
};
std::unique_ptr<TempDir> Batch::videos_;

TEST_F(Batch, LocalWorkersWriteWhatOneMachineWrites) {
  plan(videos() + kFindsSome + Words{"--chunk", "10", "--track", "--track-hits", "2"});
  EXPECT_GE(tasks(), 9u);
  expect_run(
      0, "",
      {"batch", "submit", job(), "--engine", "local", "--workers", "3", "--output", folder_ / "first.jsonl"});
  const Words one = videos() + kFindsSome + Words{"--track", "--track-hits", "2"};
  const std::string expected = detected("r.jsonl", one);
  EXPECT_THAT(expected, HasSubstr("\"track\":2"));
  EXPECT_EQ(bytes_of(folder_ / "first.jsonl"), expected);
  for (const std::string name : {"r.jsonl", "r.json", "r.csv", "r.coco.json"})
    EXPECT_EQ(merged(name), detected(name, one)) << name;
  EXPECT_EQ(status().at("done"), status().at("parts"));
  EXPECT_EQ(status().at("frames_done"), 120);
}

TEST_F(Batch, MotHoldsOneInput) {
  plan(Words{video(2)} + kFindsSome + Words{"--chunk", "10"});
  work_all();
  EXPECT_EQ(merged("r.mot"), detected("r.mot", Words{video(2)} + kFindsSome));
}

TEST_F(Batch, FoldersOfPicturesAndVideosAreDivided) {
  const fs::path mixed = folder_ / "mixed";
  fs::create_directory(mixed);
  for (int i = 1; i <= 7; ++i)
    fs::copy_file(fs::path(SIGHTLINE_SOURCE_DIR) / "tools/pictures/street.jpg",
                  mixed / ("p" + std::to_string(i) + ".jpg"));
  fs::resize_file(mixed / "p4.jpg", 9000);
  fs::resize_file(mixed / "p7.jpg", 9000);  // the only one of its part
  fs::copy_file(video(1), mixed / "v.mp4");
  plan({mixed.string(), "--chunk", "3", "--config", "people,faces"});
  EXPECT_GE(tasks(), 5u);
  work_all();
  EXPECT_EQ(merged("r.jsonl", {"--keep-going"}, 1),
            detected("r.jsonl", {mixed.string(), "--config", "people,faces", "--keep-going"}, 1));
  expect_run(3, "p4.jpg", {"batch", "merge", job(), "--output", folder_ / "r.csv"});
}

TEST_F(Batch, TexturesAreJoinedToTheByte) {
  Random random(3);
  Words pictures;
  for (const int number : {1, 2}) {
    Image<std::uint8_t> picture(700 + 300 * number, 1900);
    for (int y = 0; y < picture.view().height(); ++y) {
      for (int x = 0; x < picture.view().width(); ++x)
        picture.view().at(x, y) = static_cast<std::uint8_t>((x * y / 50 + random.below(30)) % 256);
    }
    pictures.push_back(folder_ / ("t" + std::to_string(number) + ".png"));
    media::write_gray_png(pictures.back(), picture.view());
  }
  const Words how{"--operator", "grid", "--operator", "16,2", "--contrast", "--tile", "256"};
  expect_run(0, "", Words{"batch", "plan", "texture", "--job", job(), "--chunk", "2"} + pictures + how);
  EXPECT_GE(tasks(), 8u);
  expect_run(0, "", {"batch", "submit", job(), "--engine", "local", "--workers", "2"});
  expect_run(0, "", {"batch", "merge", job(), "-o", folder_ / "a.json", "-o", folder_ / "a.csv", "--shares"});
  expect_run(
      0, "",
      Words{"-q", "texture", "-o", folder_ / "b.json", "-o", folder_ / "b.csv", "--shares"} + pictures + how);
  EXPECT_EQ(bytes_of(folder_ / "a.json"), bytes_of(folder_ / "b.json"));
  EXPECT_EQ(bytes_of(folder_ / "a.csv"), bytes_of(folder_ / "b.csv"));

  for (const std::string border : {"reflect", "skip"}) {
    const std::string other = folder_ / ("job-" + border);
    const Words more = how + Words{"--border", border, "--cells", "64"};
    expect_run(0, "",
               Words{"batch", "plan", "texture", "--job", other, "--chunk", "1", "--labels"} + more +
                   Words{pictures[0]});
    expect_run(0, "", {"-q", "batch", "work", other});
    for (const bool is_merge : {true, false}) {
      const std::string out = folder_ / ((is_merge ? "merged-" : "whole-") + border);
      fs::create_directory(out);
      const Words outputs{"--overwrite",    "-o",          out + "/h.json", "--labels", out + "/l.tif",
                          "--cells-output", out + "/c.npy"};
      expect_run(0, "",
                 is_merge ? Words{"batch", "merge", other} + outputs
                          : Words{"-q", "texture", pictures[0]} + more + outputs);
    }
    for (const std::string name : {"h.json", "l-grid.tif", "l-16,2.tif", "c.npy"}) {
      EXPECT_FALSE(bytes_of(folder_ / ("merged-" + border + "/" + name)).empty());
      EXPECT_EQ(bytes_of(folder_ / ("merged-" + border + "/" + name)),
                bytes_of(folder_ / ("whole-" + border + "/" + name)))
          << name;
    }
  }
}

TEST_F(Batch, NothingIsLostOrDoubledAfterKills) {
  plan(videos() + kFindsSome + Words{"--chunk", "10"});
  const auto count = static_cast<int>(tasks());
  const std::string expected = detected("r.jsonl", videos() + kFindsSome);
  std::mt19937 random(7);
  int killed = 0;
  for (int tries = 0; killed < sampled(100) && tries < 1000; ++tries) {
    if (tasks() == 0) {
      ASSERT_EQ(merged("r.jsonl"), expected);
      for (const fs::path& part : parts()) fs::remove(part);
    }
    // Two machines that were given the same task, and one with another.
    const int task = static_cast<int>(random()) % count;
    std::vector<std::unique_ptr<Program>> running;
    for (const int number : {task, task, (task + 1) % count}) {
      running.push_back(std::make_unique<Program>(
          Words{"-q", "batch", "work", job(), "--task", std::to_string(std::abs(number)), "--threads", "1"}));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 600));
    for (const auto& program : running) program->send(SIGKILL);
    for (const auto& program : running) killed += program->wait().exit_code == 128 + SIGKILL ? 1 : 0;
  }
  EXPECT_GE(killed, sampled(100));
  work_all();
  EXPECT_EQ(merged("r.jsonl"), expected);
}

TEST_F(Batch, ASecondResultThatDiffersNamesBothMachines) {
  plan(Words{video(1)} + kFindsSome + Words{"--chunk", "10"});
  work_all();
  expect_run(0, "", {"batch", "work", job(), "--verify"});
  const std::vector<fs::path> all = parts();
  ASSERT_GE(all.size(), 2u);
  // A whole file, but not this part's.
  fs::remove(all[0]);
  fs::copy_file(all[1], all[0]);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  RunSetup setup;
  setup.environment = {"SLURMD_NODENAME=broken7"};
  const Outcome outcome = run({"batch", "work", job(), "--verify"}, setup);
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("broken7"));
  EXPECT_THAT(outcome.err, HasSubstr(host));
  EXPECT_EQ(status().at("differing").size(), 1u);
  expect_run(1, "different results", {"batch", "merge", job(), "-o", folder_ / "r.jsonl"});
  EXPECT_FALSE(fs::exists(folder_ / "r.jsonl"));
  // As the message says.
  for (const auto& entry : fs::directory_iterator(job() + "/parts"))
    if (entry.path().extension() == ".differs") fs::remove(entry.path());
  fs::remove(all[0]);
  work_all();
  EXPECT_EQ(merged("r.jsonl"), detected("r.jsonl", Words{video(1)} + kFindsSome));
}

TEST_F(Batch, SecondCopiesAtTheSameTimeAreCompared) {
  plan(Words{video(1)} + kFindsSome);
  std::vector<std::unique_ptr<Program>> running;
  for (int i = 0; i < 3; ++i)
    running.push_back(std::make_unique<Program>(Words{"batch", "work", job(), "--task", "0"}));
  for (const auto& program : running) EXPECT_EQ(program->wait().exit_code, 0);
  EXPECT_EQ(parts().size(), 1u);
  EXPECT_EQ(files_in(job() + "/parts"), 1u);
}

TEST_F(Batch, WhatIsWrongIsSaid) {
  expect_run(2, "no job", {"batch", "work", job()});
  expect_run(2, "inputs and a folder", {"batch", "plan"});
  expect_run(3, "lavfi:testsrc", {"batch", "plan", "--job", job(), "lavfi:testsrc"});
  expect_run(2, "--track needs videos",
             {"batch", "plan", "--job", job(), "--track",
              std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street.jpg"});
  const std::string latin = folder_ / "caf\xe9.mp4";
  fs::copy_file(video(1), latin);
  expect_run(2, "not UTF-8", {"batch", "plan", "--job", job(), latin});
  EXPECT_FALSE(fs::exists(job() + "/plan.json"));
  fs::create_directories(job() + "/parts");  // a plan that was interrupted
  plan(Words{video(1)} + kFindsSome + Words{"--chunk", "10"});
  expect_run(2, "has a job already", {"batch", "plan", video(2), "--job", job()});
  expect_run(2, "tasks 0 to", {"batch", "work", job(), "--task", "99"});
  expect_run(2, "no such option", {"batch", "plan", "--job", job(), "texture", "x.png", "--job", job()});
  expect_run(1, "are missing", {"batch", "merge", job(), "-o", folder_ / "r.jsonl"});
  expect_run(2, "", {"batch", "merge", job(), "-o", folder_ / "r.jsonl", "--format", "xml"});
  work_all();
  // Half a file, as a broken disk leaves it.
  const std::vector<fs::path> all = parts();
  fs::resize_file(all[0], fs::file_size(all[0]) - 5);
  expect_run(1, "not whole", {"batch", "merge", job(), "-o", folder_ / "r.jsonl", "--overwrite"});
  fs::remove(all[0]);
  work_all();
  EXPECT_EQ(merged("r.jsonl"), detected("r.jsonl", Words{video(1)} + kFindsSome));
}

TEST_F(Batch, AFullDiskLosesNothing) {
  plan(Words{video(1)} + kFindsSome);
  RunSetup no_room;
  no_room.file_limit = 1200;
  const Outcome full = run({"batch", "work", job()}, no_room);
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(files_in(job() + "/parts"), 0u);
  const Json before = status();
  EXPECT_EQ(before.at("failed"), 1);
  EXPECT_EQ(before.at("failures").at(0).at("code"), 1);
  work_all();
  EXPECT_EQ(status().at("failed"), 0);
  EXPECT_EQ(merged("r.jsonl"), detected("r.jsonl", Words{video(1)} + kFindsSome));
}

TEST_F(Batch, ChangesSinceThePlanAreRefused) {
  const std::string input = folder_ / "v.mp4", config = folder_ / "own.toml";
  fs::copy_file(video(1), input);
  fs::copy_file(fs::path(SIGHTLINE_SOURCE_DIR) / "configs/people.toml", config);
  plan({input, "--config", config});
  std::ofstream(config, std::ios::app) << "\n# other\n";
  expect_run(4, "another model", {"batch", "work", job()});
  fs::copy_file(fs::path(SIGHTLINE_SOURCE_DIR) / "configs/people.toml", config,
                fs::copy_options::overwrite_existing);
  fs::copy_file(video(2), input, fs::copy_options::overwrite_existing);
  expect_run(3, "changed since the plan", {"batch", "work", job()});
  EXPECT_EQ(status().at("failures").at(0).at("code"), 3);
  std::string text = bytes_of(job() + "/plan.json");
  const std::size_t at = text.find("\"version\":\"");
  text.replace(at, 11, "\"version\":\"9");
  store(job() + "/plan.json", text);
  expect_run(2, "was planned by sightline 9", {"batch", "work", job()});
  store(job() + "/plan.json", text.substr(0, 50));
  expect_run(2, "damaged", {"batch", "status", job()});
}

TEST_F(Batch, UnreadableInputsAreNamedAsDetectNamesThem) {
  const std::string bad = folder_ / "bad.mp4";
  store(bad, std::string(5000, 'x'));
  const Words inputs{video(1), bad, video(2)};
  plan(inputs + kFindsSome, 1);
  EXPECT_EQ(status().at("unreadable").size(), 1u);
  work_all();
  expect_run(3, "bad.mp4", {"batch", "merge", job(), "-o", folder_ / "r.jsonl"});
  EXPECT_EQ(merged("r.jsonl", {"--keep-going"}, 1),
            detected("r.jsonl", inputs + kFindsSome + Words{"--keep-going"}, 1));
}

TEST_F(Batch, RetriesByExitCode) {
  const std::string input = folder_ / "v.mp4";
  fs::copy_file(video(1), input);
  plan(Words{input} + kFindsSome + Words{"--chunk", "10"});
  const Words submit{"batch", "submit", job(), "--engine", "local", "--retries", "2"};
  // Code 1: no room.
  RunSetup no_room;
  no_room.file_limit = 600;
  const Outcome full = run(submit, no_room);
  EXPECT_EQ(full.exit_code, 1);
  const std::size_t count = tasks();
  EXPECT_EQ(files_in(job() + "/failed"), 3 * count);
  // Code 3 is final.
  fs::copy_file(video(2), input, fs::copy_options::overwrite_existing);
  expect_run(3, "failed with code 3", submit);
  EXPECT_EQ(files_in(job() + "/failed"), 4 * count);
}

TEST_F(Batch, ScriptsOfOtherEnginesRunTasks) {
  plan(videos() + kFindsSome + Words{"--chunk", "20"});
  const auto count = static_cast<int>(tasks());
  const std::string script = folder_ / "job.sh";
  store(script, run({"batch", "submit", job(), "--engine", "print", "--workers", "4", "--threads", "1"}).out);
  EXPECT_THAT(bytes_of(script), HasSubstr("#SBATCH --array=0-" + std::to_string(count - 1) + "%4"));
  const std::string pods = run({"batch", "submit", job(), "--engine", "print", "--script", "kubernetes"}).out;
  EXPECT_THAT(pods, HasSubstr("completionMode: Indexed\n  completions: " + std::to_string(count) + "\n"));
  EXPECT_THAT(pods, HasSubstr("'$(JOB_COMPLETION_INDEX)'"));
  EXPECT_THAT(run({"batch", "submit", job(), "--engine", "print", "--script", "parallel"}).out,
              HasSubstr("seq 0 " + std::to_string(count - 1) + " | parallel --retries 4 "));
  for (int task = 0; task < count; ++task) {
    RunSetup setup;
    setup.program = "/bin/bash";
    setup.environment = {"SLURM_ARRAY_TASK_ID=" + std::to_string(task)};
    const Outcome outcome = run({script}, setup);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_EQ(merged("r.jsonl"), detected("r.jsonl", videos() + kFindsSome));
}

TEST_F(Batch, AChunkIsMeasuredWhereNoneIsGiven) {
  const Outcome outcome = plan({video(1)});
  EXPECT_THAT(outcome.err, HasSubstr(" frames/s "));
  EXPECT_GE(Json::parse(bytes_of(job() + "/plan.json")).at("chunk").get<int>(), 100);
}

}  // namespace
}  // namespace sightline::test
