// Reader on all kinds of input, good, odd and broken.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "media/capture.hpp"
#include "media/folder.hpp"
#include "support/http_server.hpp"
#include "support/media.hpp"
#include "support/unprivileged.hpp"

namespace sightline::media {
namespace {

using namespace test;
using sightline::test::HttpServer;

/// Puts a descriptor over standard input, and the old one back.
class StandardInput {
 public:
  explicit StandardInput(int fd) : old_(dup(STDIN_FILENO)) { dup2(fd, STDIN_FILENO); }
  ~StandardInput() {
    dup2(old_, STDIN_FILENO);
    close(old_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int old_;
};

TEST(MediaInputs, FolderInNaturalOrderWithSizesOfTheirOwn) {
  TempDir dir;
  fs::create_directory(dir / "images");
  const auto image = [&](const std::string& name, const std::string& size) {
    make_clip(dir / ("images/" + name), "testsrc=size=" + size + ":rate=1:duration=1");
  };
  image("shot10.png", "30x20");
  image("shot9.jpg", "64x48");
  image("shot100.bmp", "50x40");
  image("SHOT1.PNG", "33x21");
  store(dir / "images/notes.txt", std::string("no image"));
  store(dir / "images/.hidden.png", std::string("no image"));
  store(dir / "images/shot50.png", std::string("no image, but claims to be"));
  fs::create_directory(dir / "images/folder.png");
  fs::create_directory(dir / "images/more");
  image("more/x.png", "8x8");
  expect_error(ExitCode::input, "shot50.png", [&] { read_all(dir / "images"); });

  ReadOptions options;
  options.deliver_damaged = options.keep_going = true;
  Reader reader(dir / "images", options);
  EXPECT_EQ(reader.info().frames, 5);
  auto frames = read_all(reader);
  ASSERT_EQ(frames.size(), 5u);
  EXPECT_EQ(frames[3].name(), "shot50.png");
  EXPECT_FALSE(frames[3].damage().empty());
  EXPECT_TRUE(frames[3].empty());
  frames.erase(frames.begin() + 3);
  for (const Frame& frame : frames) EXPECT_EQ(frame.damage(), "");
  EXPECT_EQ(frames[0].name(), "SHOT1.PNG");
  EXPECT_EQ(frames[1].name(), "shot9.jpg");
  EXPECT_EQ(frames[2].name(), "shot10.png");
  EXPECT_EQ(frames[3].name(), "shot100.bmp");
  EXPECT_EQ(frames[0].size(), (Size{33, 21}));
  EXPECT_EQ(frames[1].size(), (Size{64, 48}));
  EXPECT_EQ(frames[2].size(), (Size{30, 20}));
  EXPECT_EQ(frames[3].number(), 5);
  EXPECT_EQ(reader.decode_errors(), 1);
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_GT(frames[i].time(), frames[i - 1].time());
  ReadOptions twice = options;
  twice.loop = 1;
  EXPECT_EQ(read_all(dir / "images", twice).size(), 10u);
  options.recursive = true;
  const auto all = read_all(dir / "images", options);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all.back().name(), "more/x.png");
}

TEST(MediaInputs, PicturesThatAreCutShortAreDamaged) {
  TempDir dir;
  for (const char* type : {"jpg", "png", "bmp", "tiff", "ppm"}) {
    const std::string path = dir / (std::string("whole.") + type);
    make_clip(path, "testsrc2=size=160x120:rate=1:duration=1");
    EXPECT_EQ(read_all(path).size(), 1u) << type;
    std::vector<char> bytes = load(path);
    bytes.resize(bytes.size() * 2 / 3);
    store(dir / (std::string("cut.") + type), bytes);
    expect_error(ExitCode::input, "cut.", [&] { Reader(dir / (std::string("cut.") + type)); });
  }
}

TEST(MediaInputs, VideosThatAreCutShortSaySo) {
  TempDir dir;
  make_clip(dir / "whole.mkv", "testsrc2=size=160x120:rate=10:duration=4");
  std::vector<char> bytes = load(dir / "whole.mkv");
  bytes.resize(bytes.size() * 2 / 3);
  store(dir / "cut.mkv", bytes);
  for (const char* name : {"whole.mkv", "cut.mkv"}) {
    Reader reader(dir / name);
    read_all(reader);
    EXPECT_EQ(reader.decode_errors() > 0, std::string(name) == "cut.mkv") << name;
  }
}

TEST(MediaInputs, DurationLimitsAnEndlessLoop) {
  TempDir dir;
  make_clip(dir / "a.mkv", "testsrc2=size=64x48:rate=10:duration=0.5");
  ReadOptions options;
  options.loop = -1;
  options.duration = 1.2;
  EXPECT_EQ(read_all(dir / "a.mkv", options).size(), 12u);
}

TEST(MediaInputs, FolderWithoutImages) {
  TempDir dir;
  expect_error(ExitCode::input, [&] { Reader(dir.path()); });
  store(dir / "a.txt", std::string("text"));
  expect_error(ExitCode::input, [&] { Reader(dir.path()); });
  store(dir / "a.png", std::string("text"));
  expect_error(ExitCode::input, "a.png", [&] { Reader(dir.path()); });
}

std::vector<std::string> names_of(const std::vector<Frame>& frames) {
  std::vector<std::string> names;
  for (const Frame& frame : frames) names.push_back(frame.name());
  return names;
}

TEST(MediaInputs, FoldersBehindLinksAreReadOnce) {
  const TempDir dir, elsewhere;
  const auto image = [](const std::string& path) { make_clip(path, "testsrc=size=8x8:rate=1:duration=1"); };
  fs::create_directories(dir / "real");
  fs::create_directories(elsewhere / "more");
  image(dir / "real/a.png");
  image(elsewhere / "b.png");
  image(elsewhere / "more/c.png");
  fs::create_symlink(elsewhere.path(), dir / "linked");
  fs::create_symlink("real", dir / "again");
  fs::create_symlink(dir.path(), dir / "real/loop");
  fs::create_symlink(dir.path(), elsewhere / "more/back");
  fs::create_symlink(elsewhere / "b.png", dir / "d.png");
  ReadOptions options;
  EXPECT_EQ(list_folder(dir.path(), false).folders, 3);
  options.recursive = true;
  EXPECT_THAT(names_of(read_all(dir.path(), options)),
              testing::ElementsAre("d.png", "real/a.png", "linked/b.png", "linked/more/c.png"));
  EXPECT_EQ(list_folder(dir.path(), true).known_folders, 3);
}

// Each is named with its reason; no pipe is waited for.
TEST(MediaInputs, WhatIsNoFileInAFolderIsAnUnreadablePicture) {
  const TempDir dir;
  make_clip(dir / "a.avif.png", "testsrc=size=8x8:rate=1:duration=1");
  fs::rename(dir / "a.avif.png", dir / "a.avif");  // by its name it counts, and its bytes say how to read it
  fs::create_symlink("/nonexistent/b.jpg", dir / "b.jpg");
  ASSERT_EQ(mkfifo((dir / "c.png").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", dir / "d.bmp");
  fs::create_symlink("e.tif", dir / "e.tif");
  fs::create_symlink("/nonexistent", dir / "camera1");
  expect_error(ExitCode::input, "/nonexistent/b.jpg", [&] { read_all(dir.path()); });
  ReadOptions options;
  options.deliver_damaged = options.keep_going = true;
  Reader reader(dir.path(), options);
  const std::vector<Frame> frames = read_all(reader);
  ASSERT_THAT(names_of(frames), testing::ElementsAre("a.avif", "b.jpg", "c.png", "d.bmp", "e.tif"));
  EXPECT_EQ(frames[0].damage(), "");
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_NE(frames[i].damage(), "");
  EXPECT_THAT(frames[2].damage(), testing::HasSubstr("pipe"));
  EXPECT_EQ(reader.decode_errors(), 4);
  EXPECT_EQ(list_images(dir.path()).size(), 1u);
  EXPECT_EQ(list_folder(dir.path(), false).lost.size(), 1u);
  EXPECT_EQ(list_folder(dir.path(), true).problems.size(), 1u) << "it may have been a folder to search";
}

TEST(MediaInputs, AFolderThatMayNotBeListedCostsNoOther) {
  const TempDir dir;
  fs::permissions(dir.path(), fs::perms(0755));
  fs::create_directory(dir / "closed");
  make_clip(dir / "a.png", "testsrc=size=8x8:rate=1:duration=1");
  fs::permissions(dir / "closed", fs::perms::none);
  {
    const sightline::test::Unprivileged user;
    ReadOptions options;
    options.recursive = true;
    expect_error(ExitCode::input, "closed", [&] { Reader(dir.path(), options); });
    options.deliver_damaged = options.keep_going = true;
    Reader reader(dir.path(), options);
    EXPECT_EQ(read_all(reader).size(), 1u);
    EXPECT_EQ(reader.decode_errors(), 1);
  }
  fs::permissions(dir / "closed", fs::perms(0755));
}

TEST(MediaInputs, NumberedImages) {
  TempDir dir;
  make_clip(dir / "img%03d.png", "testsrc=size=40x30:rate=25:duration=0.2");
  EXPECT_TRUE(fs::exists(dir / "img005.png"));
  EXPECT_FALSE(fs::exists(dir / "img006.png"));
  const auto frames = read_all(dir / "img%03d.png");
  ASSERT_EQ(frames.size(), 5u);
  EXPECT_EQ(frames[4].size(), (Size{40, 30}));
  EXPECT_NEAR(frames[4].time(), 0.16, 1e-6);
  expect_error(ExitCode::input, [&] { Reader(dir / "none%03d.png"); });
}

TEST(MediaInputs, FolderIsWrittenAndRead) {
  TempDir dir;
  make_clip(dir / "new/", "testsrc=size=41x31:rate=25:duration=0.2");
  const auto frames = read_all(dir / "new");
  ASSERT_EQ(frames.size(), 5u);
  EXPECT_EQ(frames[0].size(), (Size{41, 31}));
}

TEST(MediaInputs, SingleImages) {
  TempDir dir;
  for (const char* name : {"a.png", "b.jpg", "c.bmp", "100%d.png", "a:b.png"}) {
    make_clip(dir / "x.png", "testsrc=size=50x40:rate=1:duration=1");
    if (std::string(name).ends_with(".png"))
      fs::copy_file(dir / "x.png", dir / name);
    else
      make_clip(dir / name, "testsrc=size=50x40:rate=1:duration=1");
    Reader reader(dir / name);
    EXPECT_EQ(reader.info().frames, 1) << name;
    const auto frames = read_all(reader);
    ASSERT_EQ(frames.size(), 1u) << name;
    EXPECT_EQ(frames[0].size(), (Size{50, 40})) << name;
    EXPECT_EQ(frames[0].time(), 0) << name;
  }
}

TEST(MediaInputs, StandardInput) {
  TempDir dir;
  make_clip(dir / "a.mkv", kClip);
  const std::vector<char> bytes = load(dir / "a.mkv");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread feeder([&] {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(ends[1], bytes.data() + done, bytes.size() - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    close(ends[1]);
  });
  {
    const StandardInput input(ends[0]);
    EXPECT_EQ(read_all("-").size(), 50u);
  }
  close(ends[0]);
  feeder.join();
}

TEST(MediaInputs, PicturesOfServersThatSendNoParts) {
  TempDir dir;
  std::string body;
  HttpServer server([&](const std::string&) { return HttpServer::ok(body); });
  for (const std::string type : {"jpg", "png", "bmp", "tiff", "webp", "ppm", "sgi"}) {
    const std::string file = dir / ("a." + type);
    try {
      make_clip(file, "testsrc2=size=160x120:rate=1:duration=1");
    } catch (const Error&) {
      continue;  // no encoder here
    }
    const std::vector<char> bytes = load(file);
    body.assign(bytes.begin(), bytes.end());
    for (const std::string& name : {"/a." + type, std::string("/a"), "/a." + type + "?x=1"}) {
      const std::vector<Frame> frames = read_all(server.url(name));
      ASSERT_EQ(frames.size(), 1u) << name;
      EXPECT_EQ(mean_difference(frames[0], read_all(file)[0]), 0) << name;
    }
    if (type != "png") continue;
    body.resize(body.size() / 2);
    expect_error(ExitCode::input, "cut short", [&] { read_all(server.url("/a.png")); });
  }
  const auto serve = [&](const std::string& graph) {
    make_clip(dir / "a.mp4", graph);
    const std::vector<char> bytes = load(dir / "a.mp4");
    body.assign(bytes.begin(), bytes.end());
    ASSERT_GT(body.find("moov"), body.find("mdat"));
  };
  // The pictures of a short one are still in the buffer when its index is read.
  serve("testsrc2=size=160x120:rate=5:duration=1");
  EXPECT_EQ(read_all(server.url("/a.mp4")).size(), 5u);
  serve("testsrc2=size=640x480:rate=25:duration=8");
  expect_error(ExitCode::input, "index", [&] { Reader(server.url("/a.mp4")); });
}

TEST(MediaInputs, StandardInputCanBeInterrupted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // into which nobody ever writes
  std::atomic<bool> stop{false};
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  {
    const StandardInput input(ends[0]);
    ReadOptions options;
    options.stop = &stop;
    expect_error(ExitCode::failed, "stopped", [&] { Reader("-", options); });
  }
  stopper.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(MediaInputs, StandardInputIsReadOnce) {
  ReadOptions options;
  options.loop = 1;
  expect_error(ExitCode::usage, [&] { Reader("-", options); });
}

TEST(MediaInputs, Unusable) {
  TempDir dir;
  expect_error(ExitCode::usage, "empty", [] { Reader(""); });
  expect_error(ExitCode::input, "none.mp4", [&] { Reader(dir / "none.mp4"); });
  store(dir / "empty.mp4", std::string());
  expect_error(ExitCode::input, [&] { Reader(dir / "empty.mp4"); });
  std::string prose;
  for (int i = 0; i < 500; ++i) prose += "It was a dark and stormy night.\n";
  for (const char* name : {"a.txt", "a.mp4", "a.nfo", "a"}) {
    store(dir / name, prose);
    expect_error(ExitCode::input, dir / name, [&] { Reader(dir / name); });
  }
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 100000; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  store(dir / "noise.bin", noise);
  expect_error(ExitCode::input, "noise.bin", [&] { Reader(dir / "noise.bin"); });
  expect_error(ExitCode::input, "generator", [] { Reader("lavfi:nosuchfilter=1"); });
}

TEST(MediaInputs, WithoutTheCaptureLibrary) {
  expect_error(ExitCode::input, "libnone.so.1", [] { load_capture("lavfi:testsrc", "libnone.so.1"); });
  expect_error(ExitCode::input, "lavfi:testsrc", [] { load_capture("lavfi:testsrc", "libnone.so.1"); });
  expect_error(ExitCode::input, [] { load_capture("lavfi:testsrc", "libc.so.6"); });
  expect_error(ExitCode::input, "-DSIGHTLINE_CAPTURE=ON", [] { load_capture("lavfi:testsrc", ""); });
  EXPECT_NO_THROW(load_capture("lavfi:testsrc"));
}

TEST(MediaInputs, Unreadable) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  TempDir dir;
  make_clip(dir / "a.mkv", kClip);
  fs::permissions(dir / "a.mkv", fs::perms::none);
  expect_error(ExitCode::input, "permissions", [&] { Reader(dir / "a.mkv"); });
}

TEST(MediaInputs, SoundOnly) {
  TempDir dir;
  // A WAV header for one second of 8 kHz mono 16 bit.
  const auto number = [](std::uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  store(dir / "a.wav", "RIFF" + number(36 + 16000, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) +
                           number(1, 2) + number(8000, 4) + number(16000, 4) + number(2, 2) + number(16, 2) +
                           "data" + number(16000, 4) + std::string(16000, '\0'));
  expect_error(ExitCode::input, "a.wav", [&] { Reader(dir / "a.wav"); });
}

TEST(MediaInputs, TooLarge) {
  TempDir dir;
  make_clip(dir / "a.png", "testsrc=size=400x300:rate=1:duration=1");
  make_clip(dir / "a.mkv", "testsrc=size=400x300:rate=5:duration=1");
  ReadOptions options;
  options.max_pixels = 119999;
  for (const char* name : {"a.png", "a.mkv"})
    expect_error(ExitCode::input, "400x300", [&] { Reader(dir / name, options); });
  options.max_pixels = 120000;
  EXPECT_EQ(read_all(dir / "a.png", options).size(), 1u);
}

TEST(MediaInputs, GrowsTooLargeMidStream) {
  TempDir dir;
  make_clip(dir / "a.h264", "testsrc=size=128x96:rate=25:duration=0.4,format=yuv420p");
  make_clip(dir / "b.h264", "testsrc=size=640x480:rate=25:duration=0.4,format=yuv420p");
  std::vector<char> both = load(dir / "a.h264");
  const std::vector<char> second = load(dir / "b.h264");
  both.insert(both.end(), second.begin(), second.end());
  store(dir / "both.h264", both);
  ReadOptions options;
  options.max_pixels = 100000;
  Reader reader(dir / "both.h264", options);
  expect_error(ExitCode::input, "640x480", [&] { read_all(reader); });
}

TEST(MediaInputs, Truncated) {
  TempDir dir;
  make_clip(dir / "a.mkv", "testsrc2=size=320x240:rate=25:duration=2,format=yuv420p");
  std::vector<char> bytes = load(dir / "a.mkv");
  bytes.resize(bytes.size() * 6 / 10);
  store(dir / "cut.mkv", bytes);
  const std::size_t count = read_all(dir / "cut.mkv").size();
  EXPECT_GT(count, 15u);
  EXPECT_LT(count, 50u);
}

TEST(MediaInputs, TruncatedPastTheIndexOfMp4) {
  TempDir dir;
  make_clip(dir / "a.mp4", "testsrc2=size=320x240:rate=25:duration=2,format=yuv420p");
  std::vector<char> bytes = load(dir / "a.mp4");
  bytes.resize(bytes.size() / 2);
  store(dir / "cut.mp4", bytes);
  expect_error(ExitCode::input, "cut.mp4", [&] { Reader(dir / "cut.mp4"); });
}

TEST(MediaInputs, BitFlips) {
  TempDir dir;
  make_clip(dir / "a.mkv", "testsrc2=size=320x240:rate=25:duration=4,format=yuv420p");
  const std::vector<char> good = load(dir / "a.mkv");
  std::int64_t errors = 0, delivered = 0;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    std::vector<char> bytes = good;
    std::uint32_t state = seed;
    for (int i = 0; i < 60; ++i) {
      state = state * 1664525 + 1013904223;
      const std::size_t at = 4000 + state % (bytes.size() - 4000);
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << (state >> 29)));
    }
    store(dir / "bad.mkv", bytes);
    try {
      Reader reader(dir / "bad.mkv");
      delivered += static_cast<std::int64_t>(read_all(reader).size());
      errors += reader.decode_errors();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
    }
  }
  EXPECT_GT(errors, 0);
  EXPECT_GT(delivered, 300);
}

TEST(MediaInputs, AnyNumberOfDamagedPicturesIsGoneOnAfter) {
  TempDir dir;
  make_clip(dir / "500.png", "testsrc=size=30x20:rate=1:duration=1");
  for (int i = 1; i <= 120; ++i) store(dir / (std::to_string(i) + ".png"), std::string("no image"));
  ReadOptions options;
  options.deliver_damaged = options.keep_going = true;
  Reader reader(dir.path(), options);
  EXPECT_EQ(reader.info().size, (Size{30, 20}));
  EXPECT_EQ(read_all(reader).size(), 121u);
  EXPECT_EQ(reader.decode_errors(), 120);
}

}  // namespace
}  // namespace sightline::media
