// Whatever a video file holds, the program ends soon, within bounds of memory, with a right result or a right
// error. `tools/fuzz videos` goes on from here with other seeds.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "damaged/check.hpp"
#include "damaged/damage.hpp"
#include "support/child_process.hpp"
#include "support/thorough.hpp"

namespace sightline::damaged {
namespace {

using test::Json;
using test::TempDir;

void store(const std::string& file, const Bytes& bytes) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes load(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class DamagedVideos : public testing::Test {
 protected:
  void SetUp() override {
    if (test::find_program("ffmpeg").empty()) GTEST_SKIP() << "there is no ffmpeg program to make clips with";
  }

  /// Checks a file of these bytes; a problem fails the test.
  Verdict check(const std::string& name, const Bytes& bytes) {
    store(folder_ / name, bytes);
    Verdict verdict = check_file(folder_ / name, kBounds);
    EXPECT_EQ(verdict.problem, "") << name << "\n" << verdict.messages;
    std::filesystem::remove(folder_ / name);
    return verdict;
  }
  /// One of each kind, made once: each is a run of ffmpeg.
  static const std::vector<Clip>& clips() {
    static const std::vector<Clip> all = make_clips(TempDir().path());
    return all;
  }
  static Clip clip(const std::string& name) {
    const auto found = std::ranges::find(clips(), name, &Clip::name);
    if (found == clips().end()) throw std::runtime_error("ffmpeg cannot make " + name);
    return *found;
  }
  // Encodes half a second of what a filter generates.
  Bytes encode(const std::string& name, const std::string& graph, const std::vector<std::string>& encoding) {
    const std::string file = folder_ / name;
    std::vector<std::string> arguments{"-f", "lavfi", "-i", graph + ":rate=10", "-t", "0.5", "-threads", "1"};
    arguments.insert(arguments.end(), encoding.begin(), encoding.end());
    arguments.push_back(file);
    EXPECT_TRUE(run_ffmpeg(arguments));
    Bytes bytes = load(file);
    std::filesystem::remove(file);
    return bytes;
  }

  static inline const Bounds kBounds{20, 1'500'000};
  TempDir folder_;
};

Json parse(const std::string& line) {
  return Json::parse(line);
}

std::string without_source(const std::string& line) {
  Json json = parse(line);
  json.erase("source");
  return json.dump();
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST_F(DamagedVideos, WholeOnesAreSearched) {
  EXPECT_GT(clips().size(), 20u);
  for (const Clip& one : clips()) {
    const Verdict verdict = check(one.name, one.bytes);
    EXPECT_EQ(verdict.exit_code, 0) << one.name << verdict.messages;
    const bool is_picture = verdict.lines.size() == 1;
    EXPECT_TRUE(is_picture || verdict.lines.size() == 10) << one.name << ": " << verdict.lines.size();
    for (const std::string& line : verdict.lines) {
      EXPECT_EQ(parse(line).at("width"), one.width) << one.name;
      EXPECT_EQ(parse(line).at("height"), one.height) << one.name;
    }
  }
}

// What was complete before the cut is found as if nothing were missing.
TEST_F(DamagedVideos, WhatComesBeforeACutIsFound) {
  for (const char* name :
       {"h264.ts", "mpeg4.avi", "jpegs.mjpeg", "ffv1.mkv", "raw.avi", "vp8.webm", "flv1.flv"}) {
    SCOPED_TRACE(name);
    const Clip whole = clip(name);
    const Verdict all = check(whole.name, whole.bytes);
    std::size_t most = 0;
    for (int part = 1; part < 8; part += test::is_thorough() ? 1 : 3) {
      Bytes cut = whole.bytes;
      cut.resize(cut.size() * static_cast<std::size_t>(part) / 8);
      const Verdict verdict = check(whole.name, cut);
      ASSERT_LE(verdict.lines.size(), all.lines.size());
      most = std::max(most, verdict.lines.size());
      // The last may be a part of a picture, and of MPEG-TS, whose packets tell no length, the one before it.
      for (std::size_t i = 0; i + 2 < verdict.lines.size(); ++i)
        EXPECT_EQ(without_source(verdict.lines[i]), without_source(all.lines[i])) << "frame " << i;
    }
    EXPECT_GE(most, 5u);
  }
}

TEST_F(DamagedVideos, Seeds) {
  const std::vector<Clip>& clips = DamagedVideos::clips();
  // A step that goes through all clips and all kinds of damage, which follow one another in the seeds.
  const std::size_t step = test::is_thorough() ? 1 : clips.size() % 7 != 0 ? 7 : 11;
  const std::size_t count = clips.size() * kDamages / step;
  std::atomic<std::size_t> next = 0, searched = 0, refused = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < count;) {
      const std::size_t seed = i * step;
      const Damaged input = damage_clip(clips, seed);
      const std::string file = folder_ / input.name;
      store(file, input.bytes);
      const Verdict verdict = check_file(file, kBounds);
      EXPECT_EQ(verdict.problem, "") << input.name << " (seed " << seed << ")\n" << verdict.messages;
      ++(verdict.exit_code == 0 ? searched : refused);
      std::filesystem::remove(file);
    }
  };
  std::jthread other(work);
  work();
  other.join();
  // Damage that stops nothing, or everything, would test nothing.
  EXPECT_GT(searched, count / 4);
  EXPECT_GT(refused, count / 20);
}

TEST_F(DamagedVideos, SizeAndPixelFormatThatChangeMidway) {
  const std::vector<std::string> ts{"-c:v", "mpeg2video", "-g", "2", "-f", "mpegts"};
  const std::vector<std::string> h264{"-c:v", "libx264", "-preset",  "ultrafast",
                                      "-g",   "2",       "-pix_fmt", "yuv420p"};
  const std::vector<std::string> full{"-c:v", "libx264", "-preset",  "ultrafast",
                                      "-g",   "2",       "-pix_fmt", "yuv444p"};
  const Verdict sizes = check(
      "sizes.ts", encode("a.ts", "testsrc=size=160x208", ts) + encode("b.ts", "testsrc=size=240x272", ts));
  const Verdict formats = check("formats.h264", encode("a.h264", "testsrc=size=160x200", h264) +
                                                    encode("b.h264", "testsrc=size=160x200", full));
  const Verdict both = check("both.h264", encode("a.h264", "testsrc=size=240x272", full) +
                                              encode("b.h264", "testsrc=size=97x193", full));
  EXPECT_EQ(formats.lines.size(), 10u);
  ASSERT_EQ(both.lines.size(), 10u);
  ASSERT_GE(sizes.lines.size(), 9u);  // MPEG-2 says only with the next picture that one is over
  EXPECT_EQ(parse(sizes.lines.front()).at("width"), 160);
  EXPECT_EQ(parse(sizes.lines.back()).at("width"), 240);
  EXPECT_EQ(parse(sizes.lines.back()).at("height"), 272);
  EXPECT_EQ(parse(both.lines[4]).at("height"), 272);
  EXPECT_EQ(parse(both.lines[5]).at("height"), 193);
  EXPECT_EQ(parse(both.lines[9]).at("width"), 97);
}

// Bottom-up pictures come with a negative stride.
TEST_F(DamagedVideos, NegativeStrides) {
  const std::vector<std::string> one{"-frames:v", "1", "-pix_fmt"};
  const auto with = [&](const char* format) {
    std::vector<std::string> encoding = one;
    encoding.emplace_back(format);
    return encoding;
  };
  for (const char* graph : {"mandelbrot=size=161x201", "mandelbrot=size=200x240"}) {
    const Bytes upright = encode("up.png", graph, with("rgb24"));
    const Bytes bottom_up = encode("down.bmp", graph, with("bgr24"));
    std::vector<std::string> lines[2];
    const char* names[] = {"up.png", "down.bmp"};
    for (int i = 0; i < 2; ++i) {
      store(folder_ / names[i], i == 0 ? upright : bottom_up);
      const test::Outcome outcome =
          test::run({"-q", "detect", folder_ / names[i], "-d", "-", "--device", "none", "--threshold", "-6",
                     "--no-verify", "--scale-step", "1.3"});
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      for (const Json& json : test::parse_lines(outcome.out)) lines[i].push_back(json.at("objects").dump());
    }
    EXPECT_EQ(lines[0], lines[1]);
    ASSERT_FALSE(lines[0].empty());
    EXPECT_NE(lines[0][0], "[]") << "nothing is compared";
  }
}

TEST_F(DamagedVideos, NoFrames) {
  for (const char* name : {"none.mp4", "none.mkv", "none.avi", "none.ts", "none.y4m", "none.mov"}) {
    const std::string file = folder_ / name;
    if (!run_ffmpeg({"-f", "lavfi", "-i", "testsrc=size=160x200:rate=10", "-frames:v", "0", file})) continue;
    const Verdict verdict = check(name, load(file));
    EXPECT_EQ(verdict.exit_code, 3) << name;
    EXPECT_TRUE(verdict.lines.empty()) << name;
  }
}

// The sizes in headers are what a decoder allocates by.
TEST_F(DamagedVideos, SizesThatAreNotThere) {
  const auto put = [](Bytes bytes, std::size_t at, std::uint64_t value, int length, bool big_endian) {
    for (int i = 0; i < length; ++i)
      bytes.at(at + i) = static_cast<std::uint8_t>(value >> 8 * (big_endian ? length - 1 - i : i));
    return bytes;
  };
  const Bytes png = encode("a.png", "testsrc=size=160x200", {"-frames:v", "1"});
  const Bytes bmp = encode("a.bmp", "testsrc=size=160x200", {"-frames:v", "1"});
  for (const std::uint64_t side :
       {0ULL, 1ULL, 20000ULL, 65535ULL, 0x7FFFFFFFULL, 0x80000000ULL, 0xFFFFFFFFULL}) {
    check("width.png", put(png, 16, side, 4, true));
    check("both.png", put(put(png, 16, side, 4, true), 20, side, 4, true));
    check("width.bmp", put(bmp, 18, side, 4, false));
    check("both.bmp", put(put(bmp, 18, side, 4, false), 22, side, 4, false));
  }
  const std::string y4m = "YUV4MPEG2 W2000000000 H2000000000 F25:1 C420jpeg\nFRAME\n";
  EXPECT_EQ(check("huge.y4m", Bytes(y4m.begin(), y4m.end())).exit_code, 3);
  const std::string pgm = "P5 100000 100000 255\n12345";
  EXPECT_EQ(check("huge.pgm", Bytes(pgm.begin(), pgm.end())).exit_code, 3);
  // Every place of an MP4's headers where a size may stand.
  const Bytes mp4 = clip("h264.mp4").bytes;
  const auto moov = std::search(mp4.begin(), mp4.end(), std::begin("moov"), std::end("moov") - 1);
  const auto first = static_cast<std::size_t>(moov - mp4.begin());
  ASSERT_LT(first, mp4.size());
  const auto step = static_cast<std::size_t>(test::sampling_step(24));
  for (std::size_t at = first + 4; at + 8 < mp4.size(); at += step)
    check("box.mp4", put(mp4, at, 0x7FFFFFF0, 4, true));
}

}  // namespace
}  // namespace sightline::damaged
