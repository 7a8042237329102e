// `sightline live` as a user runs it: sources that come and go, what gives way, windows, keys.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/error.hpp"
#include "media/reader.hpp"
#include "support/desktop.hpp"
#include "support/media.hpp"
#include "support/patience.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int kUsage = static_cast<int>(ExitCode::usage);
constexpr int kInput = static_cast<int>(ExitCode::input);
constexpr int kFailed = static_cast<int>(ExitCode::failed);

const Words kHeadless{"--headless", "--device", "none"};

Words live(const std::string& input, const Words& options = {}) {
  return Words{"live", input} + kFindsSome + options;
}

std::size_t line_count(const std::string& file) {
  const std::string text = fs::exists(file) ? bytes_of(file) : "";
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What the summary says of the frames.
struct Account {
  std::int64_t captured = -1, detected = -1, dropped = -1, shown = -1, replaced = -1;
};
Account account_of(const std::string& summary) {
  Account account;
  std::smatch found;
  if (std::regex_search(summary, found,
                        std::regex(R"((\d+) frames? captured .*, (\d+) searched .*, dropped: (.*))"))) {
    account = {std::stoll(found[1]), std::stoll(found[2]), 0, -1, -1};
    const std::string reasons = found[3];  // "1 (busy), 1 (ended), 6 skipped by --every" or "0"
    const std::regex number(R"(\d+ \()");
    for (std::sregex_iterator at(reasons.begin(), reasons.end(), number), end; at != end; ++at)
      account.dropped += std::stoll(at->str());
  }
  if (std::regex_search(summary, found, std::regex(R"((\d+) frames? shown, (\d+) replaced)"))) {
    account.shown = std::stoll(found[1]);
    account.replaced = std::stoll(found[2]);
  }
  return account;
}

TEST(Live, FindsWhatDetectFinds) {
  const TempDir folder;
  const std::string clip = moving_clip(320, 240, 12);
  expect_run(0, Words{"detect", clip, "--device", "none", "-d", folder / "detect.jsonl"} + kFindsSome);
  const Outcome outcome = expect_run(
      0, "captured", live(clip, {"--pace", "0", "-d", folder / "live.jsonl", "--overwrite"}) + kHeadless);
  EXPECT_EQ(bytes_of(folder / "live.jsonl"), bytes_of(folder / "detect.jsonl"));
  const Account account = account_of(outcome.err);
  EXPECT_EQ(account.captured, 12);
  EXPECT_EQ(account.detected, 12);
  EXPECT_EQ(account.dropped, 0);
}

TEST(Live, NewestFramesWinWhereTheSourceIsFaster) {
  const TempDir folder;
  // 100 frames/s at a small scale step: far more than can be searched.
  const std::string clip = "lavfi:testsrc2=size=640x480:rate=100,trim=end_frame=200";
  const Words slow{"--scale-step", "1.05", "--min-size", "64", "--exact"};
  const Outcome outcome = expect_run(
      0, "busy", Words{"live", clip, "-d", folder / "live.jsonl", "--overwrite"} + slow + kHeadless);
  const Account account = account_of(outcome.err);
  EXPECT_EQ(account.captured, 200);
  EXPECT_EQ(account.captured, account.detected + account.dropped);
  EXPECT_GT(account.dropped, 0);
  const auto lines = parse_lines(bytes_of(folder / "live.jsonl"));
  EXPECT_EQ(static_cast<std::int64_t>(lines.size()), account.detected);
  for (std::size_t i = 1; i < lines.size(); ++i)
    EXPECT_GT(lines[i].at("frame").get<int>(), lines[i - 1].at("frame").get<int>());
}

TEST(Live, NothingIsLostWhereCaptureWaits) {
  const std::string clip = "lavfi:testsrc2=size=320x240:rate=500,trim=end_frame=60";
  const Outcome outcome = expect_run(0, "dropped: 0", live(clip, {"--drop", "none"}) + kHeadless);
  EXPECT_EQ(account_of(outcome.err).detected, 60);
}

TEST(Live, EveryNthFrame) {
  const Outcome outcome = expect_run(
      0, "6 skipped by --every", live(moving_clip(320, 240, 9), {"--pace", "0", "--every", "3"}) + kHeadless);
  EXPECT_EQ(account_of(outcome.err).detected, 3);
}

TEST(Live, TracksAndTellsHowItIsDoing) {
  const Outcome outcome = expect_run(
      0, live(moving_clip(320, 240, 10), {"--track", "--track-hits", "1", "--status", "0.2", "-d", "-"}) +
             kHeadless);
  const auto lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 10U);
  ASSERT_FALSE(lines[5].at("objects").empty());
  EXPECT_GE(lines[5].at("objects")[0].at("track").get<int>(), 1);
}

