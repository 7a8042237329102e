// Ends that come from outside: a disk that is full, a reader that has gone, signals. What is left is whole.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "support/media.hpp"
#include "support/program.hpp"
#include "support/thorough.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

class Ends : public testing::Test {
 protected:
  Ends() {
    media::test::make_clip(folder_ / "in.mkv",
                           "mandelbrot=size=120x200:rate=10:start_scale=1:end_scale=0.01:end_pts=40,"
                           "trim=end_frame=10");
    fs::create_directory(folder_ / "out");
  }
  Words detect(const Words& more) const {
    return Words{"detect", folder_ / "in.mkv", "--device", "none", "--overwrite"} + kFindsSome + more;
  }
  std::string out(const std::string& name) const { return folder_ / ("out/" + name); }
  void clear() const {
    fs::remove_all(folder_ / "out");
    fs::create_directory(folder_ / "out");
  }

  /// Whole lines, of frames from 1 on. @return how many
  std::size_t expect_lines() const {
    const std::vector<Json> lines = parse_lines(bytes_of(out("o.jsonl")));
    for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].at("frame"), i + 1);
    return lines.size();
  }
  /// What has its name can be read. @return the pictures in it; 0 where it is not there
  std::size_t expect_readable(const std::string& name) const {
    if (!fs::exists(out(name))) return 0;
    try {
      return media::test::read_all(out(name)).size();
    } catch (const Error& error) {
      ADD_FAILURE() << name << " is there and not whole: " << error.what();
      return 0;
    }
  }

  /// The pictures that the video's unfinished file shows: none before its first fragment is there.
  std::size_t unfinished_pictures() const {
    try {
      return media::test::read_all(test::unfinished(out("o.mp4"))).size();
    } catch (const Error&) {
      return 0;
    }
  }

  /// When to send a signal, in milliseconds after the start: while the program starts, or while it writes.
  /// Later from the twentieth on, for machines that are busy with other things.
  static int some_moment(std::mt19937& random, int number) {
    return static_cast<int>(random() % (kSanitized ? 6000 : 500)) * (1 + number / 20);
  }
  /// Searches the clip over and over until a signal ends it.
  Outcome detect_until(int milliseconds, int signal) const {
    Program program(detect({"--loop", "-1", "-d", out("o.jsonl"), "-o", out("o.mp4")}));
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    program.send(signal);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_code, 128 + signal) << outcome.err;
    return outcome;
  }

  TempDir folder_;
};

// Wherever the disk is full: in the detections, the video, the trace or the pictures.
TEST_F(Ends, FullDisk) {
  const Words arguments = detect(
      {"-d", out("o.jsonl"), "-o", out("o.mp4"), "--trace", out("t.json"), "--contact-sheet", out("s.png")});
  expect_run(0, arguments);
  // Such that each of the files does not fit, and some more from small to large.
  std::vector<long> limits;
  for (const auto& entry : fs::directory_iterator(folder_ / "out"))
    limits.push_back(static_cast<long>(entry.file_size() / 2));
  std::mt19937 random(1);
  const double largest = std::log(2.0 * static_cast<double>(*std::max_element(limits.begin(), limits.end())));
  for (int i = 0; i < 5; ++i)
    limits.push_back(
        static_cast<long>(std::exp(std::uniform_real_distribution(5.0, largest - 0.01)(random))));
  for (const long limit : limits) {
    clear();
    RunSetup setup;
    setup.file_limit = limit;
    const Outcome outcome = expect_run(1, arguments, setup);
    SCOPED_TRACE(std::to_string(setup.file_limit) + " bytes a file: " + outcome.err);
    const std::size_t lines = expect_lines();
    EXPECT_LE(expect_readable("o.mp4"), std::max<std::size_t>(lines, 10));
    expect_readable("s.png");
    if (fs::exists(out("t.json"))) {
      EXPECT_TRUE(Json::accept(bytes_of(out("t.json")))) << "the trace is cut";
    }
    EXPECT_EQ(test::unfinished(out("s.png")), "");
  }
}

