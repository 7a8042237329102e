// Recorder: nobody waits for it, no frame is lost without being counted, and what is on disk can be played.
#include "media/recorder.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include "base/file_names.hpp"
#include "media/picture_file.hpp"
#include "support/media.hpp"

namespace sightline::media {
namespace {

using namespace test;
using std::chrono::milliseconds;

/// Costs an encoder time and bytes.
Frame noise_frame(Size size, double time, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size.width) *
                                   static_cast<std::size_t>(size.height));
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(random());
  return frame_from_gray({pixels.data(), size.width, size.height, size.width}, 1, time);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void expect_all_accounted(const RecorderStatus& status) {
  EXPECT_EQ(status.offered, status.written + status.busy + status.failed + status.pending);
}

/// Offers until the frame is taken: for tests in which none is to be left out.
void give(Recorder& recorder, const Frame& frame) {
  while (!recorder.offer(frame)) {
    ASSERT_TRUE(recorder.status().recording) << recorder.status().error;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

constexpr Size kSmall{64, 48};

/// A counter that survives encoding.
int brightness(int i) {
  return i % 12 * 20;
}
int counter_of(const Frame& frame) {
  const double luma = mean(GrayView(to_gray(frame).view()));
  const double full = frame.luma_range() == LumaRange::full ? luma : (luma - 16) * 255 / 219;
  return static_cast<int>(std::lround(full / 20));
}

RecordOptions options_for(const std::string& path) {
  RecordOptions options;
  options.path = path;
  options.writing.preset = "ultrafast";
  options.writing.quality = 12;
  options.writing.threads = 1;
  return options;
}

class Containers : public testing::TestWithParam<const char*> {};

TEST_P(Containers, RotationByTimeLosesNoFrameAndEveryFileStartsAtZero) {
  TempDir dir;
  const std::string ending = GetParam();
  RecordOptions options = options_for(dir / ("live" + ending));
  options.rotation.seconds = 1;
  Recorder recorder(info_of(kSmall), options);
  recorder.start();
  for (int i = 0; i < 110; ++i) give(recorder, gray_frame(kSmall, brightness(i), 7 + i / 25.0));
  recorder.finish();
  const RecorderStatus status = recorder.status();
  EXPECT_EQ(status.written, 110);
  EXPECT_EQ(status.files, 5);
  EXPECT_EQ(status.frames, 10);
  EXPECT_NEAR(status.seconds, 9 / 25.0, 1e-9);
  EXPECT_EQ(status.bytes, static_cast<std::int64_t>(fs::file_size(dir / ("live-005" + ending))));
  int i = 0;
  for (int file = 1; file <= 5; ++file) {
    const auto frames = read_all(dir / ("live-00" + std::to_string(file) + ending));
    ASSERT_EQ(frames.size(), file < 5 ? 25u : 10u);
    for (std::size_t j = 0; j < frames.size(); ++j, ++i) {
      ASSERT_NEAR(frames[j].time(), static_cast<double>(j) / 25, 1e-3);
      ASSERT_EQ(counter_of(frames[j]), i % 12) << "frame " << i;
    }
  }
  EXPECT_EQ(names_in(dir.path()).size(), 5u);
}

INSTANTIATE_TEST_SUITE_P(All, Containers, testing::Values(".mp4", ".mov", ".mkv", ".ts"));

TEST(MediaRecorder, RotationBySizeKeepsTheLimit) {
  for (const char* name : {"a.mp4", "a.mkv", "a.ts"}) {
    TempDir dir;
    RecordOptions options = options_for(dir / name);
    options.rotation.bytes = 300'000;
    Recorder recorder(info_of({160, 120}), options);
    recorder.start();
    for (int i = 0; i < 60; ++i) give(recorder, noise_frame({160, 120}, i / 25.0, static_cast<unsigned>(i)));
    recorder.finish();
    EXPECT_GT(recorder.status().files, 3) << name;
    std::size_t frames = 0;
    for (const std::string& file : names_in(dir.path())) {
      EXPECT_LT(fs::file_size(dir / file), 310'000u) << file;
      frames += read_all(dir / file).size();
    }
    EXPECT_EQ(frames, 60u) << name;
    EXPECT_GT(fs::file_size(dir / names_in(dir.path()).front()), 200'000u) << name;
  }
}

TEST(MediaRecorder, KeepsSoManyFilesOfItsOwn) {
  TempDir dir;
  store(dir / "live-002.mp4", std::string("another's"));
  RecordOptions options = options_for(dir / "live.mp4");
  options.rotation.seconds = 0.2;
  options.keep = 2;
  Recorder recorder(info_of(kSmall), options);
  recorder.start();
  for (int i = 0; i < 25; ++i) give(recorder, gray_frame(kSmall, 50, i / 25.0));
  recorder.finish();
  EXPECT_EQ(recorder.status().files, 5);
  EXPECT_THAT(names_in(dir.path()), testing::ElementsAre("live-002.mp4", "live-006.mp4", "live-007.mp4"));
  EXPECT_EQ(load(dir / "live-002.mp4").size(), 9u);
}

TEST(MediaRecorder, SwitchedOnAgainReplacesNothing) {
  TempDir dir;
  store(dir / "live.mp4", std::string("before"));
  Recorder recorder(info_of(kSmall), options_for(dir / "live.mp4"));
  EXPECT_FALSE(recorder.offer(gray_frame(kSmall, 50)));
  for (int round = 0; round < 12; ++round) {
    recorder.start();
    recorder.start();
    EXPECT_TRUE(recorder.status().recording);
    for (int i = 0; i <= round; ++i) give(recorder, gray_frame(kSmall, 50, round + i / 25.0));
    recorder.stop();
    recorder.stop();
    EXPECT_FALSE(recorder.offer(gray_frame(kSmall, 50, round + 0.9)));
  }
  recorder.start();  // gets no frame, leaves no file
  recorder.finish();
  EXPECT_EQ(load(dir / "live.mp4").size(), 6u);
  const auto names = names_in(dir.path());
  ASSERT_EQ(names.size(), 13u);
  for (std::size_t round = 0; round < 12; ++round)
    EXPECT_EQ(read_all(dir / names[round]).size(), round + 1) << names[round];
  EXPECT_EQ(recorder.status().offered - recorder.status().busy, 78);
  EXPECT_EQ(recorder.status().written, 78);
  expect_error(ExitCode::failed, "finished", [&] { recorder.start(); });
}

TEST(MediaRecorder, PatternsAreExpandedForEachFile) {
  TempDir dir;
  RecordOptions options = options_for(dir / "%Y/cam-%Y%m%d-%H%M%S.mp4");
  options.rotation.seconds = 0.2;
  Recorder recorder(info_of(kSmall), options);
  recorder.start();
  for (int i = 0; i < 20; ++i) give(recorder, gray_frame(kSmall, 50, i / 25.0));
  recorder.finish();
  std::size_t frames = 0;
  const auto folders = names_in(dir.path());
  ASSERT_TRUE(std::regex_match(folders.front(), std::regex("20[0-9]{2}")));
  for (const auto& entry : fs::recursive_directory_iterator(dir.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename();
    EXPECT_TRUE(std::regex_match(name, std::regex("cam-[0-9]{8}-[0-9]{6}(-00[1-9])?[.]mp4"))) << name;
    frames += read_all(entry.path()).size();
  }
  EXPECT_EQ(frames, 20u);
}

TEST(MediaRecorder, EveryFrameIsWrittenOrCountedWhenTheEncoderIsBehind) {
  TempDir dir;
  RecordOptions options = options_for(dir / "a.mkv");
  options.queue = 2;
  options.writing.preset = "medium";
  const Size size{1280, 720};
  const Frame noise = noise_frame(size, 0, 1);
  Recorder recorder(info_of(size), options);
  recorder.start();
  std::int64_t taken = 0;
  std::vector<double> times;
  FrameBuilder builder;
  for (int i = 0; i < 200; ++i) {
    const Frame frame = builder.build(media::picture_of(noise), i + 1, i / 25.0);
    if (recorder.offer(frame)) {
      ++taken;
      times.push_back(frame.time());
    }
    const RecorderStatus status = recorder.status();
    expect_all_accounted(status);
    EXPECT_LE(status.pending, 3);  // those that wait, and the one that is being encoded
    std::this_thread::sleep_for(milliseconds(2));
  }
  recorder.finish();
  const RecorderStatus status = recorder.status();
  expect_all_accounted(status);
  EXPECT_EQ(status.offered, 200);
  EXPECT_EQ(status.written, taken);
  EXPECT_EQ(status.pending, 0);
  EXPECT_EQ(status.failed, 0);
  EXPECT_GT(status.busy, 0);
  const auto frames = read_all(dir / "a.mkv");
  ASSERT_EQ(static_cast<std::int64_t>(frames.size()), taken);
  // What was left out is a gap: all others keep their times.
  for (std::size_t i = 0; i < frames.size(); ++i) ASSERT_NEAR(frames[i].time(), times[i] - times[0], 1.1e-3);
}

TEST(MediaRecorder, VariableRateIsKept) {
  for (const char* name : {"a.mp4", "a.mkv"}) {
    TempDir dir;
    const std::vector<double> times{5, 5.01, 5.3, 7.9, 7.93, 12, 12.04, 12.05, 20, 20.5};
    Recorder recorder(info_of(kSmall), options_for(dir / name));
    recorder.start();
    for (const double time : times) give(recorder, gray_frame(kSmall, 50, time));
    recorder.finish();
    const auto frames = read_all(dir / name);
    ASSERT_EQ(frames.size(), times.size());
    for (std::size_t i = 0; i < times.size(); ++i)
      EXPECT_NEAR(frames[i].time(), times[i] - 5, 1.1e-3) << name;
  }
}

TEST(MediaRecorder, TimeThatGoesBackStartsANewFile) {
  TempDir dir;
  Recorder recorder(info_of(kSmall), options_for(dir / "a.mp4"));
  recorder.start();
  for (const double time : {100.0, 100.1, 3.0, 3.1, 3.2}) give(recorder, gray_frame(kSmall, 50, time));
  recorder.finish();
  EXPECT_EQ(read_all(dir / "a.mp4").size(), 2u);
  const auto frames = read_all(dir / "a-001.mp4");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_NEAR(frames[2].time(), 0.2, 1e-3);
}

TEST(MediaRecorder, SizeChangesAtTheNextFile) {
  TempDir dir;
  RecordOptions options = options_for(dir / "a.mp4");
  options.rotation.seconds = 0.4;
  Recorder recorder(info_of({0, 0}), options);
  recorder.start();
  for (int i = 0; i < 20; ++i) give(recorder, gray_frame(i < 5 ? Size{64, 48} : Size{96, 64}, 50, i / 25.0));
  recorder.finish();
  EXPECT_EQ(Reader(dir / "a-001.mp4").info().size, (Size{64, 48}));
  EXPECT_EQ(Reader(dir / "a-002.mp4").info().size, (Size{96, 64}));
  EXPECT_EQ(read_all(dir / "a-001.mp4").size() + read_all(dir / "a-002.mp4").size(), 20u);
}

TEST(MediaRecorder, BoxesAreInTheFile) {
  TempDir dir;
  const std::vector<std::string> labels{"person"};
  const std::vector<Detection> objects{{{20, 40, 60, 40}, 1.5, 0}};
  Recorder recorder(info_of({128, 96}), options_for(dir / "a.mkv"));
  recorder.start();
  ASSERT_TRUE(recorder.offer(gray_frame({128, 96}, 40), objects, labels));
  ASSERT_TRUE(recorder.offer(gray_frame({128, 96}, 40, 0.04)));
  recorder.finish();
  const auto frames = read_all(dir / "a.mkv");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_GT(mean(frames[0].gray()), mean(frames[1].gray()) + 5);
}

TEST(MediaRecorder, DestructorFinishes) {
  TempDir dir;
  {
    Recorder recorder(info_of(kSmall), options_for(dir / "a.mp4"));
    recorder.start();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(recorder.offer(gray_frame(kSmall, 50, i / 25.0)));
  }
  EXPECT_EQ(read_all(dir / "a.mp4").size(), 10u);
}

TEST(MediaRecorder, StartAndStopFromAnotherThread) {
  TempDir dir;
  Recorder recorder(info_of(kSmall), options_for(dir / "a.mkv"));
  std::atomic<bool> done{false};
  std::int64_t taken = 0;
  std::thread source([&] {
    for (int i = 0; !done; ++i) {
      taken += recorder.offer(gray_frame(kSmall, 50, i / 1000.0));
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  for (int round = 0; round < 40; ++round) {
    recorder.start();
    std::this_thread::sleep_for(milliseconds(round % 4 * 3));
    recorder.stop();
    expect_all_accounted(recorder.status());
  }
  done = true;
  source.join();
  recorder.finish();
  EXPECT_EQ(recorder.status().written, taken);
  EXPECT_GT(taken, 20);
  std::size_t frames = 0;
  for (const std::string& name : names_in(dir.path())) frames += read_all(dir / name).size();
  EXPECT_EQ(static_cast<std::int64_t>(frames), taken);
  EXPECT_EQ(recorder.status().files, static_cast<std::int64_t>(names_in(dir.path()).size()));
}

TEST(MediaRecorder, Unusable) {
  TempDir dir;
  const StreamInfo info = info_of(kSmall);
  Recorder recorder(info, options_for(dir / "none/a.mp4"));
  expect_error(ExitCode::failed, "/none/a.mp4", [&] { recorder.start(); });
  EXPECT_FALSE(recorder.status().recording);
  fs::create_directory(dir / "none");  // and now it can
  recorder.start();
  EXPECT_TRUE(recorder.offer(gray_frame(kSmall, 50)));
  recorder.finish();
  EXPECT_EQ(recorder.status().written, 1);
  expect_error(ExitCode::usage, "picture", [&] { Recorder(info, options_for(dir / "a.png")); });
  expect_error(ExitCode::usage, "type", [&] { Recorder(info, options_for(dir / "a.unheardof")); });
  expect_error(ExitCode::usage, "preset", [&] {
    RecordOptions options = options_for(dir / "a.mp4");
    options.writing.preset = "lightning";
    Recorder(info, options);
  });
}

TEST(MediaRecorder, FullDeviceEndsTheRecordingAndNothingElse) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  TempDir dir;
  fs::create_symlink("/dev/full", dir / "a.mkv");
  Recorder recorder(info_of(kSmall), options_for(dir / "a.mkv"));
  recorder.start();
  for (int i = 0; i < 500 && recorder.status().recording; ++i) {
    recorder.offer(gray_frame(kSmall, 50, i / 25.0));
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_FALSE(recorder.status().recording);
  EXPECT_NE(recorder.status().error, "");
  fs::remove(dir / "a.mkv");
  recorder.start();
  EXPECT_TRUE(recorder.status().error.empty());
  EXPECT_TRUE(recorder.offer(gray_frame(kSmall, 50)));
  recorder.finish();
  const RecorderStatus status = recorder.status();
  EXPECT_EQ(status.written, 1);
  EXPECT_GE(status.failed, 1);
  expect_all_accounted(status);
}

/// Files of this process end at so many bytes, as on a disk that is full.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_{};
};

TEST(MediaRecorder, WhatIsOnAFullDiskCanBeRead) {
  for (const char* name : {"a.mp4", "a.mkv", "a.ts"}) {
    TempDir dir;
    RecordOptions options = options_for(dir / name);
    options.queue = 200;
    RecorderStatus status;
    {
      const FileLimit limit(700'000);
      Recorder recorder(info_of({160, 120}), options);
      recorder.start();
      for (int i = 0; i < 150; ++i)
        recorder.offer(noise_frame({160, 120}, i / 25.0, static_cast<unsigned>(i)));
      recorder.finish();
      status = recorder.status();
    }
    EXPECT_FALSE(status.error.empty()) << name;
    EXPECT_GT(status.failed, 0) << name;
    expect_all_accounted(status);
    const auto frames = static_cast<std::int64_t>(read_all(dir / name).size());
    EXPECT_GE(frames, status.written - 14) << name;  // half a second is on its way
    EXPECT_GT(frames, 20) << name;
  }
}

void record_until_killed(const std::string& file) {
  Recorder recorder(info_of(kSmall), options_for(file));
  recorder.start();
  for (int i = 0; i < 100; ++i) give(recorder, gray_frame(kSmall, brightness(i), i / 25.0));
  while (recorder.status().written < 100) std::this_thread::sleep_for(milliseconds(1));
  raise(SIGKILL);
}

class KilledRecording : public testing::TestWithParam<const char*> {};

TEST_P(KilledRecording, HoldsWhatWasRecorded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The process that is killed runs this test anew; what it records is for the one that waits.
  constexpr const char* kVariable = "SIGHTLINE_TEST_RECORDING";
  std::optional<TempDir> dir;
  if (!std::getenv(kVariable)) setenv(kVariable, (dir.emplace() / GetParam()).c_str(), 1);
  const std::string file = std::getenv(kVariable);
  EXPECT_EXIT(record_until_killed(file), testing::KilledBySignal(SIGKILL), "");
  unsetenv(kVariable);
  const auto frames = read_all(file);
  EXPECT_GE(frames.size(), 85u);  // of 100: half a second may be missing
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ASSERT_NEAR(frames[i].time(), static_cast<double>(i) / 25, 1.1e-3);
    ASSERT_EQ(counter_of(frames[i]), static_cast<int>(i % 12));
  }
}

INSTANTIATE_TEST_SUITE_P(Containers, KilledRecording, testing::Values("a.mp4", "a.mov", "a.mkv", "a.ts"),
                         [](const auto& name) { return std::string(name.param).substr(2); });

TEST(MediaRecorder, NamesGoOnAfterTheHighest) {
  TempDir dir;
  store(dir / "a-009.mp4", std::string("x"));
  store(dir / "a-12.mp4", std::string("x"));
  FileNames numbered(dir / "a.mp4", "", true);
  EXPECT_EQ(numbered.reserve(), dir / "a-010.mp4");
  fs::remove(dir / "a-010.mp4");
  EXPECT_EQ(numbered.reserve(), dir / "a-011.mp4");
  FileNames plain(dir / "a.mp4", "", false);
  EXPECT_EQ(plain.reserve(), dir / "a.mp4");
  fs::remove(dir / "a.mp4");
  EXPECT_EQ(plain.reserve(), dir / "a-012.mp4");
  EXPECT_EQ(expand_pattern("a-%f-%Y-100%%f", 1'800'000'000, 42), "a-000042-2027-100_f");
}

TEST(MediaRecorder, SavedPicturesAreWholeAndReplaceNothing) {
  TempDir dir;
  const std::vector<Detection> objects{{{20, 40, 60, 40}, 1.5, 0}};
  const Frame frame = gray_frame({129, 97}, 40, 3, 123);
  const std::string png = save_picture(dir / "p-%f.png", frame, objects, {});
  EXPECT_EQ(png, dir / "p-000123.png");
  EXPECT_EQ(save_picture(dir / "p-%f.png", frame, {}, {}), dir / "p-000123-001.png");
  const std::string jpeg = save_picture(dir / "p.jpg", frame, objects, {});
  for (const std::string& file : {png, jpeg}) {
    const Frame with = *Reader(file).read(), without = *Reader(dir / "p-000123-001.png").read();
    EXPECT_LE(std::abs(with.size().width - 129), 1);
    EXPECT_GT(mean(GrayView(to_gray(with).view())), mean(GrayView(to_gray(without).view())) + 3);
  }
  EXPECT_EQ(Reader(png).info().size, (Size{129, 97}));
  const std::string in_folder = save_picture(dir.path(), frame, {}, {});
  EXPECT_TRUE(std::regex_match(fs::path(in_folder).filename().string(),
                               std::regex("sightline-[0-9]{8}-[0-9]{6}-000123[.]png")));
  expect_error(ExitCode::usage, "picture", [&] { save_picture(dir / "a.mp4", frame, {}, {}); });
  expect_error(ExitCode::failed, "none", [&] { save_picture(dir / "none/a.png", frame, {}, {}); });
  EXPECT_EQ(names_in(dir.path()).size(), 4u);
}

}  // namespace
}  // namespace sightline::media