TEST(Live, SeveralInputsAreSearchedSideBySide) {
  const TempDir folder;
  media::test::make_clip(folder / "gate.mkv", "testsrc=size=160x200:rate=10:duration=1.2");
  media::test::make_clip(folder / "yard.mkv", "testsrc2=size=200x240:rate=10:duration=0.8");
  const Words inputs{folder / "gate.mkv", folder / "yard.mkv"};
  const Words searched = inputs + kFindsSome;
  const Outcome detected = expect_run(0, Words{"detect", "-d", "-", "--device", "none"} + searched);
  const Outcome outcome = expect_run(0, Words{"live", "--pace", "0", "--record", folder / "", "--preset",
                                              "ultrafast", "--status", "0.1", "-d", "-"} +
                                            searched + kHeadless);
  const auto by_source = [](const std::string& output, const std::string& source) {
    std::vector<Json> lines;
    for (const Json& line : parse_lines(output))
      if (line.at("source") == source) lines.push_back(line);
    return lines;
  };
  for (const std::string& input : inputs)
    EXPECT_EQ(by_source(outcome.out, input), by_source(detected.out, input));
  EXPECT_THAT(outcome.err, ContainsRegex("gate.mkv: 12 frames captured"));
  EXPECT_THAT(outcome.err, ContainsRegex("yard.mkv: 8 frames captured"));
  std::map<std::string, std::size_t> recorded;
  for (const auto& entry : fs::directory_iterator(folder / "")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".mp4")
      recorded[name.substr(name.rfind('-') + 1)] = media::test::read_all(entry.path().string()).size();
  }
  EXPECT_EQ(recorded, (std::map<std::string, std::size_t>{{"gate.mp4", 12}, {"yard.mp4", 8}}));
}

TEST(Live, AnInputThatFailsLeavesTheOthersAlone) {
  const TempDir folder;
  const std::string whole = moving_clip(320, 240, 30);
  const Outcome outcome =
      expect_run(kInput, Words{"live", "http://127.0.0.1:1/gone", whole, "--give-up-after", "0.3", "-d",
                               folder / "live.jsonl", "--report", folder / "page.html"} +
                             kFindsSome + kHeadless);
  EXPECT_THAT(outcome.err, HasSubstr("http://127.0.0.1:1/gone"));
  EXPECT_EQ(line_count(folder / "live.jsonl"), 30u);
  EXPECT_GT(fs::file_size(folder / "page.html"), 1000u);
}

TEST(Live, EndsWhenAskedWithAllThatWasWritten) {
  const TempDir folder;
  const std::string detections = folder / "live.jsonl";
  const std::string clip = moving_clip(320, 240, 100000);
  {
    Program program(live(clip, {"-d", detections, "--record", folder / "cam.mp4", "--preset", "ultrafast"}) +
                    kHeadless);
    ASSERT_TRUE(program.wait_until([&] { return line_count(detections) > 8; }));
    program.send(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_code, 128 + SIGINT) << outcome.err;
    const Account account = account_of(outcome.err);
    EXPECT_EQ(account.captured, account.detected + account.dropped);
    EXPECT_EQ(static_cast<std::int64_t>(parse_lines(bytes_of(detections)).size()), account.detected);
  }
  media::Reader recorded(folder / "cam.mp4");
  int frames = 0;
  while (recorded.read()) ++frames;
  EXPECT_GT(frames, 4);
}