TEST_F(Ends, FullDiskLeavesWhatWasThereBefore) {
  for (const char* name : {"o.mp4", "o.png"}) {
    media::test::store(out(name), std::string("precious"));
    RunSetup setup;
    setup.file_limit = 2000;
    const bool picture = std::string(name) == "o.png";
    expect_run(1, name, detect({"-o", out(name), picture ? "--every" : "--duration", picture ? "10" : "1"}),
               setup);
    EXPECT_EQ(bytes_of(out(name)), "precious");
  }
  EXPECT_EQ(test::unfinished(out("o.png")), "");
}

// Also what is no detections file: a list that is cut is not passed off as whole.
TEST_F(Ends, FullStandardOutput) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  RunSetup setup;
  setup.output = "/dev/full";
  for (const Words& arguments : {detect({}), Words{"devices"}, {"--help"}, {"--version"}})
    expect_run(1, arguments, setup);
}

// As `| head -1`: no failure, and the other outputs are whole.
TEST_F(Ends, ReaderThatGoesAwayCostsNothing) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunSetup setup;
  setup.output_handle = ends[1];
  Program program(Words{"-q"} + detect({"--loop", "9", "-d", "-", "-o", out("o.mp4")}), setup);
  char some[16];
  EXPECT_GT(read(ends[0], some, sizeof some), 0);
  close(ends[0]);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_GT(expect_readable("o.mp4"), 0u);
}

// A request to stop, whenever it comes, ends a run like the end of its input.
TEST_F(Ends, StoppedAtAnyMoment) {
  std::mt19937 random(2);
  std::size_t frames = 0;
  for (int i = 0; i < sampled(20) || (frames == 0 && i < 200); ++i) {
    clear();
    const int signal = i % 2 == 0 ? SIGINT : SIGTERM;
    const int moment = some_moment(random, i);
    SCOPED_TRACE(std::to_string(signal) + " after " + std::to_string(moment) + " ms");
    const Outcome outcome = detect_until(moment, signal);
    const std::size_t lines = expect_lines();
    EXPECT_EQ(expect_readable("o.mp4"), lines) << outcome.err;
    EXPECT_EQ(test::unfinished(out("o.mp4")), "") << outcome.err;
    frames += lines;
  }
  EXPECT_GT(frames, 0u) << "no run was stopped while it wrote";
}

// Nobody can finish after SIGKILL: what is not whole does not have its name. It can be played all the same.
TEST_F(Ends, KilledAtAnyMoment) {
  std::mt19937 random(3);
  std::size_t frames = 0;
  for (int i = 0; i < sampled(20) || (frames == 0 && i < 200); ++i) {
    clear();
    media::test::store(out("o.mp4"), std::string("precious"));
    const int moment = some_moment(random, i);
    SCOPED_TRACE("after " + std::to_string(moment) + " ms");
    detect_until(moment, SIGKILL);
    frames += expect_lines();
    EXPECT_EQ(bytes_of(out("o.mp4")), "precious");
  }
  EXPECT_GT(frames, 0u) << "no run was killed while it wrote";
  clear();
  Program program(detect({"--loop", "-1", "-o", out("o.mp4")}));
  EXPECT_TRUE(program.wait_until([&] { return unfinished_pictures() > 0; }));
  program.send(SIGKILL);
  program.wait();
  EXPECT_GT(unfinished_pictures(), 0u);
}

// A recording of what happens now has its name at once, since it can be read at any time.
TEST_F(Ends, KilledRecordingsCanBeRead) {
  std::mt19937 random(4);
  std::size_t pictures = 0;
  for (int i = 0; i < sampled(6); ++i) {
    clear();
    Program program(Words{"live", moving_clip(120, 200, 100000), "--device", "none", "--headless", "--pace",
                          "0", "--record", out("o.mp4"), "-d", out("o.jsonl")} +
                    kFindsSome);
    EXPECT_TRUE(program.wait_until([&] {
      const std::string text = bytes_of(out("o.jsonl"));
      return std::count(text.begin(), text.end(), '\n') > 20;
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 500));
    program.send(SIGKILL);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
    parse_lines(bytes_of(out("o.jsonl")));
    pictures += expect_readable("o.mp4");
  }
  EXPECT_GT(pictures, 0u);
}

}  // namespace
}  // namespace sightline::test
