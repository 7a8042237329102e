// Reader on good input: numbers, times, selection, loops.
#include "media/reader.hpp"

#include <cmath>
#include <thread>

#include "media/video_parts.hpp"
#include "support/media.hpp"

namespace sightline::media {
namespace {

using namespace test;

class MediaReader : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = std::make_unique<TempDir>();
    make_clip(*dir_ / "clip.mp4", "testsrc=size=128x96:rate=25:duration=2,format=yuv420p");
  }
  static void TearDownTestSuite() { dir_.reset(); }
  static std::string clip() { return *dir_ / "clip.mp4"; }
  static std::unique_ptr<TempDir> dir_;
};
std::unique_ptr<TempDir> MediaReader::dir_;

TEST_F(MediaReader, TellsWhatItReads) {
  const Reader reader(clip());
  const StreamInfo& info = reader.info();
  EXPECT_EQ(info.size, (Size{128, 96}));
  EXPECT_EQ(info.frame_rate, (Rational{25, 1}));
  EXPECT_EQ(info.frames, 50);
  ASSERT_TRUE(info.duration);
  EXPECT_NEAR(*info.duration, 2, 0.01);
  EXPECT_EQ(info.codec, "h264");
  EXPECT_EQ(info.pixel_format, "yuv420p");
  EXPECT_FALSE(info.has_audio);
  EXPECT_EQ(reader.audio(), nullptr);
}

TEST_F(MediaReader, NumbersAndTimes) {
  const std::vector<Frame> frames = read_all(clip());
  ASSERT_EQ(frames.size(), 50u);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].number(), static_cast<std::int64_t>(i) + 1);
    EXPECT_NEAR(frames[i].time(), static_cast<double>(i) / 25, 1e-4);
  }
}

TEST_F(MediaReader, EndStaysEnd) {
  Reader reader(clip());
  read_all(reader);
  EXPECT_FALSE(reader.read());
  EXPECT_FALSE(reader.read());
}

TEST_F(MediaReader, ThreadsDoNotMatter) {
  ReadOptions one, four, slow;
  one.threads = 1;
  four.threads = 4;
  slow.low_delay = true;
  const auto a = read_all(clip(), one), b = read_all(clip(), four), c = read_all(clip(), slow);
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.size(), c.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(mean_difference(a[i], b[i]), 0);
    EXPECT_EQ(mean_difference(a[i], c[i]), 0);
  }
}

TEST_F(MediaReader, StartAndDuration) {
  ReadOptions options;
  options.start = 0.5;
  options.duration = 0.4;
  Reader reader(clip(), options);
  EXPECT_EQ(reader.info().frames, 10);
  const auto part = read_all(reader), all = read_all(clip());
  ASSERT_EQ(part.size(), 10u);
  EXPECT_EQ(part.front().number(), 1);
  EXPECT_NEAR(part.front().time(), 0.52, 1e-4);  // 0.5 s lies between two frames
  EXPECT_EQ(mean_difference(part.front(), all[13]), 0);
  EXPECT_NEAR(part.back().time(), 0.88, 1e-4);
}

// Containers differ in what they can seek to: any frame, key frames, nothing at all.
TEST_F(MediaReader, StartIsExactInEveryContainer) {
  TempDir dir;
  for (const char* name : {"a.mp4", "a.mkv", "a.ts", "a.h264"}) {
    make_clip(dir / name,
              "testsrc2=size=64x48:rate=10:duration=30,format=yuv420p");  // key frames at 0 s and 25 s
    const auto all = read_all(dir / name);
    ASSERT_EQ(all.size(), 300u) << name;
    for (const double start : {0.15, 2.0, 26.0}) {
      ReadOptions options;
      options.start = start;
      options.duration = 1;
      const auto part = read_all(dir / name, options);
      ASSERT_EQ(part.size(), 10u) << name << " from " << start;
      EXPECT_NEAR(part[0].time(), std::ceil(start * 10) / 10, 2e-3) << name;
      const auto index = static_cast<std::size_t>(std::ceil(start * 10));
      EXPECT_EQ(mean_difference(part[0], all[index]), 0) << name << " from " << start;
    }
  }
}

TEST_F(MediaReader, ContinuesAtAnyFrame) {
  for (const std::string& file :
       {clip(), encode_clip(*dir_, {"-i", clip()}, {"-bf", "2", "-g", "10"}, "same.mkv"),
        encode_clip(*dir_, {"-i", clip()}, {"-g", "10"}, "no-index.ts")}) {
    for (const int every : {1, 4}) {
      ReadOptions options;
      options.every = every;
      const std::vector<Frame> all = read_all(file, options);
      for (const std::size_t begin : {std::size_t{0}, std::size_t{1}, all.size() / 2, all.size()}) {
        SCOPED_TRACE(file + ", " + std::to_string(begin));
        Reader reader(file, options);
        for (int i = 0; i < 3; ++i) reader.read();
        const std::int64_t before = begin == 0 ? 0 : all[begin - 1].number();
        reader.continue_at(before, begin == 0 ? 0 : all[begin - 1].time() + 1e-6);
        EXPECT_EQ(reader.device(), "");
        const std::vector<Frame> rest = read_all(reader);
        ASSERT_EQ(rest.size(), all.size() - begin);
        for (std::size_t i = 0; i < rest.size(); ++i) {
          EXPECT_EQ(rest[i].number(), all[begin + i].number());
          EXPECT_EQ(edge_of(rest[i]), edge_of(all[begin + i]));
        }
      }
    }
  }
}