TEST(Live, RotatesRecordings) {
  const TempDir folder;
  expect_run(0, live(moving_clip(160, 120, 30), {"--min-size", "96", "--record", folder / "cam.mkv",
                                                 "--rotate", "1s", "--preset", "ultrafast"}) +
                    kHeadless);
  int frames = 0;
  for (const char* name : {"cam-001.mkv", "cam-002.mkv", "cam-003.mkv"}) {
    media::Reader recorded(folder / name);
    while (recorded.read()) ++frames;
  }
  EXPECT_EQ(frames, 30);
}

TEST(Live, ClosedPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunSetup setup;
  setup.output_handle = ends[1];
  Program program(live(moving_clip(320, 240, 100000), {"-d", "-"}) + kHeadless, setup);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(Live, WrongUsage) {
  const std::string clip = moving_clip(64, 64, 3);
  expect_run(kUsage, "--size", live(clip, {"--size", "640", "--headless"}));
  expect_run(kUsage, live(clip, {"--size", "640x480", "--headless"}));  // a file has its own
  expect_run(kUsage, "oldest", live(clip, {"--drop", "all", "--headless"}));
  expect_run(kUsage, "--record", live(clip, {"--rotate", "10m", "--headless"}));
  expect_run(kUsage, "--rotate", live(clip, {"--record", "x.mp4", "--rotate", "10q", "--headless"}));
  expect_run(kUsage, "--pace", live("http://127.0.0.1:1/x", {"--pace", "2", "--headless"}));
  expect_run(kUsage, "--loop", live("rtsp://127.0.0.1:1/x", {"--loop", "2", "--headless"}));
  expect_run(kUsage, "--pace", live(clip, {"rtsp://127.0.0.1:1/x", "--pace", "2", "--headless"}));
  expect_run(kUsage, "mot", live(clip, {clip, "-d", "x.mot", "-f", "mot", "--headless"}));
  expect_run(kInput, live("/nowhere/clip.mp4", {"--headless"}));
  if (!fs::exists("/dev/video0")) {
    expect_run(kInput, {"live", "--headless"});
    expect_run(kInput, live("/dev/video0", {"--headless"}));
    expect_run(kInput, live("/dev/video0", {"--headless", "--give-up-after", "0.3"}));
  }
}

TEST(Live, OutputThatCannotBeWrittenIsNotSaidToBe) {
  const Outcome outcome =
      expect_run(kFailed, live(moving_clip(64, 64, 3), {"-d", "/nowhere/found.jsonl"}) + kHeadless);
  EXPECT_THAT(outcome.err, Not(HasSubstr("wrote")));
}

TEST(Live, ScheduleAutoEndsWhereNoFrameEverComes) {
  const std::string url = "http://127.0.0.1:1/live";
  Program program(live(url, {"--schedule", "auto", "--give-up-after", "0.3"}) + kHeadless);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, kInput) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(url));
}

TEST(Live, NoScreen) {
  ChildProcess child({SIGHTLINE_PROGRAM, "live", moving_clip(64, 64, 3), "-c",
                      std::string(SIGHTLINE_SOURCE_DIR) + "/configs/people.toml"},
                     {{"DISPLAY=", "WAYLAND_DISPLAY=", "SDL_VIDEODRIVER=x11"}, {}});
  EXPECT_EQ(child.wait(kPatience), kFailed);
  EXPECT_THAT(child.output(), HasSubstr("--headless"));
}

