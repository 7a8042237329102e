// Files that several decoders read side by side: to the byte what one decoder gives.
#include "pipeline/runs/parted_video.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/child_process.hpp"
#include "support/media.hpp"
#include "support/pipeline.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

// 150 frames, in which something moves, with a key frame every 25.
std::string encode(const TempDir& folder, const std::string& name, const Words& encoder) {
  RunSetup setup;
  setup.program = find_program("ffmpeg");
  const std::string file = folder / name;
  const Outcome outcome =
      run(Words{"-v", "error", "-y", "-f", "lavfi", "-i",
                "mandelbrot=size=176x144:rate=25:start_scale=1:end_scale=0.01:end_pts=150,trim=end_frame=150",
                "-pix_fmt", "yuv420p"} +
              encoder + Words{file},
          setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return file;
}

const Words kH264{"-c:v", "libx264", "-preset", "fast", "-g", "25", "-bf", "3"};

class PartedVideo : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("ffmpeg").empty()) GTEST_SKIP() << "no ffmpeg to make files with";
  }
  Outcome detect(const std::string& file, const char* decoders, const Words& options = {}) {
    return run(Words{"detect", file, "-d", "-", "--device", "none", "--decoders", decoders} + kFindsSome +
               options);
  }
  void expect_equal(const std::string& file, const Words& options = {}) {
    const Outcome one = detect(file, "1", options);
    for (const char* decoders : {"2", "5"}) {
      const Outcome several = detect(file, decoders, options);
      EXPECT_EQ(several.exit_code, one.exit_code) << several.err;
      EXPECT_TRUE(several.out == one.out) << decoders << " decoders";
      EXPECT_EQ(several.err, one.err);
    }
  }
  TempDir folder_;
};

TEST_F(PartedVideo, ResultsAreThoseOfOneDecoder) {
  const std::string file = encode(folder_, "h264.mp4", kH264);
  const Outcome outcome = detect(file, "3", {"-v"});
  EXPECT_NE(outcome.err.find("3 decoders read 6 parts"), std::string::npos) << outcome.err;
  EXPECT_EQ(parse_lines(outcome.out).size(), 150u);
  for (const Words& options : {Words{}, Words{"--track"}, Words{"-f", "csv"}, Words{"-f", "mot"},
                               Words{"-f", "coco"}, Words{"--threads", "3", "--in-flight", "1"}})
    expect_equal(file, options);
  // Read by one decoder, since another part of the file is wanted, or pictures.
  for (const Words& options :
       {Words{"--every", "3"}, Words{"--start", "1.5"}, Words{"--duration", "2"}, Words{"--loop", "1"}})
    expect_equal(file, options);
  expect_equal(encode(folder_, "hevc.mkv",
                      {"-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                       "log-level=none:open-gop=1:keyint=25:min-keyint=25:bframes=4"}));
  expect_equal(encode(
      folder_, "vp9.webm",
      {"-c:v", "libvpx-vp9", "-g", "25", "-auto-alt-ref", "1", "-lag-in-frames", "12", "-cpu-used", "8"}));
}

TEST_F(PartedVideo, DamageIsWhatOneDecoderMakesOfIt) {
  const std::string whole = bytes_of(encode(folder_, "whole.mkv", kH264));
  for (const double place : {0.05, 0.45, 0.93}) {
    SCOPED_TRACE(place);
    std::string damaged = whole;
    const auto at = static_cast<std::size_t>(place * static_cast<double>(whole.size()));
    for (std::size_t i = 0; i < 400; ++i) damaged[at + i] = static_cast<char>(i * 37);
    const std::string file = folder_ / "damaged.mkv";
    std::ofstream(file, std::ios::binary) << damaged;
    // What several threads of a decoder make of damage differs from run to run; whether they tell does not.
    expect_equal(file, {"--threads", "1"});
    expect_equal(file, {"--threads", "1", "--keep-going"});
    const int exit_code = detect(file, "1", {"--threads", "1"}).exit_code;
    for (const char* decoders : {"1", "1", "1", "1", "3"})
      EXPECT_EQ(detect(file, decoders, {"--threads", "4"}).exit_code, exit_code);
  }
  const std::string cut = folder_ / "cut.mkv";
  std::ofstream(cut, std::ios::binary) << whole.substr(0, whole.size() * 2 / 3);
  expect_equal(cut, {"--threads", "1"});
}

TEST_F(PartedVideo, AStoppedRunIsCompleteUpToItsLastFrame) {
  const std::string file = encode(folder_, "h264.mp4", kH264);
  const std::string detections = folder_ / "found.jsonl";
  Program program({"detect", file, "-d", detections, "--device", "none", "--decoders", "3", "--min-size",
                   "48", "--scale-step", "1.02", "--exact", "--threads", "1"});
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(detections); }));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_TRUE(outcome.exit_code == 128 + SIGINT || outcome.exit_code == 0) << outcome.err;
  const std::vector<Json> lines = parse_lines(bytes_of(detections));
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].at("frame").get<std::size_t>(), i + 1);
}

TEST_F(PartedVideo, WhoReadsMayGoAway) {
  const std::string file = encode(folder_, "h264.mp4", kH264);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunSetup setup;
  setup.output_handle = ends[1];
  Program program(Words{"detect", file, "-d", "-", "--device", "none", "--decoders", "3"} + kFindsSome,
                  setup);
  close(ends[0]);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

// Parts that begin where the file has no key frame.
TEST_F(PartedVideo, AnIndexThatLiesIsFoundOut) {
  const std::string file = encode(folder_, "h264.mp4", kH264);
  for (const double lie : {1.52, 1.5213, 1.0}) {
    SCOPED_TRACE(lie);
    media::VideoParts parts = media::divide_video(file, {}, 25);
    ASSERT_EQ(parts.parts.size(), 6u);
    parts.parts[2].begin = lie;
    pipeline::test::FakeDetector detector;
    pipeline::test::Collector collector;
    pipeline::PartedVideo video(file, parts, {}, {&collector}, 3);
    pipeline::Pipeline pipeline(detector, nullptr, pipeline::test::on_cpu(4));
    const std::vector<pipeline::RunReport> reports = pipeline.run(video.streams());
    EXPECT_EQ(reports.size(), 3u);
    const auto rest = video.finish(false);
    if (lie == 1.52) {  // a frame's time: the reader finds it, whatever the index says
      EXPECT_FALSE(rest);
    } else {
      ASSERT_TRUE(rest);
      EXPECT_LE(*rest, 50);
      pipeline::RestOfVideo last(file, {}, *rest);
      pipeline.run({&last, file, {&collector}, {}});
    }
    ASSERT_EQ(collector.results.size(), 150u);
    for (std::size_t i = 0; i < 150; ++i)
      EXPECT_EQ(collector.results[i].frame, static_cast<std::int64_t>(i) + 1);
  }
}

}  // namespace
}  // namespace sightline::test