TEST_F(MediaReader, StartWithoutSeeking) {
  ReadOptions options;
  options.start = 1;
  EXPECT_EQ(read_all("lavfi:testsrc=size=64x48:rate=10:duration=3", options).size(), 20u);
}

TEST_F(MediaReader, StartAfterTheEndIsAnError) {
  ReadOptions options;
  options.start = 100;
  expect_error(ExitCode::input, "100 s", [&] { Reader(clip(), options); });
}

TEST_F(MediaReader, EveryThird) {
  ReadOptions options;
  options.every = 3;
  Reader reader(clip(), options);
  EXPECT_EQ(reader.info().frames, 17);
  EXPECT_EQ(reader.info().frame_rate, (Rational{25, 3}));
  const auto frames = read_all(reader);
  ASSERT_EQ(frames.size(), 17u);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].number(), static_cast<std::int64_t>(3 * i) + 1);
    EXPECT_NEAR(frames[i].time(), static_cast<double>(3 * i) / 25, 1e-4);
  }
}

TEST_F(MediaReader, LoopsGoOnInTime) {
  ReadOptions options;
  options.loop = 2;
  options.start = 1;
  Reader reader(clip(), options);
  EXPECT_EQ(reader.info().frames, 75);
  const auto frames = read_all(reader);
  ASSERT_EQ(frames.size(), 75u);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].number(), static_cast<std::int64_t>(i) + 1);
    EXPECT_NEAR(frames[i].time(), 1 + static_cast<double>(i) / 25, 1e-4);
  }
  EXPECT_EQ(mean_difference(frames[0], frames[50]), 0);
}

TEST_F(MediaReader, EndlessLoopHasNoCount) {
  ReadOptions options;
  options.loop = -1;
  Reader reader(clip(), options);
  EXPECT_FALSE(reader.info().frames);
  for (int i = 0; i < 120; ++i) ASSERT_TRUE(reader.read());
}

TEST_F(MediaReader, StopEndsAnEndlessStream) {
  std::atomic<bool> stop{false};
  ReadOptions options;
  options.stop = &stop;
  Reader reader("lavfi:testsrc=size=64x48", options);
  EXPECT_TRUE(reader.read());
  EXPECT_TRUE(reader.read());
  stop = true;
  EXPECT_FALSE(reader.read());
}

TEST_F(MediaReader, RefusesSenselessOptions) {
  const auto refuse = [&](auto change) {
    ReadOptions options;
    change(options);
    expect_error(ExitCode::usage, [&] { Reader(clip(), options); });
  };
  refuse([](ReadOptions& o) { o.start = -1; });
  refuse([](ReadOptions& o) { o.start = std::nan(""); });
  refuse([](ReadOptions& o) { o.duration = 0; });
  refuse([](ReadOptions& o) { o.every = 0; });
  refuse([](ReadOptions& o) { o.loop = -2; });
}

TEST_F(MediaReader, SizeChangesMidStream) {
  TempDir dir;
  make_clip(dir / "a.h264", "testsrc=size=128x96:rate=25:duration=0.4,format=yuv420p");
  make_clip(dir / "b.h264", "testsrc=size=192x64:rate=25:duration=0.4,format=yuv420p");
  std::vector<char> both = load(dir / "a.h264");
  const std::vector<char> second = load(dir / "b.h264");
  both.insert(both.end(), second.begin(), second.end());
  store(dir / "both.h264", both);
  Reader reader(dir / "both.h264");
  const auto frames = read_all(reader);
  ASSERT_EQ(frames.size(), 20u);
  EXPECT_EQ(frames.front().size(), (Size{128, 96}));
  EXPECT_EQ(frames.back().size(), (Size{192, 64}));
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_GT(frames[i].time(), frames[i - 1].time());

  // Written, they have one size: the first.
  Writer writer(dir / "both.mp4", reader.info());
  for (const Frame& frame : frames) writer.write(frame);
  writer.finish();
  const auto written = read_all(dir / "both.mp4");
  ASSERT_EQ(written.size(), 20u);
  EXPECT_EQ(written.back().size(), (Size{128, 96}));
  // 192x64 in 128x96 is 128x43 in the middle: bars above and below.
  EXPECT_NEAR(written.back().gray().at(64, 4), 16, 4);
  EXPECT_NEAR(written.back().gray().at(64, 92), 16, 4);
  EXPECT_GT(mean(written.back().gray()), 40);
}

TEST_F(MediaReader, VariableFrameRateIsKept) {
  // Frame n at n * n / 25 s.
  TempDir dir;
  make_clip(dir / "vfr.mkv", "testsrc=size=64x48:rate=25:duration=0.4,format=yuv420p");
  Reader reader(dir / "vfr.mkv");
  const auto source = read_all(reader);
  FrameBuilder builder;
  for (const char* name : {"out.mp4", "out.mkv"}) {
    Writer writer(dir / name, reader.info());
    for (std::size_t i = 0; i < source.size(); ++i) {
      writer.write(builder.build(media::picture_of(source[i]), 1, 3 + static_cast<double>(i * i) / 25));
    }
    writer.finish();
    const auto frames = read_all(dir / name);
    ASSERT_EQ(frames.size(), source.size());
    for (std::size_t i = 0; i < frames.size(); ++i)
      EXPECT_NEAR(frames[i].time(), static_cast<double>(i * i) / 25, 2e-3) << name;
  }
}

}  // namespace
}  // namespace sightline::media