// A port that was free a moment ago.
int free_port() {
  const int handle = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int port = 0;
  if (bind(handle, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      getsockname(handle, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    port = ntohs(address.sin_port);
  close(handle);
  return port;
}

std::unique_ptr<ChildProcess> serve(const std::string& url) {
  return std::make_unique<ChildProcess>(Words{"ffmpeg", "-loglevel", "error", "-re", "-f", "lavfi", "-i",
                                              "testsrc2=size=320x240:rate=25", "-c:v", "mpeg2video", "-g",
                                              "5", "-f", "mpegts", "-listen", "1", url});
}

TEST(Live, StreamThatIsLostAndComesBack) {
  if (find_program("ffmpeg").empty()) GTEST_SKIP() << "no ffmpeg to serve a stream";
  const TempDir folder;
  const std::string detections = folder / "live.jsonl";
  const std::string url = "http://127.0.0.1:" + std::to_string(free_port()) + "/live";
  auto server = serve(url);
  Program program(live(url, {"-d", detections, "--give-up-after", "20"}) + kHeadless);
  ASSERT_TRUE(program.wait_until([&] { return line_count(detections) > 10; }));
  server->kill();
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  const std::size_t before = line_count(detections);
  server = serve(url);
  ASSERT_TRUE(program.wait_until([&] { return line_count(detections) > before + 10; }));
  program.send(SIGTERM);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 128 + SIGTERM) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("1 time"));
  const auto lines = parse_lines(bytes_of(detections));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_GT(lines[i].at("frame").get<int>(), lines[i - 1].at("frame").get<int>());
    EXPECT_GT(lines[i].at("time").get<double>(), lines[i - 1].at("time").get<double>());
  }
  const Account account = account_of(outcome.err);
  EXPECT_EQ(account.captured, account.detected + account.dropped);
}

TEST(Live, StreamThatDoesNotComeBack) {
  if (find_program("ffmpeg").empty()) GTEST_SKIP() << "no ffmpeg to serve a stream";
  const TempDir folder;
  const std::string detections = folder / "live.jsonl";
  const std::string url = "http://127.0.0.1:" + std::to_string(free_port()) + "/live";
  auto server = serve(url);
  Program program(live(url, {"-d", detections, "--give-up-after", "3"}) + kHeadless);
  ASSERT_TRUE(program.wait_until([&] { return line_count(detections) > 3; }));
  server->kill();
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, kInput);
  EXPECT_THAT(outcome.err, HasSubstr(url));
  parse_lines(bytes_of(detections));
}

// A window on a screen of its own, and somebody at the keyboard.
class LiveWindow : public testing::Test {
 protected:
  void SetUp() override {
    if (!Desktop::is_installed()) GTEST_SKIP() << "no Xvfb and xdotool to try windows with";
    screen_ = std::make_unique<Desktop>();
  }

  void open(const std::string& input, const Words& options = {}) {
    const Words arguments{"env", "-C", folder_ / "", SIGHTLINE_PROGRAM};
    program_ = std::make_unique<ChildProcess>(
        arguments + Words{"live", input, "-d", detections(), "--overwrite", "--device", "none"} + options,
        environment());
    ASSERT_TRUE(becomes_true([&] { return lines() > 2; })) << program_->output();
    ASSERT_TRUE(screen_->act({"search", "--sync", "--onlyvisible", "--name", "Sightline"}, kPatience));
  }
  void press(const std::string& key) {
    // A window that goes to full screen or back is not there for a moment.
    ASSERT_TRUE(becomes_true([&] {
      return screen_->act({"search", "--onlyvisible", "--name", "Sightline", "windowfocus", "key", key},
                          kPatience) ||
             !program_->is_running();  // gone with the key
    })) << program_->output();
  }
  std::size_t lines() const { return line_count(detections()); }
  std::string detections() const { return folder_ / "live.jsonl"; }
  bool has_file(const std::string& ending, std::uintmax_t least = 1) const {
    for (const auto& entry : fs::directory_iterator(folder_ / ""))
      if (entry.path().extension() == ending && fs::file_size(entry.path()) >= least) return true;
    return false;
  }
  ChildSetup environment() const { return screen_->environment(); }

  TempDir folder_;
  std::unique_ptr<Desktop> screen_;
  std::unique_ptr<ChildProcess> program_;
};

// As if the window had been closed, but with the exit code of what failed.
TEST_F(LiveWindow, AScreenThatIsGoneCostsNothing) {
  ASSERT_NO_FATAL_FAILURE(
      open(moving_clip(320, 240, 100000), kFindsSome + Words{"--record", "o.mp4", "--trace", "t.json"}));
  ASSERT_TRUE(becomes_true([&] { return has_file(".mp4", 1000); })) << program_->output();
  screen_->kill();
  EXPECT_EQ(program_->wait(kPatience), 1) << program_->output();
  EXPECT_GT(parse_lines(bytes_of(detections())).size(), 2u);
  EXPECT_TRUE(Json::parse(bytes_of(folder_ / "t.json")).contains("traceEvents"));
  EXPECT_GT(media::test::read_all(folder_ / "o.mp4").size(), 2u);
}

TEST_F(LiveWindow, ObeysItsKeys) {
  ASSERT_NO_FATAL_FAILURE(open(moving_clip(320, 240, 100000), kFindsSome + Words{"-v"}));
  press("p");
  EXPECT_TRUE(becomes_true([&] { return has_file(".png"); })) << program_->output();
  press("r");
  EXPECT_TRUE(becomes_true([&] { return has_file(".mp4", 1000); })) << program_->output();
  press("r");

  press("space");
  std::size_t standing = 0;
  EXPECT_TRUE(becomes_true([&] {
    standing = lines();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    return lines() == standing;
  }));
  press("s");
  EXPECT_TRUE(becomes_true([&] { return lines() == standing + 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(lines(), standing + 1);
  press("space");
  EXPECT_TRUE(becomes_true([&] { return lines() > standing + 4; }));

  // The detector is turned to a faster setting, and back.
  const auto found_by = [&](const char* setting, std::size_t from) {
    return bytes_of(detections()).find(setting, from) != std::string::npos;
  };
  EXPECT_TRUE(found_by("\"setting\":\"12 filters, step 1.3\"", 0));
  press("minus");
  EXPECT_TRUE(becomes_true([&] { return found_by("\"setting\":\"12 filters, step 1.48\"", 0); }));
  const std::size_t turned = fs::file_size(detections());
  press("plus");
  EXPECT_TRUE(becomes_true([&] { return found_by("\"setting\":\"12 filters, step 1.3\"", turned); }));
  press("a");

  for (const char* key : {"h", "o", "o", "o", "h", "d", "d", "d", "f", "f", "1", "2", "6"}) press(key);
  const std::size_t before = lines();
  EXPECT_TRUE(becomes_true([&] { return lines() > before + 3; })) << program_->output();
  press("q");
  EXPECT_EQ(program_->wait(kPatience), 0) << program_->output();
  const Account account = account_of(program_->output());
  EXPECT_EQ(account.captured, account.detected + account.dropped) << program_->output();
  EXPECT_EQ(static_cast<std::int64_t>(lines()), account.detected);
  // One may have been on its way to the screen.
  const std::int64_t left = account.detected - account.shown - account.replaced;
  EXPECT_TRUE(left == 0 || left == 1) << program_->output();
  EXPECT_EQ(left == 1, program_->output().find("1 not shown yet") != std::string::npos);
}

TEST_F(LiveWindow, SeveralInputsShareIt) {
  const std::string first = moving_clip(320, 240, 100000), second = moving_clip(160, 120, 100000);
  ASSERT_NO_FATAL_FAILURE(open(first, kFindsSome + Words{second, "--min-size", "64"}));
  const auto count = [&](const std::string& source) {
    std::size_t sum = 0;
    const std::string text = fs::exists(detections()) ? bytes_of(detections()) : "";
    const std::string field = "\"source\":\"" + source + "\"";
    for (std::size_t at = text.find(field); at != std::string::npos; at = text.find(field, at + 1)) ++sum;
    return sum;
  };
  EXPECT_TRUE(becomes_true([&] { return count(first) > 2 && count(second) > 2; })) << program_->output();
  // The second one is chosen, and rests; the first goes on.
  press("Tab");
  press("space");
  std::size_t standing = 0;
  EXPECT_TRUE(becomes_true([&] {
    standing = count(second);
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    return count(second) == standing;
  }));
  const std::size_t before = count(first);
  EXPECT_TRUE(becomes_true([&] { return count(first) > before + 3; })) << program_->output();
  EXPECT_EQ(count(second), standing);
  for (const char* key : {"Return", "o", "o", "Return", "1", "6"}) press(key);
  press("space");
  EXPECT_TRUE(becomes_true([&] { return count(second) > standing + 3; })) << program_->output();
  press("q");
  EXPECT_EQ(program_->wait(kPatience), 0) << program_->output();
}

TEST_F(LiveWindow, ShowsEveryFrameWhereAsked) {
  ASSERT_NO_FATAL_FAILURE(open("lavfi:testsrc2=size=1280x720:rate=50",
                               {"--display-all", "--scale-step", "1.05", "--exact", "-v"}));
  ASSERT_TRUE(becomes_true([&] { return lines() > 10; }));
  press("q");
  ASSERT_EQ(program_->wait(kPatience), 0) << program_->output();
  const Account account = account_of(program_->output());
  EXPECT_GT(account.shown, account.detected) << program_->output();
  EXPECT_LE(account.captured - account.shown - account.replaced, 2) << program_->output();
}

// A video is played in one window; the screen with it is captured and searched by a second run.
TEST_F(LiveWindow, FindsPeopleOnTheScreen) {
  const std::optional<std::string> people = people_clip();
  const std::string clip = people.value_or(moving_clip(640, 480, 100000));
  ASSERT_NO_FATAL_FAILURE(open(clip, {"--loop", people ? "-1" : "0", "--hud", "off", "--every", "5"}));
  const std::string seen = folder_ / "screen.jsonl";
  Words arguments{SIGHTLINE_PROGRAM,
                  "live",
                  "screen:" + screen_->display(),
                  "--fps",
                  "10",
                  "-d",
                  seen,
                  "--min-size",
                  "70",
                  "--scale-step",
                  "1.2",
                  "--track"};
  if (!people) arguments = arguments + Words{"--threshold", "-4", "--no-verify"};
  ChildProcess second(arguments + kHeadless, environment());
  const auto finds = [&] {
    return fs::exists(seen) && bytes_of(seen).find("\"track\":") != std::string::npos;
  };
  EXPECT_TRUE(becomes_true(finds)) << second.output();
  second.send(SIGINT);
  EXPECT_EQ(second.wait(kPatience), 128 + SIGINT);
  EXPECT_THAT(second.output(), HasSubstr("1280x800"));
  const Account account = account_of(second.output());
  EXPECT_EQ(account.captured, account.detected + account.dropped) << second.output();
}

TEST_F(LiveWindow, SaysWhenTheStreamIsGone) {
  if (find_program("ffmpeg").empty()) GTEST_SKIP() << "no ffmpeg to serve a stream";
  const std::string url = "http://127.0.0.1:" + std::to_string(free_port()) + "/live";
  auto server = serve(url);
  ASSERT_NO_FATAL_FAILURE(open(url, {"--give-up-after", "30", "--scale-step", "1.3"}));
  server->kill();
  EXPECT_TRUE(becomes_true([&] { return program_->output().find("is lost") != std::string::npos; }));
  const std::size_t before = lines();
  server = serve(url);
  EXPECT_TRUE(becomes_true([&] { return lines() > before + 3; })) << program_->output();
  press("Escape");
  EXPECT_EQ(program_->wait(kPatience), 0) << program_->output();
}

}  // namespace
}  // namespace sightline::test
